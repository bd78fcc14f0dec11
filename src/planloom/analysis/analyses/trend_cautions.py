"""What a reader must know to read a trend right: cut-off periods, gaps, rows left out."""

from __future__ import annotations

from planloom.analysis.analyses.course import Course
from planloom.analysis.analyses.remarks import adding_rates, rows_without_value
from planloom.analysis.database import identifier
from planloom.notes import Note


def trend_cautions(course: Course) -> list[Note]:
    """Return what a reader must know to read the trend right, adding the facts."""
    measure, sheet = course.timeline.measure, course.sheet
    return [
        *_partial(course),
        *_gaps(course),
        *_without_percentage(course),
        *_rows_without_date(course),
        *rows_without_value(measure, sheet),
        *adding_rates(measure, sheet),
    ]


def _partial(course: Course) -> list[Note]:
    timeline, notes = course.timeline, list[Note]()
    day = identifier(timeline.date.name)
    ends = (
        ("last", timeline.last_is_partial, -1, "max", "ends on", "止于"),
        ("first", timeline.first_is_partial, 0, "min", "begins on", "始于"),
    )
    for end, is_partial, position, sql, verb, verb_zh in ends:
        if not is_partial:
            continue
        course.add_point(
            f"partial_{end}", course.points[position], f"incomplete {end} period", "不完整的周期"
        )
        course.sheet.add(
            f"{end}_date",
            course.label(f"{end} date", "数据起止日期"),
            f"CAST({sql}({day}) AS DATE)",
            course.sheet.base,
            unit="day",
        )
        notes.append(
            course.sheet.note(
                f"<partial_{end}_period> is incomplete: the data {verb} <{end}_date>. It is shown, "
                "but not compared with other periods.",
                f"<partial_{end}_period>的数据不完整（{verb_zh}<{end}_date>），"
                "仅列出，不参与比较。",
                **course.named,
            )
        )
    return notes


def _gaps(course: Course) -> list[Note]:
    value, rows = (identifier(name) for name in course.timeline.names[1:3])
    notes: list[Note] = []
    tests = (
        ("gaps", f"{rows} = 0 AND {value} = 0", "periods without rows", "没有记录的周期数"),
        ("empty", f"{value} IS NULL", "periods without a value", "没有数值的周期数"),
    )
    texts = {
        "gaps": (
            f"No rows fall in <gaps|{course.words.en}|{course.words.en}s>; shown as zero.",
            f"有<gaps>{course.words.counted}没有记录，按零列示。",
        ),
        "empty": (
            f"Left empty: <empty|{course.words.en}|{course.words.en}s> without a value.",
            f"有<empty>{course.words.counted}没有数值，留空。",
        ),
    }
    for what, condition, en, zh in tests:
        where = f"WHERE {condition}"
        if course.sheet.read(f"SELECT 1 FROM {course.source.kept} {where} LIMIT 1"):
            label = course.label(en, zh)
            course.sheet.add(what, label, "count(*)", course.source, where=where, rows="0")
            notes.append(course.sheet.note(*texts[what], **course.named))
    return notes


def _without_percentage(course: Course) -> list[Note]:
    sheet = course.sheet
    for what, base in (("change", "first"), ("latest", "previous"), ("year_on_year", "year_ago")):
        if sheet.has(what) and not sheet.has(f"{what}_pct") and sheet.number(base) <= 0:
            return [
                sheet.note(
                    f"No percentage is given for the change from <{base}_period>, because its "
                    f"value (<{base}>) is not above zero.",
                    f"<{base}_period>的数值（<{base}>）不大于零，因此不计算相对它的百分比变化。",
                    **course.named,
                )
            ]
    return []


def _rows_without_date(course: Course) -> list[Note]:
    where = f"WHERE {identifier(course.timeline.date.name)} IS NULL"
    if not course.sheet.read(f"SELECT 1 FROM {course.sheet.base.kept} {where} LIMIT 1"):
        return []
    named = course.named
    label = Note("Rows without {date}", "缺少{date}的记录数", {"date": named["date"]})
    course.sheet.add("no_date", label, "count(*)", course.sheet.base, where=where)
    return [
        course.sheet.note(
            "Left out: <no_date|row|rows> without {date}.",
            "<no_date>条记录缺少{date}，未计入。",
            **named,
        )
    ]
