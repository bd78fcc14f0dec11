"""Keeps personal data from a model: stand-ins such as ‹name 1› in what it reads, undone after."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import RLock
from typing import Protocol, TypeVar, cast

from planloom.errors import InputError
from planloom.notes import Note
from planloom.planning.mask import Kind
from planloom.planning.personal_cells import Cells, holds_codes, personal_in, personal_kinds
from planloom.values import TableRef

J = TypeVar("J")

_STAND_IN = re.compile(
    r"[‹<〈《«]\s?(name|mail|phone|id|card|address|birthday)\s?(\d{1,9})\s?[›>〉》»]"
)
_SEARCHED: frozenset[Kind] = frozenset({"name", "mail", "phone", "id", "card", "address"})
"""Kinds whose values are recognised outside of their column; a birthday is any date."""
_MAX_WORDS = 4
_CJK = re.compile(r"[一-鿿]{2,}")
_WORD = re.compile(r"[^\W\d_一-鿿][^\W_一-鿿'’-]*(?:['’-][^\W_一-鿿]+)*")
_IN_TEXTS = ""
"""Stands among the columns that were told for texts, which have no column."""
_LEAST_NUMBER = 10**6
"""Smaller numbers are hardly those of a person."""


class PersonalFinder(Protocol):
    """What reads tables for the mask, once each."""

    def samples(self, table: TableRef) -> Sequence[Cells]:
        """Return each column with some of its values."""
        ...

    def values(self, table: TableRef, columns: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """Return the different values of columns, bounded in number."""
        ...


class PersonalDataMask:
    """What one run shows its models of personal data; safe to use from several threads.

    The same value gets the same stand-in throughout the run, so that rows can be told apart and
    joined; `restored` turns stand-ins in a model's answer or arguments back into values. What the
    user said in the goal is known to the model already and stays as it is.
    """

    def __init__(
        self,
        *,
        sends: bool = False,
        said: str = "",
        on_notice: Callable[[Note], None] | None = None,
        finder: PersonalFinder | None = None,
    ):
        """Make the mask of a run.

        Args:
            sends: Let all values through; the columns are told all the same.
            said: The goal or question of the user.
            on_notice: Is told once of each column with personal data, and once of texts. With
                neither it nor masking, nothing is looked at.
            finder: Reads tables; by default with DuckDB.
        """
        self._sends = sends
        self._said = said.casefold()
        self._on_notice = on_notice
        self._finder = finder
        self._lock = RLock()
        self._kinds: dict[str, Mapping[str, Kind]] = {}
        """Columns with personal data of the tables that were seen, by the table's hash."""
        self._known: dict[str, Kind] = {}
        """Values of such columns."""
        self._stand_ins: dict[str, str] = {}
        self._values: dict[str, str] = {}
        """What stand-ins stand for."""
        self._counts: dict[Kind, int] = {}
        self._told: set[str] = set()

    @property
    def sends(self) -> bool:
        """Whether values are let through."""
        return self._sends

    def table(self, table: TableRef, personal: Iterable[str] = ()) -> Mapping[str, Kind]:
        """Return the columns of a table whose cells are masked; reads a new table.

        From then on its values are recognised in other results, too. `personal` are columns that
        are known to hold personal data by other means, such as a profile.
        """
        if self._sends and self._on_notice is None:
            return {}
        with self._lock:
            if table.sha256 not in self._kinds:
                self._kinds[table.sha256] = self._learn(table, personal)
            return {} if self._sends else self._kinds[table.sha256]

    def cell(self, text: str, kind: Kind | None, column: str = "") -> str:
        """Return a cell, or its stand-in where its column holds personal data."""
        if self._sends or not text.strip():
            return text
        if kind:
            return self._stand_in(text, kind)
        if text.isdigit() and holds_codes(column):
            return text
        known = self._known.get(text)
        return self._stand_in(text, known) if known else self.text(text)

    def text(self, text: str) -> str:
        """Return a text with stand-ins for mail addresses, phone, identity and card numbers, and
        for names that stand in columns which were seen.
        """
        if self._sends:
            return text
        masked, end = "", 0
        for start, stop, kind in personal_in(text):
            masked += text[end:start] + self._stand_in(text[start:stop], kind)
            end = stop
        if masked != text[:end]:
            self._tell_texts()
        return self._without_names(masked + text[end:])

    def value(self, value: J) -> J:
        """Return a JSON value with stand-ins; fields are judged by name, as columns are."""
        return value if self._sends else cast("J", self._masked(value))

    def restored(self, text: str, written: Callable[[str], str] = str) -> str:
        """Return a model's text with the values in place of their stand-ins.

        `written` spells a value for where it will stand, such as with its dollars escaped.
        """

        def value(found: re.Match[str]) -> str:
            known = self._values.get(f"‹{found[1]} {int(found[2])}›")
            return found[0] if known is None else written(known)

        return _STAND_IN.sub(value, text)

    def restored_value(self, value: J, written: Callable[[str], str] = str) -> J:
        """Return a JSON value, such as the arguments of a call, with values for stand-ins."""
        if not self._values:
            return value
        return cast("J", _each_text(value, lambda text: self.restored(text, written)))

    def arguments(self, value: J) -> J:
        """Return a JSON value of a plan with stand-ins in its texts, whatever their names."""
        return value if self._sends else cast("J", _each_text(value, self._argument))

    def expect(self, columns: Iterable[str]) -> None:
        """Tell of columns that were found by other means, such as a profile."""
        self._tell_columns(columns)

    # -- what is known

    def _learn(self, table: TableRef, personal: Iterable[str]) -> Mapping[str, Kind]:
        finder = self._finder or _table_finder()
        try:
            found = personal_kinds(finder.samples(table))
            kinds: dict[str, Kind] = {**dict.fromkeys(personal, "name"), **found}
            self._tell_columns(kinds)
            searched = [name for name, kind in kinds.items() if kind in _SEARCHED]
            if searched and not self._sends:
                for name, values in finder.values(table, searched).items():
                    self._known.update(dict.fromkeys(values, kinds[name]))
        except InputError:
            # The file is gone: no cell of it will be shown either.
            return personal_kinds([Cells(c.name, c.type, ()) for c in table.columns])
        return kinds

    def _stand_in(self, value: str, kind: Kind) -> str:
        plain = " ".join(value.split())
        if plain.casefold() in self._said:
            return value
        with self._lock:
            if plain not in self._stand_ins:
                self._counts[kind] = number = self._counts.get(kind, 0) + 1
                self._stand_ins[plain] = stand_in = f"‹{kind} {number}›"
                self._values[stand_in] = plain
            return self._stand_ins[plain]

    def _tell_columns(self, columns: Iterable[str]) -> None:
        new = sorted(set(columns) - self._told)
        self._told.update(new)
        if new and self._on_notice:
            self._on_notice(columns_note(new, sent=self._sends))

    def _tell_texts(self) -> None:
        if _IN_TEXTS not in self._told:
            self._told.add(_IN_TEXTS)
            if self._on_notice:
                self._on_notice(_TEXTS)

    # -- values and texts

    def _argument(self, text: str) -> str:
        return self.cell(text, None)

    def _masked(self, value: object, field: str = "") -> object:
        if isinstance(value, str):
            return self.cell(value, None, field)
        if isinstance(value, int | float) and not isinstance(value, bool):
            kind = self._known.get(_digits(value)) if abs(value) >= _LEAST_NUMBER else None
            return self._stand_in(_digits(value), kind) if kind else value
        if isinstance(value, Mapping):
            return self._record(cast("Mapping[str, object]", value))
        if isinstance(value, list | tuple):
            return [self._masked(item, field) for item in cast("Sequence[object]", value)]
        return value

    def _record(self, record: Mapping[str, object]) -> dict[str, object]:
        cells = [
            Cells(name, _type(item), [str(item)])
            for name, item in record.items()
            if isinstance(item, str | int | float) and item != ""
        ]
        kinds = personal_kinds(cells)
        self._tell_columns(kinds)
        return {
            name: self._stand_in(str(item), kinds[name])
            if name in kinds
            else self._masked(item, name)
            for name, item in record.items()
        }

    def _without_names(self, text: str) -> str:
        """Return a text without the names of columns that were seen.

        Single words of Latin script stay: a customer called May is no reason to mask a month.
        """
        if not self._known:
            return text
        text = _CJK.sub(lambda found: self._without_chinese(found[0]), text)
        words = list(_WORD.finditer(text))
        masked, end, at = "", 0, 0
        while at < len(words):
            stop, kind = self._longest(text, words, at)
            if kind:
                start = words[at].start()
                masked += text[end:start] + self._stand_in(text[start : words[stop].end()], kind)
                end = words[stop].end()
            at = stop + 1
        return masked + text[end:]

    def _longest(
        self, text: str, words: Sequence[re.Match[str]], at: int
    ) -> tuple[int, Kind | None]:
        """Return the last word of the longest known name that begins at a word, and its kind."""
        for stop in range(min(at + _MAX_WORDS, len(words)) - 1, at, -1):
            kind = self._known.get(text[words[at].start() : words[stop].end()])
            if kind:
                return stop, kind
        return at, None

    def _without_chinese(self, run: str) -> str:
        masked, at = "", 0
        while at < len(run):
            for length in (4, 3, 2):
                part = run[at : at + length]
                kind = self._known.get(part) if len(part) == length else None
                if kind:
                    masked += self._stand_in(part, kind)
                    at += length
                    break
            else:
                masked += run[at]
                at += 1
        return masked


def _table_finder() -> PersonalFinder:
    # Loads DuckDB, which runs without tables need not pay for.
    from planloom.planning.table_preview import TableReader

    return TableReader()


def _type(item: object) -> str:
    if isinstance(item, bool):
        return "boolean"
    return "number" if isinstance(item, int | float) else "text"


def _digits(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)


def _each_text(value: object, change: Callable[[str], str]) -> object:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        named = cast("Mapping[str, object]", value)
        return {name: _each_text(item, change) for name, item in named.items()}
    if isinstance(value, list | tuple):
        return [_each_text(item, change) for item in cast("Sequence[object]", value)]
    return value


def columns_note(columns: Sequence[str], *, sent: bool) -> Note:
    """Say which columns hold personal data, and what is done with their values."""
    note = _SENT if sent else _MASKED
    return note.with_args({"columns": ", ".join(columns), "columns_zh": "、".join(columns)})


_MASKED = Note(
    "Columns with personal data ({columns}): the language model sees stand-ins such as ‹name 1› "
    "in place of their values; results show the values. To send them, use --send-personal-data.",
    "含个人信息的列（{columns_zh}）：语言模型看到的是 ‹name 1› 之类的代号，结果中仍显示原值。"
    "如需发送原值，请使用 --send-personal-data。",
)
_SENT = Note(
    "Columns with personal data ({columns}): their values are sent to the language model, as "
    "--send-personal-data allows.",
    "含个人信息的列（{columns_zh}）：已按 --send-personal-data 的许可，向语言模型发送其中的取值。",
)
_TEXTS = Note(
    "Mail addresses, phone, identity or card numbers in texts: the language model sees stand-ins "
    "such as ‹mail 1› in their place. To send them, use --send-personal-data.",
    "文本中的邮箱、电话、证件号或卡号：语言模型看到的是 ‹mail 1› 之类的代号。"
    "如需发送原值，请使用 --send-personal-data。",
)
