"""Reads JSON as models write it: strictly where possible, else with repairs that guess nothing.

A repair is made only where the text has one plain meaning: marks are added, removed or respelled,
but no content is dropped, completed or invented. What could mean two things, above all a text or a
number cut off in the middle, is refused, so that the model writes it again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from planloom.models.json_text import (
    MAX_DEPTH,
    TOO_DEEP,
    JsonData,
    RefusedValueError,
    UnreadableJsonError,
    decode_strictly,
    finite,
    quoted,
    unique_keys,
)

Repair = Literal[
    "byte order mark",
    "code fence",
    "escaped as a whole",
    "doubled braces",
    "comment",
    "single quotes",
    "curly quotes",
    "full-width punctuation",
    "unquoted key",
    "Python literal",
    "control character in a text",
    "invalid escape",
    "line break spelled out",
    "missing comma",
    "trailing comma",
    "missing bracket",
    "extra bracket",
]

MAX_REPAIRED_CHARS = 1_000_000
"""Longer texts are read strictly or not at all: repairing takes about a second for this many."""

_SPACE = re.compile(r"[ \t\n\r]*")
_BLANK = re.compile(r"[\s\u200b\u2060\ufeff]+")
_COMMENT = re.compile(r"//[^\n]*|#[^\n]*|/\*.*?\*/", re.DOTALL)
_SPELLED_BREAK = re.compile(r"(?:\\[nrt])+")
_FENCED = re.compile(r"\s*(?P<marks>```+|~~~+)[^\n`{\[]*(?:\n|(?=[{\[]))(?P<inner>.*)", re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_WORD = re.compile(r"[^\s,:\[\]{}\"'“”，：]+")
_KEY = re.compile(r"[A-Za-z_$][\w$-]*(?=\s*[:：])", re.ASCII)
_LITERALS = {"true": True, "false": False, "null": None}
_PYTHON_LITERALS = {"True": True, "False": False, "None": None}
_CLOSING_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "＂": "＂"}
_ESCAPES = {
    '"': '"', "'": "'", "\\": "\\", "/": "/",
    "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t",
}  # fmt: skip
_JSON_ESCAPE = re.compile(r'["\\/bfnrt]|u[0-9a-fA-F]{4}')
_PYTHON_ESCAPE = re.compile(r"x([0-9a-fA-F]{2})|'")
_SURROGATE_PAIR = re.compile(r"u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_ENDS_VALUE = re.compile(r"\s*(?:[,}\]，]|\Z)")
_ENDS_KEY = re.compile(r"\s*[:：]")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class ReadJson:
    """A value read from a text."""

    value: JsonData
    repairs: tuple[Repair, ...] = ()
    """What had to be mended, each kind once; empty for valid JSON."""
    end: int = 0
    """Where the value ends in the text it was read from."""


def parse_json(text: str) -> ReadJson:
    r"""Return the value that a whole text spells.

    >>> parse_json("{'city': 'Xi\\'an', 'days': 3,}").value
    {'city': "Xi'an", 'days': 3}

    Raises:
        UnreadableJsonError: it is not JSON and has no single plain meaning, it is cut off, nested
            deeper than `MAX_DEPTH`, names a key twice, or holds NaN or half a character.
    """
    found = _read_strictly(text, 0)
    if found and not text[found.end :].strip():
        return found
    return _repaired(text)


def read_json(text: str, start: int = 0) -> ReadJson:
    """Return the value that begins at `start`; what follows it is not looked at.

    Raises:
        UnreadableJsonError: as for `parse_json`.
    """
    found = _read_strictly(text, start)
    if found:
        return found
    reader = _Reader(text, start)
    value = reader.value()
    return ReadJson(value, reader.repairs, reader.at)


def _read_strictly(text: str, start: int) -> ReadJson | None:
    """Return the value, or None when it is not JSON and short enough to be repaired."""
    first = _SPACE.match(text, start)
    try:
        value, end = decode_strictly(text, first.end() if first else start)
    except json.JSONDecodeError as error:
        if len(text) - start <= MAX_REPAIRED_CHARS:
            return None
        raise UnreadableJsonError(f"It is not JSON: {error.msg}", text, error.pos) from error
    except RefusedValueError as error:
        raise UnreadableJsonError(str(error), text, start) from error
    return ReadJson(value, end=end)


def _repaired(text: str) -> ReadJson:
    if whole := _unescaped(text):
        return whole
    start, end, repairs = _core(text)
    reader = _Reader(text, start, end, repairs)
    value = reader.value()
    reader.finish()
    return ReadJson(value, reader.repairs, len(text))


def _core(text: str) -> tuple[int, int, list[Repair]]:
    """Return where the JSON lies between a byte order mark, fences and blanks."""
    repairs: list[Repair] = []
    start, end = 0, len(text)
    if text.startswith("\ufeff"):
        repairs.append("byte order mark")
        start = 1
    fence = _FENCED.match(text, start)
    if fence:
        repairs.append("code fence")
        start = fence.start("inner")
        inner = text[start:].rstrip()
        end = start + len(inner.removesuffix(fence["marks"]))
    return start, end, repairs


def _unescaped(text: str) -> ReadJson | None:
    r"""Read a text that was escaped once too often: {\"a\": 1}."""
    if not re.match(r"\s*[{\[]\s*\\\"", text):
        return None
    try:
        inner = json.loads(f'"{text.strip()}"', strict=False)
        return ReadJson(parse_json(inner).value, ("escaped as a whole",), len(text))
    except (ValueError, RecursionError):
        return None


class _Reader:
    """Reads one value from a text, noting what it had to mend."""

    def __init__(
        self, text: str, start: int, end: int | None = None, repairs: Iterable[Repair] = ()
    ):
        self._text = text if end is None else text[:end]
        self.at = start
        self._repairs = dict.fromkeys(repairs)
        self._depth = 0
        self._outer_doubled: bool | None = None
        self._inner_doubled: bool | None = None
        """Whether braces are doubled, as templates escape them; None before the first one."""

    @property
    def repairs(self) -> tuple[Repair, ...]:
        return tuple(self._repairs)

    def value(self) -> JsonData:
        self._skip_blanks()
        mark = self._peek()
        if mark == "{":
            return self._object()
        if mark == "[":
            return self._array()
        if mark in _CLOSING_QUOTES:
            return self._string(_ENDS_VALUE)
        return self._scalar()

    def finish(self) -> None:
        """Refuse what follows the value, apart from closing brackets that close nothing."""
        self._skip_blanks()
        while self._peek() in ("}", "]"):
            self._note("extra bracket")
            self.at += 1
            self._skip_blanks()
        broken = {"extra bracket", "missing bracket"} <= self._repairs.keys()
        if self._peek() or broken:
            raise self._refusal("The JSON value has ended, but more follows")

    def _object(self) -> dict[str, JsonData]:
        is_doubled = self._take_doubled_brace()
        self._open()
        pairs: list[tuple[str, JsonData]] = []
        while not self._closed("}", "]", after_item=bool(pairs)):
            key = self._key()
            self._skip_blanks()
            if self._peek() not in (":", "："):
                raise self._refusal(f"After the key {quoted(key)} a colon is missing")
            self._take_mark(":")
            pairs.append((key, self.value()))
        if is_doubled and self._peek() == "}":
            self.at += 1
        try:
            return unique_keys(pairs)
        except RefusedValueError as error:
            raise self._refusal(str(error)) from error

    def _array(self) -> list[JsonData]:
        self._open()
        items: list[JsonData] = []
        while not self._closed("]", "}", after_item=bool(items)):
            items.append(self.value())
        return items

    def _take_doubled_brace(self) -> bool:
        """Pass the first of two braces; those inside of such an object are all doubled, or none."""
        is_doubled = self._text.startswith("{{", self.at)
        if self._outer_doubled is None:
            self._outer_doubled = is_doubled
        elif self._outer_doubled and self._inner_doubled in (None, is_doubled):
            self._inner_doubled = is_doubled
        elif is_doubled or self._outer_doubled:
            raise self._refusal("Some braces are doubled and others are not; write each one once")
        if is_doubled:
            self._note("doubled braces")
            self.at += 1
        return is_doubled

    def _open(self) -> None:
        self.at += 1
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._refusal(TOO_DEEP)

    def _closed(self, own: str, other: str, *, after_item: bool) -> bool:
        """Move to the next item, past the comma before it; True when there is none."""
        before = self.at
        self._skip_blanks()
        had_comma = after_item and self._peek() in (",", "，")
        if had_comma:
            self._take_mark(",")
            self._skip_blanks()
        mark = self._peek()
        if not mark and had_comma:
            raise self._refusal("It is cut off after a comma")
        if mark in (own, other, ""):
            self._close(own, mark, had_comma=had_comma)
            return True
        if after_item and not had_comma:
            self._put_comma(before)
        return False

    def _close(self, own: str, mark: str, *, had_comma: bool) -> None:
        if had_comma:
            self._note("trailing comma")
        if mark == own:
            self.at += 1
        elif mark and self._depth == 1:
            raise self._refusal(f"'{mark}' stands where '{own}' belongs")
        else:
            self._note("missing bracket")
        self._depth -= 1

    def _put_comma(self, before: int) -> None:
        """Note a comma that is missing between two items; refuse where it might mean less."""
        gap, last, mark = self.at - before, self._text[before - 1], self._peek()
        if mark not in "\"'“‘＂{[-" and not mark.isalnum() and mark not in "_$":
            raise self._refusal(f"{quoted(mark)} stands where a comma or a closing bracket belongs")
        if not gap and last not in "}]" and mark not in "{[":
            # Most often quotation marks inside a text that are not escaped.
            raise self._refusal(
                'A text ends here, but goes on. Escape quotation marks inside it as \\"'
            )
        if last.isdigit() and re.match(r"\d{3}\b", self._text[self.at : self.at + 4]):
            raise self._refusal(
                "Two numbers, or one with its digits in groups? Write a comma, or no space"
            )
        self._note("missing comma")

    def _key(self) -> str:
        if self._peek() in _CLOSING_QUOTES:
            return self._string(_ENDS_KEY)
        bare = _KEY.match(self._text, self.at)
        if bare is None:
            raise self._refusal("A key in double quotes is missing")
        self._note("unquoted key")
        self.at = bare.end()
        return bare[0]

    def _string(self, ends: re.Pattern[str]) -> str:
        opening = self._peek()
        closing = _CLOSING_QUOTES[opening]
        if opening != '"':
            self._note("single quotes" if opening == "'" else "curly quotes")
        start = self.at
        self.at += 1
        parts: list[str] = []
        stop = re.compile(rf"[{closing}\\\x00-\x1f]")
        while found := stop.search(self._text, self.at):
            parts.append(self._text[self.at : found.start()])
            self.at = found.end()
            if found[0] == "\\":
                parts.append(self._escape(opening))
            elif found[0] != closing:
                self._note("control character in a text")
                parts.append(found[0])
            elif opening == '"' or ends.match(self._text, self.at):
                return self._whole_characters("".join(parts), start)
            else:  # an apostrophe, or quotation inside a quotation
                parts.append(found[0])
        self.at = start
        raise self._refusal("A text is not closed; the JSON seems to be cut off")

    def _escape(self, opening: str) -> str:
        pair = _SURROGATE_PAIR.match(self._text, self.at)
        if pair:
            self.at = pair.end()
            return chr(0x10000 + ((int(pair[1], 16) - 0xD800) << 10) + int(pair[2], 16) - 0xDC00)
        known = _JSON_ESCAPE.match(self._text, self.at)
        if known:
            self.at = known.end()
            return _ESCAPES.get(known[0]) or chr(int(known[0][1:], 16))
        if opening == "'" and (code := _PYTHON_ESCAPE.match(self._text, self.at)):
            self.at = code.end()
            return chr(int(code[1], 16)) if code[1] else "'"
        self._note("invalid escape")
        if self._peek() == "'":
            self.at += 1
            return "'"
        return "\\"

    def _whole_characters(self, text: str, start: int) -> str:
        if _SURROGATE.search(text):
            self.at = start
            raise self._refusal("A text holds half a character (a lone surrogate)")
        return text

    def _scalar(self) -> JsonData:
        word = _WORD.match(self._text, self.at)
        if word is None:
            mark = self._peek()
            raise self._refusal(
                f"{quoted(mark)} is no value" if mark else "A value is missing at the end"
            )
        spelled = re.split(r"//|/\*|#|\\[nrt]", word[0])[0]
        value = self._scalar_of(spelled)
        self.at += len(spelled)
        return value

    def _scalar_of(self, word: str) -> JsonData:
        if word in _LITERALS:
            return _LITERALS[word]
        if word in _PYTHON_LITERALS:
            self._note("Python literal")
            return _PYTHON_LITERALS[word]
        try:
            if _NUMBER.fullmatch(word):
                return int(word) if word.lstrip("-").isdigit() else finite(word)
        except ValueError as error:
            raise self._refusal(str(error)) from error
        if word.lstrip("+-") in ("NaN", "nan", "Infinity", "inf"):
            raise self._refusal(f"JSON has no {word}. Write a number, or null where there is none")
        kind = "no JSON number" if word[:1].isdigit() or word[:1] in "+-." else "no JSON value"
        raise self._refusal(f"{quoted(word[:40])} is {kind}. Write texts in double quotes")

    def _take_mark(self, plain: str) -> None:
        if self._peek() != plain:
            self._note("full-width punctuation")
        self.at += 1

    def _skip_blanks(self) -> None:
        while True:
            if blank := _BLANK.match(self._text, self.at):
                self.at = blank.end()
            elif comment := _COMMENT.match(self._text, self.at):
                self._note("comment")
                self.at = comment.end()
            elif spelled := _SPELLED_BREAK.match(self._text, self.at):
                self._note("line break spelled out")
                self.at = spelled.end()
            else:
                return

    def _peek(self) -> str:
        return self._text[self.at : self.at + 1]

    def _note(self, repair: Repair) -> None:
        self._repairs[repair] = None

    def _refusal(self, what: str) -> UnreadableJsonError:
        return UnreadableJsonError(what, self._text, self.at)
