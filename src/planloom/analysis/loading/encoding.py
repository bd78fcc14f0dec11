"""Finds the encoding of a text: by its mark, else UTF-8, else the legacy one that reads best."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from planloom.analysis.loading.byte_scan import ByteScan, read_chunks
from planloom.analysis.loading.narrow_readings import NARROW, narrow_plausibility
from planloom.analysis.loading.wide_readings import WIDE, wide_plausibility
from planloom.notes import Note


@dataclass(frozen=True, kw_only=True)
class Encoding:
    """How the bytes of a file become text."""

    name: str
    """Python's name, in lower case."""
    errors: str = "strict"
    """"replace" when some bytes fit no character."""
    notes: tuple[Note, ...] = ()


_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
# Bytes that are no UTF-8, at most one in this many other characters: damage, not another encoding.
_GOOD_PER_BAD = 20


def detect_encoding(path: Path, scan: ByteScan) -> Encoding:
    """Return the encoding of a text file whose bytes were counted in `scan`."""
    for mark, name in _MARKS:
        if scan.head.startswith(mark):
            return _by_mark(name, scan)
    if wide := wide_without_mark(scan.head):
        return Encoding(name=wide, errors="replace", notes=(_said(wide, "no mark"),))
    if scan.is_ascii and _ISO_2022_JP.search(scan.head):
        return Encoding(name="iso2022_jp", errors="replace", notes=(_said("iso2022_jp", "escape"),))
    if scan.is_utf8:
        return Encoding(name="utf-8", notes=() if scan.is_ascii else (_said("utf-8", "valid"),))
    bad, good = _count_utf8_damage(path)
    if good >= bad * _GOOD_PER_BAD:
        return Encoding(name="utf-8", errors="replace", notes=(_damaged("UTF-8", bad),))
    return _legacy(bytes(scan.foreign))


def _by_mark(name: str, scan: ByteScan) -> Encoding:
    broken = name == "utf-8-sig" and not scan.is_utf8
    note = _said(name, "mark")
    if broken:
        lost = Note(
            "Bytes that are no valid UTF-8 were replaced by the sign U+FFFD.",
            "不是有效 UTF-8 的字节已用替换符 U+FFFD 代替。",
        )
        return Encoding(name=name, errors="replace", notes=(note, lost))
    return Encoding(name=name, errors="strict" if name == "utf-8-sig" else "replace", notes=(note,))


_REASONS: Mapping[str, tuple[str, str]] = {
    "mark": ("its byte order mark says so", "文件开头的字节顺序标记（BOM）如此标明"),
    "no mark": (
        "two bytes make one character, though there is no byte order mark",
        "虽无字节顺序标记（BOM），但每两个字节构成一个字符",
    ),
    "escape": ("it holds the escape sequences of that encoding", "文中有该编码的转义序列"),
    "valid": ("all bytes are valid", "全部字节均有效"),
    "legacy": (
        "the bytes are no UTF-8, and this reading gives the most plausible text",
        "字节不是 UTF-8，按此编码读出的文字最合理",
    ),
}


def _said(name: str, reason: str) -> Note:
    english, chinese = _REASONS[reason]
    return Note(
        f"The text was read as {{encoding}}: {english}.",
        f"文本按 {{encoding}} 编码读取：{chinese}。",
        {"encoding": name},
    )


def _damaged(name: str, bad: int) -> Note:
    return Note(
        "The text is {encoding} but for {n|damaged place|damaged places}, "
        "shown as the sign U+FFFD.",
        "文本为 {encoding} 编码，但有 {n} 处字节损坏，已显示为替换符 U+FFFD。",
        {"encoding": name, "n": bad},
    )


def wide_without_mark(head: bytes) -> str:
    """Return "utf-16-le" or "utf-16-be" when the bytes read so make a text, else "".

    >>> wide_without_mark("город,n\\nМосква,1\\n".encode("utf-16-le"))
    'utf-16-le'
    """
    if 0 not in head:
        return ""
    best, most = "", 0.0
    for name in ("utf-16-le", "utf-16-be"):
        share = _ascii_share(head[: len(head) // 2 * 2].decode(name, "replace"))
        if share > most:
            best, most = name, share
    return best


def _ascii_share(text: str) -> float:
    """Return the share of ASCII characters, of which tables have many; 0 when it is no text."""
    odd = sum(unicodedata.category(char) in ("Cc", "Cn", "Co") for char in text)
    ends = sum(map(text.count, "\t\r\n"))
    # The sample may end in the middle of a character.
    odd -= ends + text.endswith("\ufffd")
    if odd > len(text) * 0.01 or text.count("\ufffd") > 1 + len(text) * 0.01 or not ends:
        return 0.0
    return sum(char.isascii() for char in text) / len(text)


def _count_utf8_damage(path: Path) -> tuple[int, int]:
    """Return how many places are no UTF-8, and how many characters outside of ASCII are."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    bad = good = 0
    for chunk in read_chunks(path):
        text = decoder.decode(chunk)
        if not text.isascii():
            lost = text.count("\ufffd")
            bad += lost
            good += len(text) - len(text.encode("ascii", "ignore")) - lost
    return bad + len(decoder.decode(b"", final=True)), good


# Legacy encodings. Each reading of the bytes gets a plausibility in [0, 1]: the share of its
# characters outside of ASCII that a text of that script would really use.

_ISO_2022_JP = re.compile(rb"\x1b\$[@B].{2,}?\x1b\([BJ]", re.DOTALL)
# A reading may use the larger set of Windows, but is called by the name that people know.
_CODECS = {"big5": "cp950", "shift_jis": "cp932", "euc_kr": "cp949"}
# Names that people know for what is left when no byte lies between 0x80 and 0x9f.
_WITHOUT_C1 = {"cp1252": "latin-1", "cp1254": "iso-8859-9"}
_PLAUSIBLE = 0.55
_NEARLY = 0.05
"""Readings whose plausibility differs by less are both possible."""


def _legacy(foreign: bytes) -> Encoding:
    readings = {name: _decode_mostly(foreign, _CODECS.get(name, name)) for name in _CANDIDATES}
    scores = {wide.name: wide_plausibility(readings[wide.name], wide) for wide in WIDE} | {
        name: narrow_plausibility(readings[name], name, script) for name, script in NARROW
    }
    name = max(scores, key=lambda each: scores[each])
    is_doubtful = scores[name] < _PLAUSIBLE
    rivals = sorted(
        (each for each in scores
         if scores[each] > scores[name] - _NEARLY and readings[each] != readings[name]),
        key=lambda each: -scores[each],
    )  # fmt: skip
    if is_doubtful:
        name = _second_opinion(foreign, name)
    if not re.search(rb"[\x80-\x9f]", foreign):
        name = _WITHOUT_C1.get(name, name)
    broken = foreign.decode(_CODECS.get(name, name), "replace").count("\ufffd")
    notes = [_said(name, "legacy")]
    if is_doubtful or rivals:
        notes.append(_doubt(rivals))
    if broken:
        notes.append(_damaged(name, broken))
    return Encoding(name=name, errors="replace", notes=tuple(notes))


def _doubt(rivals: list[str]) -> Note:
    if not rivals:
        return Note(
            "That encoding is a guess: some letters may be wrong.",
            "该编码只是推测，个别字符可能有误。",
        )
    return Note(
        "The encoding could also be {encodings}: some letters may be wrong.",
        "编码也可能是 {encodings}，个别字符可能有误。",
        {"encodings": ", ".join(rivals[:3])},
    )


_CANDIDATES = (*(wide.name for wide in WIDE), *(name for name, _ in NARROW))


def codec_of(encoding: Encoding) -> str:
    """Return the codec that reads the encoding, which may know more characters than its name."""
    return _CODECS.get(encoding.name, encoding.name)


def _second_opinion(foreign: bytes, best: str) -> str:
    import charset_normalizer

    match = charset_normalizer.from_bytes(foreign).best()
    return match.encoding.replace("_", "-") if match else best


def _decode_mostly(foreign: bytes, codec: str) -> str | None:
    """Return the text, or None when more than one byte in a hundred fits no character."""
    try:
        return foreign.decode(codec)
    except UnicodeDecodeError:
        text = foreign.decode(codec, "replace")
        outside = len(text) - len(text.encode("ascii", "ignore"))
        return text if text.count("\ufffd") * 50 <= outside else None
