"""Chooses the type of each column from a sample of its cells, and says why in words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from planloom.analysis.loading.date_order import choose_order, order_votes
from planloom.analysis.loading.moment_text import (
    MomentStyle,
    MomentText,
    read_moment,
    read_time,
    split_moment,
)
from planloom.analysis.loading.number_text import (
    CURRENCIES,
    NumberStyle,
    NumberText,
    is_missing,
    looks_like_number,
    read_number,
    split_number,
)
from planloom.analysis.loading.separators import Separators, choose_separators
from planloom.notes import Note
from planloom.values import ColumnType

NEEDED = 0.9
"""A column becomes a number or a date when this share of its present cells can be read so."""
MAX_DIGITS = 15
"""Longer whole numbers are identifiers: no spreadsheet keeps more digits."""
_PHONE_NAME = re.compile(
    r"(.*[\W_])?(tele)?(phone|mobile|tel|fax|handy|whatsapp)([\W_]*(no|nr|num|number|#|\d+))?\W*"
    r"|.*(电话|電話|手机|手機|传真|傳真)(号码|號碼|号|號)?",
    re.IGNORECASE,
)
_DATE_NAME = re.compile(r"date|day|time|period|日期|时间|時間|日$|dt$", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class ColumnPlan:
    """How the cells of one column are read."""

    name: str
    type: ColumnType
    number: NumberStyle = field(default_factory=NumberStyle)
    moment: MomentStyle = field(default_factory=MomentStyle)
    shapes: tuple[MomentText, ...] = ()
    """One example of each way of writing dates that the sample holds."""
    unit: str = ""
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Habits:
    """What the other columns of a file say about how it writes numbers and dates."""

    decimal_comma: bool = False
    day_first: bool | None = None
    native: bool = False
    """Numbers come from typed cells (Excel, JSON), so their separators are never in doubt."""


def plan_columns(
    names: Sequence[str], samples: Sequence[Sequence[str]], *, native: bool = False
) -> list[ColumnPlan]:
    """Return a plan for each column; `samples` are the cells of each column."""
    counts = [Counter(cell.strip() for cell in cells if cell.strip()) for cells in samples]
    habits = _habits(counts, native=native)
    return [plan_column(name, cells, habits) for name, cells in zip(names, counts, strict=True)]


def plan_column(name: str, cells: Counter[str], habits: Habits) -> ColumnPlan:
    """Return how to read a column that holds these cells, each with its number."""
    present = Counter({text: n for text, n in cells.items() if not is_missing(text)})
    if not present:
        return ColumnPlan(name=name, type="text")
    for attempt in (_as_boolean, _as_compact_date, _as_number, _as_moment, _as_time):
        plan = attempt(name, present, habits)
        if plan is not None:
            return plan
    return ColumnPlan(name=name, type="text")


def as_text(name: str, note: Note) -> ColumnPlan:
    """Return a plan that leaves the cells as they are, for the reason given."""
    return ColumnPlan(name=name, type="text", notes=(note,))


def _habits(counts: Sequence[Counter[str]], *, native: bool) -> Habits:
    if native:
        return Habits(native=True)
    comma = day = month = 0
    for cells in counts:
        bodies = [parts.body for text in cells if (parts := split_number(text))]
        comma += len(bodies) > 0 and choose_separators(bodies).decided == ","
        first, second = order_votes(cells)
        day += first is not None and second is None
        month += second is not None and first is None
    return Habits(decimal_comma=comma > 0, day_first=None if bool(day) == bool(month) else day > 0)


def _as_boolean(name: str, present: Counter[str], _habits: Habits) -> ColumnPlan | None:
    clear = {text.lower() for text in present} <= {"true", "false"}
    return ColumnPlan(name=name, type="boolean") if clear else None


def _as_compact_date(name: str, present: Counter[str], _habits: Habits) -> ColumnPlan | None:
    if not _DATE_NAME.search(name):
        return None
    if not all(re.fullmatch(r"(19|20)\d{6}", text) for text in present):
        return None
    parts = [split_moment(text, compact=True) for text in present]
    if None in parts:
        return None
    note = Note(
        "Eight digits such as {example} were read as dates: {columns}.",
        "形如 {example} 的八位数字按日期读取：{columns}。",
        {"columns": name, "example": next(iter(present))},
    )
    shapes = tuple(part for part in parts[:1] if part)
    return ColumnPlan(
        name=name, type="date", moment=MomentStyle(compact=True), shapes=shapes, notes=(note,)
    )


# Numbers


def _as_number(name: str, present: Counter[str], habits: Habits) -> ColumnPlan | None:
    texts = {text: parts for text in present if (parts := split_number(text))}
    numeric = sum(present[text] for text in texts if looks_like_number(text))
    if numeric < NEEDED * present.total():
        return None
    if note := _is_identifier(name, texts):
        return as_text(name, note)
    unit, unit_required, unit_notes = _choose_unit(name, present, texts)
    if unit is None:
        return as_text(name, unit_notes[0])
    bodies = [parts.body for parts in texts.values() if parts.unit in ("", unit)]
    separators = choose_separators(bodies, decimal_comma=habits.decimal_comma, native=habits.native)
    style = NumberStyle(
        decimal=separators.decimal, thousands=separators.thousands,
        unit=unit, unit_required=unit_required,
    )  # fmt: skip
    values = {text: read_number(text, style) for text in present}
    read = sum(present[text] for text, value in values.items() if value is not None)
    if read < NEEDED * present.total():
        return None
    whole = unit != "%" and all(not isinstance(value, float) for value in values.values())
    return ColumnPlan(
        name=name, type="integer" if whole else "number", number=style, unit=unit,
        notes=(*unit_notes, *_style_notes(name, style, separators, texts)),
    )  # fmt: skip


def _is_identifier(name: str, texts: dict[str, NumberText]) -> Note | None:
    phone = next((text for text, parts in texts.items() if _is_phone(parts)), None)
    if phone is not None and _PHONE_NAME.fullmatch(name) and all(map(_is_phone, texts.values())):
        return Note(
            "Kept as text because they are telephone numbers, such as {example}: {columns}.",
            "电话号码（如 {example}）保留为文本：{columns}。",
            {"columns": name, "example": phone},
        )
    digits = [text for text, parts in texts.items() if text.isdecimal() and parts.scale == 1]
    zeros = next((text for text in digits if len(text) > 1 and text[0] == "0"), None)
    if zeros is not None:
        return Note(
            "Kept as text because of leading zeros, such as {example}: {columns}.",
            "因有前导零（如 {example}）保留为文本：{columns}。",
            {"columns": name, "example": zeros},
        )
    long = next((text for text in digits if len(text) > MAX_DIGITS), None)
    if long is not None:
        return Note(
            "Kept as text because numbers as long as {example} are identifiers: {columns}.",
            "数字长达 {example}，视为编号，保留为文本：{columns}。",
            {"columns": name, "example": long},
        )
    return None


def _is_phone(parts: NumberText) -> bool:
    digits = sum(char.isdecimal() for char in parts.body)
    return digits >= 5 and not parts.unit and parts.scale == 1 and not parts.exponent


def _choose_unit(
    name: str, present: Counter[str], texts: dict[str, NumberText]
) -> tuple[str | None, bool, tuple[Note, ...]]:
    """Return the unit (None when units are mixed), whether cells must carry it, and notes."""
    units: Counter[str] = Counter()
    for text, parts in texts.items():
        units[parts.unit] += present[text]
    bare, total = units.pop("", 0), sum(present[text] for text in texts)
    if not units:
        return "", False, ()
    unit, count = units.most_common(1)[0]
    if units.total() - count > (1 - NEEDED) * total:
        return None, False, (_mixed_units(name, units),)
    if unit in CURRENCIES:
        return unit, False, (_unit_note(name, unit, bare),)
    if count >= NEEDED * total:
        return unit, unit == "%", (_unit_note(name, unit, 0 if unit == "%" else bare),)
    if count <= (1 - NEEDED) * total:
        return "", False, ()
    return None, False, (_mixed_units(name, units + Counter({"-": bare})),)


def _mixed_units(name: str, units: Counter[str]) -> Note:
    return Note(
        "Kept as text because the cells carry different units ({units}): {columns}.",
        "因单元格单位不一（{units}）保留为文本：{columns}。",
        {"columns": name, "units": " ".join(sorted(units))},
    )


def _unit_note(name: str, unit: str, bare: int) -> Note:
    if bare:
        return Note(
            "The sign {unit} was taken off the numbers and kept as their unit; cells without it "
            "are taken to have the same unit: {columns}.",
            "已去掉数字上的 {unit} 并作为单位保存；未带该标记的单元格按同一单位处理：{columns}。",
            {"columns": name, "unit": unit},
        )
    return Note(
        "The sign {unit} was taken off the numbers and kept as their unit: {columns}.",
        "已去掉数字上的 {unit} 并作为单位保存：{columns}。",
        {"columns": name, "unit": unit},
    )


def _style_notes(
    name: str, style: NumberStyle, separators: Separators, texts: dict[str, NumberText]
) -> list[Note]:
    notes: list[Note] = []
    if style.decimal == ",":
        notes.append(Note(
            "A comma was read as the decimal mark, because of values such as {example}: {columns}.",
            "根据 {example} 等值，逗号按小数点读取：{columns}。",
            {"columns": name, "example": separators.example},
        ))  # fmt: skip
    if separators.open_point:
        notes.append(Note(
            "No value settles whether the point in numbers such as {example} marks decimals or "
            "thousands; it was read as the decimal mark: {columns}.",
            "没有值能确定 {example} 中的点是小数点还是千位分隔符；已按小数点读取：{columns}。",
            {"columns": name, "example": separators.open_point},
        ))  # fmt: skip
    grouped = next(
        (p.body for p in texts.values() if style.thousands and style.thousands in p.body), None
    )
    if grouped is not None:
        shown = "blank" if style.thousands == " " else style.thousands
        notes.append(Note(
            "The sign {mark} was read as the thousands mark, as in {example}: {columns}.",
            "{mark} 按千位分隔符读取（如 {example}）：{columns}。",
            {"columns": name, "mark": shown, "example": grouped},
        ))  # fmt: skip
    scaled = next((text for text, parts in texts.items() if parts.scale > 1), None)
    if scaled is not None:
        notes.append(Note(
            "Numbers with 千, 万 or 亿 were written out, such as {example}: {columns}.",
            "带“千”“万”“亿”的数值（如 {example}）已换算为完整数字：{columns}。",
            {"columns": name, "example": scaled},
        ))  # fmt: skip
    return notes


# Dates and times


def _as_moment(name: str, present: Counter[str], habits: Habits) -> ColumnPlan | None:
    dotted = bool(_DATE_NAME.search(name))
    texts = {text: parts for text in present if (parts := split_moment(text, dotted=dotted))}
    if sum(present[text] for text in texts) < NEEDED * present.total():
        return None
    order, order_notes = choose_order(
        name, texts, day_first=habits.day_first, decimal_comma=habits.decimal_comma
    )
    zones = {parts.zone for parts in texts.values()}
    to_utc = len(zones - {None}) > 1
    if to_utc and None in zones:
        return as_text(name, _open_zone_note(name, texts))
    style = replace(order, to_utc=to_utc, dotted=dotted)
    read = sum(present[text] for text in texts if read_moment(text, style) is not None)
    if read < NEEDED * present.total():
        return None
    clocks = [parts.clock for parts in texts.values() if parts.clock is not None]
    shapes = {
        (parts.shape, parts.mark, parts.short_year, parts.clock is None): parts
        for parts in texts.values()
    }
    notes = [*order_notes, *_shape_notes(name, texts)]
    if zones != {None}:
        notes.append(_zone_note(name, utc=style.to_utc, bare=None in zones))
    return ColumnPlan(
        name=name, type="datetime" if any(_is_clock(clock) for clock in clocks) else "date",
        moment=style, shapes=tuple(shapes.values()), notes=tuple(notes),
    )  # fmt: skip


def _is_clock(clock: object) -> bool:
    return str(clock) != "00:00:00"


def _shape_notes(name: str, texts: dict[str, MomentText]) -> list[Note]:
    notes: list[Note] = []
    month = next((t for t, p in texts.items() if p.shape in ("ym", "ym_zh", "name_year")), None)
    if month is not None:
        notes.append(Note(
            "Months such as {example} were read as their first day: {columns}.",
            "{example} 这类年月按当月第一天读取：{columns}。",
            {"columns": name, "example": month},
        ))  # fmt: skip
    short = next((text for text, parts in texts.items() if parts.short_year), None)
    if short is not None:
        notes.append(Note(
            "Years of two digits were read as 1969 to 2068, as in {example}: {columns}.",
            "两位数的年份按 1969 至 2068 年读取（如 {example}）：{columns}。",
            {"columns": name, "example": short},
        ))  # fmt: skip
    return notes


def _open_zone_note(name: str, texts: dict[str, MomentText]) -> Note:
    bare = next(text for text, parts in texts.items() if parts.zone is None)
    return Note(
        "Kept as text because times of several time zones stand beside times without any, such as "
        "{example}: {columns}.",
        "因多个时区的时间与未注明时区的时间（如 {example}）混用，保留为文本：{columns}。",
        {"columns": name, "example": bare},
    )


def _zone_note(name: str, *, utc: bool, bare: bool) -> Note:
    if bare:
        return Note(
            "Times with a time zone stand beside times without any, which were taken to be of the "
            "same zone; the local clock time was kept: {columns}.",
            "部分时间未注明时区，按与其他时间同一时区处理，保留当地时间：{columns}。",
            {"columns": name},
        )
    if utc:
        return Note(
            "Times of several time zones were turned to UTC: {columns}.",
            "含多个时区的时间已统一换算为 UTC：{columns}。",
            {"columns": name},
        )
    return Note(
        "All times have the same time zone; the local clock time was kept: {columns}.",
        "所有时间同属一个时区，保留当地时间：{columns}。",
        {"columns": name},
    )


def _as_time(name: str, present: Counter[str], _habits: Habits) -> ColumnPlan | None:
    read = sum(n for text, n in present.items() if read_time(text) is not None)
    return ColumnPlan(name=name, type="time") if read >= NEEDED * present.total() else None
