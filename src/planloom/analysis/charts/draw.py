"""Draws a small result table as a checked picture."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Literal

from planloom.analysis.results import ChartSpec
from planloom.notes import Lang
from planloom.values import ImageRef, TableRef

_ENDINGS = (".png", ".svg")


def draw(
    table: TableRef,
    spec: ChartSpec,
    *,
    lang: Lang,
    out: Path,
    formats: tuple[Literal["png", "svg"], ...] = ("png",),
) -> ImageRef:
    """Draw `table` as `spec` says, into `out` with the ending ".png", and return that picture.

    The PNG is 1440 pixels wide, made to be shown 720 wide; most charts are 810 high, bars with
    names beside them as high as they need. With "svg" in `formats` the same picture is written
    beside it, its letters as outlines. Missing folders are made; each file appears when it is
    whole, and is the same byte for byte when it is drawn again.

    Raises:
        ToolError: a column is unknown or not numeric, there is nothing or too much to draw, a font
            is missing, or the finished picture did not pass its check.
    """
    # matplotlib takes a second to load: only a caller that really draws shall wait for it.
    from planloom.analysis.charts.picture import render

    picture = render(table, spec, lang=lang, formats=tuple(dict.fromkeys(("png", *formats))))
    stem = out.name[:-4] if out.name.lower().endswith(_ENDINGS) else out.name
    folder = out.parent.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for ending, content in picture.files.items():
        _write(folder / f"{stem}.{ending}", content)
    png = picture.files["png"]
    return ImageRef(
        path=str(folder / f"{stem}.png"),
        media_type="image/png",
        size=len(png),
        sha256=hashlib.sha256(png).hexdigest(),
        width=picture.width,
        height=picture.height,
        alt=picture.alt,
    )


def _write(path: Path, content: bytes) -> None:
    part = path.with_name(path.name + ".part")
    try:
        part.write_bytes(content)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
