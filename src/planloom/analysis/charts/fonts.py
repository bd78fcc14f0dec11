"""Finds a font that can draw Chinese, among those of the system or of a Python package."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

INSTALL_LINE = "pip install pylopdf-fonts-zh-cn"
"""Gives a font for Chinese where the system has none."""

# File names instead of family names: looking for a file takes milliseconds, while asking every
# font for its family takes seconds. Variable fonts are left out, since they would be drawn in
# their thinnest weight. Best first.
_SYSTEM_FONTS = (
    ("PingFang SC", "PingFang.ttc"),
    ("Hiragino Sans GB", "Hiragino Sans GB.ttc"),
    ("Microsoft YaHei", "msyh.ttc"),
    ("Microsoft YaHei", "msyh.ttf"),
    ("Noto Sans SC", "NotoSansSC-Regular.otf"),
    ("Noto Sans SC", "NotoSansSC-Regular.ttf"),
    ("Noto Sans CJK SC", "NotoSansCJKsc-Regular.otf"),
    ("Noto Sans CJK SC", "NotoSansCJK-Regular.ttc"),
    ("Source Han Sans SC", "SourceHanSansSC-Regular.otf"),
    ("Source Han Sans CN", "SourceHanSansCN-Regular.otf"),
    ("Source Han Sans", "SourceHanSans-Regular.ttc"),
    ("Source Han Sans", "SourceHanSans.ttc"),
    ("WenQuanYi Micro Hei", "wqy-microhei.ttc"),
    ("Heiti SC", "STHeiti Light.ttc"),
    ("DengXian", "Deng.ttf"),
    ("SimHei", "simhei.ttf"),
    ("WenQuanYi Zen Hei", "wqy-zenhei.ttc"),
    ("Arial Unicode MS", "Arial Unicode.ttf"),
    ("Droid Sans Fallback", "DroidSansFallbackFull.ttf"),
)
_PACKAGED_FONTS = (
    ("Noto Sans SC", "pylopdf_fonts_zh_cn", "NotoSansSC-Regular.otf"),
    ("Noto Sans CJK SC", "mplfonts", "fonts/NotoSansCJKsc-Regular.otf"),
)
_FONT_SIGNATURES = (b"OTTO", b"\x00\x01\x00\x00", b"ttcf", b"true")


@dataclass(frozen=True, slots=True)
class FontChoice:
    """A font that can draw Chinese."""

    family: str
    """The name that people know it by, such as "Noto Sans SC"."""
    path: str
    """Absolute path of the font file."""
    origin: str
    """"system", or the name of the Python package that brings it."""


def cjk_font() -> FontChoice | None:
    """Return the font that draws Chinese here, or None when there is none.

    Quick (it looks for files and reads four bytes), so that `planloom doctor` may ask too.
    """
    return next(cjk_fonts(), None)


def cjk_fonts(folders: Sequence[Path] | None = None) -> Iterator[FontChoice]:
    """Yield the fonts for Chinese that are here: the system's first, then those of packages.

    `folders` are searched in place of the system's font folders.
    """
    found = _files_by_name(tuple(system_font_folders() if folders is None else folders))
    for family, name in _SYSTEM_FONTS:
        path = found.get(name.lower())
        if path is not None and _is_font(path):
            yield FontChoice(family, str(path), "system")
    for family, package, name in _PACKAGED_FONTS:
        for path in _package_files(package, name):
            if _is_font(path):
                yield FontChoice(family, str(path), package)


def system_font_files() -> list[str]:
    """Return the paths of the system's font files, in the order of their names."""
    found = _files_by_name(tuple(system_font_folders()))
    return [str(path) for _, path in sorted(found.items())]


def system_font_folders() -> list[Path]:
    """Return the folders where this system keeps fonts; they need not exist."""
    home = Path.home()
    if sys.platform == "darwin":
        return [
            Path("/System/Library/Fonts"), Path("/Library/Fonts"), home / "Library" / "Fonts",
        ]  # fmt: skip
    if sys.platform == "win32":
        windows = Path(os.environ.get("WINDIR", r"C:\Windows"))
        own = Path(os.environ.get("LOCALAPPDATA", str(home / "AppData" / "Local")))
        return [windows / "Fonts", own / "Microsoft" / "Windows" / "Fonts"]
    data = Path(os.environ.get("XDG_DATA_HOME", str(home / ".local" / "share")))
    return [
        Path("/usr/share/fonts"), Path("/usr/local/share/fonts"), data / "fonts", home / ".fonts",
    ]  # fmt: skip


@lru_cache(maxsize=8)
def _files_by_name(folders: tuple[Path, ...]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for folder in folders:
        # os.walk passes over folders that may not be read.
        for parent, _, names in os.walk(folder):
            for name in names:
                if name.lower().endswith((".ttf", ".otf", ".ttc")):
                    found.setdefault(name.lower(), Path(parent) / name)
    return found


def _package_files(package: str, name: str) -> list[Path]:
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return []
    folders = (spec.submodule_search_locations if spec else None) or []
    return [Path(folder) / name for folder in folders]


def _is_font(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(4) in _FONT_SIGNATURES
    except OSError:
        return False
