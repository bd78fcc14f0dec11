"""Chooses the type of each column from a sample of its cells, and says why in words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

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
_COMPACT_DATE_NAME = re.compile(r"date|day|time|period|日期|时间|時間|日$|dt$", re.IGNORECASE)


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
        first, second = _order_votes(cells)
        day += first is not None and second is None
        month += second is not None and first is None
    return Habits(decimal_comma=comma > 0, day_first=None if bool(day) == bool(month) else day > 0)


def _as_boolean(name: str, present: Counter[str], _habits: Habits) -> ColumnPlan | None:
    clear = {text.lower() for text in present} <= {"true", "false"}
    return ColumnPlan(name=name, type="boolean") if clear else None


def _as_compact_date(name: str, present: Counter[str], _habits: Habits) -> ColumnPlan | None:
    if not _COMPACT_DATE_NAME.search(name):
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
    texts = {text: parts for text in present if (parts := split_moment(text))}
    if sum(present[text] for text in texts) < NEEDED * present.total():
        return None
    day_first, order_notes = _choose_order(name, texts, habits)
    zones = {parts.zone for parts in texts.values() if parts.zone is not None}
    style = MomentStyle(day_first=day_first, to_utc=len(zones) > 1)
    read = sum(present[text] for text in texts if read_moment(text, style) is not None)
    if read < NEEDED * present.total():
        return None
    clocks = [parts.clock for parts in texts.values() if parts.clock is not None]
    shapes = {
        (parts.shape, parts.mark, parts.short_year, parts.clock is None): parts
        for parts in texts.values()
    }
    notes = [*order_notes, *_shape_notes(name, texts)]
    if zones:
        notes.append(_zone_note(name, utc=style.to_utc))
    return ColumnPlan(
        name=name, type="datetime" if any(_is_clock(clock) for clock in clocks) else "date",
        moment=style, shapes=tuple(shapes.values()), notes=tuple(notes),
    )  # fmt: skip


def _is_clock(clock: object) -> bool:
    return str(clock) != "00:00:00"


def _order_votes(cells: Counter[str]) -> tuple[str | None, str | None]:
    """Return a value that can only be day/month and one that can only be month/day, or None."""
    day_first = month_first = None
    for text in cells:
        parts = split_moment(text) if text[:1].isdigit() and text.count(text[-1]) < 99 else None
        if parts is None or parts.shape != "numeric":
            continue
        if parts.first > 12 >= parts.second:
            day_first = day_first or text
        elif parts.second > 12 >= parts.first:
            month_first = month_first or text
    return day_first, month_first


def _choose_order(
    name: str, texts: dict[str, MomentText], habits: Habits
) -> tuple[bool, list[Note]]:
    numeric = {text: parts for text, parts in texts.items() if parts.shape == "numeric"}
    if not numeric:
        return False, []
    day_text, month_text = _order_votes(Counter(numeric))
    if day_text and month_text:
        days = sum(parts.first > 12 for parts in numeric.values())
        months = sum(parts.second > 12 for parts in numeric.values())
        day_text, month_text = (day_text, None) if days >= months else (None, month_text)
    if day_text or month_text:
        return bool(day_text), [
            _order_note(name, day_text or month_text or "", day_first=bool(day_text))
        ]
    day_first = _guess_order(list(numeric.values()), habits)
    return day_first, [_open_order_note(name, next(iter(numeric)), day_first=day_first)]


def _order_note(name: str, example: str, *, day_first: bool) -> Note:
    if day_first:
        return Note(
            "Dates were read as day/month, because of the value {example}: {columns}.",
            "根据值 {example}，日期按“日/月”顺序读取：{columns}。",
            {"columns": name, "example": example},
        )
    return Note(
        "Dates were read as month/day, because of the value {example}: {columns}.",
        "根据值 {example}，日期按“月/日”顺序读取：{columns}。",
        {"columns": name, "example": example},
    )


def _open_order_note(name: str, example: str, *, day_first: bool) -> Note:
    if day_first:
        return Note(
            "No value settles whether dates such as {example} are day/month or month/day; "
            "they were read as day/month: {columns}.",
            "没有值能确定 {example} 这类日期是“日/月”还是“月/日”；已按“日/月”读取：{columns}。",
            {"columns": name, "example": example},
        )
    return Note(
        "No value settles whether dates such as {example} are day/month or month/day; "
        "they were read as month/day: {columns}.",
        "没有值能确定 {example} 这类日期是“日/月”还是“月/日”；已按“月/日”读取：{columns}。",
        {"columns": name, "example": example},
    )


def _guess_order(dates: list[MomentText], habits: Habits) -> bool:
    """Return whether dates are day/month when every number could be either."""
    if habits.day_first is not None:
        return habits.day_first
    as_days = [parts.date(day_first=True) for parts in dates]
    as_months = [parts.date(day_first=False) for parts in dates]
    days = [day for day in as_days if day is not None]
    months = [day for day in as_months if day is not None]
    days_run, months_run = days == sorted(days), months == sorted(months)
    if len(dates) > 2 and days_run != months_run:
        return days_run
    if len(dates) > 2 and days_run:
        # Both run forwards: a table of consecutive days spans less than one of first days.
        return max(days) - min(days) < max(months) - min(months)
    return habits.decimal_comma or dates[0].mark == "."


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


def _zone_note(name: str, *, utc: bool) -> Note:
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
