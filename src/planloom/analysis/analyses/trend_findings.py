"""What a trend says: the change, the year before, the latest step, the extremes."""

from __future__ import annotations

from itertools import pairwise

from planloom.analysis.analyses.course import Course
from planloom.analysis.analyses.fact_sheet import FactSheet
from planloom.analysis.analyses.timeline import Point
from planloom.analysis.database import identifier
from planloom.notes import Note

_PERIODS_A_YEAR = {"month": 12, "quarter": 4}
_STEADY = 0.7  # at least this part of the steps goes one way


def trend_findings(course: Course) -> list[Note]:
    """Return the findings on the whole measure, most telling first, adding their facts."""
    usable = course.usable
    if not course.points:
        return []
    if len(usable) < 2:
        return _level(course)
    course.add_point("first", usable[0], "first complete period", "首个完整周期")
    course.add_point("last", usable[-1], "last complete period", "最近一个完整周期")
    course.add_change(
        "change", usable[0], usable[-1], "change over the whole time", "期初至期末的变化"
    )
    return [
        _overall(course),
        *_year_on_year(course),
        *_full_years(course),
        *_latest_step(course),
        *_extremes(course),
        *_steadiness(course),
    ]


def _level(course: Course) -> list[Note]:
    """Tell the level alone, when there are no two complete periods to compare."""
    measure, day = course.timeline.measure, identifier(course.timeline.date.name)
    sheet, where = course.sheet, f"WHERE {day} IS NOT NULL"
    for what, sql, en, zh in (
        ("first_day", "min", "first date", "最早日期"),
        ("last_day", "max", "last date", "最晚日期"),
    ):
        value = f"CAST({sql}({day}) AS DATE)"
        sheet.add(what, course.label(en, zh), value, sheet.base, where=where, unit="day")
    sheet.add(
        "whole",
        course.label("over the whole time", "全期"),
        measure.sql(measure.item),
        sheet.base,
        where=where,
        rows=f"count({measure.item})",
        unit=measure.unit,
    )
    if not sheet.has("whole"):
        return []
    sum_zh = "合计" if measure.is_additive else ""
    total = "total " if measure.how == "sum" else ""
    when_en, when_zh = "From <first_day> to <last_day>", "<first_day>至<last_day>，"
    if sheet.value("first_day") == sheet.value("last_day"):
        when_en, when_zh = "On <first_day>", "<first_day>"
    return [
        sheet.note(
            f"{when_en}, the {total}{measure.en} is <whole>.",
            f"{when_zh}{measure.zh}{sum_zh}为<whole>。",
            **course.named,
        )
    ]


def _overall(course: Course) -> Note:
    sheet, at = course.sheet, course.words.preposition
    subject_en, subject_zh = course.words.subject(course.timeline.measure)
    change = sheet.number("change")
    if change == 0:
        return sheet.note(
            f"{subject_en} is the same {at} <first_period> and {at} <last_period>: <last>.",
            f"{subject_zh}在<first_period>与<last_period>持平，均为<last>。",
            **course.named,
        )
    verb_en, verb_zh = ("rose", "升至") if change > 0 else ("fell", "降至")
    size_en, size_zh = _sizes("change", sheet)
    return sheet.note(
        f"{subject_en} {verb_en} by {size_en}, from <first> {at} <first_period> to <last> "
        f"{at} <last_period>.",
        f"{subject_zh}由<first_period>的<first>{verb_zh}<last_period>的<last>，{size_zh}。",
        **course.named,
    )


def _sizes(what: str, sheet: FactSheet) -> tuple[str, str]:
    """Return the words for a change: in percent with the amount, or the amount alone."""
    added = "增加" if sheet.number(what) > 0 else "减少"
    if not sheet.has(f"{what}_pct"):
        return f"<{what}_size>", f"{added}<{what}_size>"
    moved = _moved_zh(sheet.number(what))
    return (
        f"<{what}_pct_size> (<{what}_size>)",
        f"{moved}<{what}_pct_size>（{added}<{what}_size>）",
    )


def _moved_zh(change: float) -> str:
    return "增长" if change > 0 else "下降"


def _year_on_year(course: Course) -> list[Note]:
    """Compare the last complete period with the same one a year before."""
    last, a_year = course.usable[-1], _PERIODS_A_YEAR.get(course.timeline.grain)
    position = course.points.index(last)
    if a_year is None or position < a_year:
        return []
    before = course.points[position - a_year]
    if before not in course.filled[1:]:  # the first one is compared already
        return []
    course.add_point("year_ago", before, "the same period a year before", "上年同期")
    course.add_change("year_on_year", before, last, "change to the year before", "同比变化")
    sheet, change = course.sheet, course.sheet.number("year_on_year")
    if change == 0 or not sheet.has("year_on_year_pct"):
        return []
    more = "above" if change > 0 else "below"
    return [
        sheet.note(
            f"<last_period> is <year_on_year_pct_size> {more} the same {course.words.en} a year "
            "earlier (<year_ago_period>: <year_ago>).",
            f"<last_period>同比{_moved_zh(change)}<year_on_year_pct_size>"
            "（<year_ago_period>为<year_ago>）。",
            **course.named,
        )
    ]


def _full_years(course: Course) -> list[Note]:
    """Compare the sum of the latest full year of periods with that of the one before."""
    a_year = _PERIODS_A_YEAR.get(course.timeline.grain)
    complete = [point for point in course.points if point.is_complete]
    if a_year is None or not course.timeline.measure.is_additive or len(complete) < 2 * a_year:
        return []
    latest, earlier = complete[-a_year:], complete[-2 * a_year : -a_year]
    if any(point.value is None for point in (*latest, *earlier)):
        return []
    _add_year(course, "year", latest)
    _add_year(course, "earlier_year", earlier)
    old, new = _sum_of(course, earlier), _sum_of(course, latest)
    if course.sheet.number("earlier_year") <= 0 or course.sheet.number("year") < 0:
        return []
    value = f"100 * (CAST({new} AS DOUBLE) - CAST({old} AS DOUBLE)) / CAST({old} AS DOUBLE)"
    rows = f"sum({identifier(course.timeline.names[2])})"
    label = course.label("change of the full year", "整年变化")
    where = f"WHERE {course.between([*earlier, *latest])}"
    for name, sql in (("year_pct", value), ("year_pct_size", f"abs({value})")):
        course.sheet.add(name, label, sql, course.source, where=where, rows=rows, unit="%")
    change = course.sheet.number("year_pct")
    if change == 0:
        return []
    more = "more" if change > 0 else "less"
    return [
        course.sheet.note(
            f"The latest full year of data (<year_from> to <year_to>) comes to <year>, "
            f"<year_pct_size> {more} than the year before it (<earlier_year>).",
            f"最近一整年（<year_from>至<year_to>）合计<year>，较此前一年（<earlier_year>）"
            f"{_moved_zh(change)}<year_pct_size>。",
            **course.named,
        )
    ]


def _add_year(course: Course, what: str, points: list[Point]) -> None:
    period, value, rows, _ = (identifier(name) for name in course.timeline.names)
    where = f"WHERE {course.between(points)}"
    course.sheet.add(
        what,
        course.label("sum of a full year", "整年合计"),
        course.timeline.measure.again("sum", value),
        course.source,
        where=where,
        rows=f"sum({rows})",
        unit=course.timeline.measure.unit,
    )
    if what != "year":
        return
    for name, sql in (("year_from", "min"), ("year_to", "max")):
        course.sheet.add(
            name,
            course.label("bounds of the full year", "整年的起止"),
            f"{sql}({period})",
            course.source,
            where=where,
            rows=f"sum({rows})",
            unit=course.timeline.grain,
        )


def _sum_of(course: Course, points: list[Point]) -> str:
    value = identifier(course.timeline.names[1])
    total = course.timeline.measure.again("sum", value)
    return f"{total} FILTER (WHERE {course.between(points)})"


def _latest_step(course: Course) -> list[Note]:
    """Compare the last two complete periods, if they stand side by side."""
    last = course.usable[-1]
    before = course.points[course.points.index(last) - 1]
    if len(course.usable) < 3 or before not in course.filled:
        return []
    course.add_point("previous", before, "the period before the last", "上一个完整周期")
    course.add_change("latest", before, last, "change of the latest period", "环比变化")
    sheet, change = course.sheet, course.sheet.number("latest")
    size_en, size_zh = _sizes("latest", sheet)
    if change == 0:
        return [
            sheet.note(
                "<last_period> is level with <previous_period>.",
                "<last_period>与<previous_period>持平。",
                **course.named,
            )
        ]
    verb = "rose" if change > 0 else "fell"
    subject = course.words.inner_subject(course.timeline.measure)
    return [
        sheet.note(
            f"From <previous_period> (<previous>) to <last_period>, {subject} {verb} by {size_en}.",
            f"<last_period>环比{size_zh}，<previous_period>为<previous>。",
            **course.named,
        )
    ]


def _extremes(course: Course) -> list[Note]:
    """Tell the highest and the lowest of the periods with rows, and the average over those."""
    values = [point.value or 0 for point in course.filled]
    if len(values) < 3 or min(values) == max(values):
        return []
    _add_extreme(course, "highest", max(values), "最高的完整周期")
    _add_extreme(course, "lowest", min(values), "最低的完整周期")
    en, zh = _extreme_words(course)
    if not course.timeline.measure.is_additive:
        return [course.sheet.note(f"{en}.", f"{zh}。", **course.named)]
    average_en, average_zh = _average(course)
    return [course.sheet.note(f"{en}; {average_en}.", f"{zh}；{average_zh}。", **course.named)]


def _add_extreme(course: Course, what: str, value: float, zh: str) -> None:
    """Add the earliest period of a value, and how many have it if there are several."""
    level = [point for point in course.filled if point.value == value]
    course.add_point(what, level[0], f"{what} complete period", zh)
    if len(level) == 1:
        return
    name, rows = (identifier(name) for name in course.timeline.names[1:3])
    extreme = f"{'max' if what == 'highest' else 'min'}({name}) OVER ()"
    source = course.source.derive(
        f"SELECT {name} = {extreme} AS is_level, {rows} AS rows",
        f"WHERE {_is_filled(course)}",
    )
    label = course.label(f"periods level with the {what}", f"{zh}（并列个数）")
    course.sheet.add(
        f"{what}_ties", label, "count(*)", source, where="WHERE is_level", rows="sum(rows)"
    )


def _is_filled(course: Course) -> str:
    value, rows = (identifier(name) for name in course.timeline.names[1:3])
    return f"{course.between(course.usable)} AND {rows} > 0 AND {value} IS NOT NULL"


def _extreme_words(course: Course) -> tuple[str, str]:
    words = course.words
    parts: list[tuple[str, str]] = []
    for what, zh in (("highest", "最高"), ("lowest", "最低")):
        if course.sheet.has(f"{what}_ties"):
            parts.append(
                (
                    f"the {what} value, <{what}>, is reached in <{what}_ties> {words.en}s, "
                    f"first {words.preposition} <{what}_period>",
                    f"{zh}值<{what}>出现在<{what}_ties>{words.counted}，最早为<{what}_period>",
                )
            )
        else:
            parts.append(
                (
                    f"the {what} {words.en} is <{what}_period> with <{what}>",
                    f"{zh}的{words.zh}是<{what}_period>（<{what}>）",
                )
            )
    (high_en, high_zh), (low_en, low_zh) = parts
    if not course.sheet.has("highest_ties") and not course.sheet.has("lowest_ties"):
        low_en = "the lowest <lowest_period> with <lowest>"
        low_zh = "最低的是<lowest_period>（<lowest>）"
        return f"T{high_en[1:]}, {low_en}", f"{high_zh}，{low_zh}"
    return f"T{high_en[1:]}; {low_en}", f"{high_zh}；{low_zh}"


def _average(course: Course) -> tuple[str, str]:
    """Add the average and say over how many periods it is, and which."""
    value, rows = (identifier(name) for name in course.timeline.names[1:3])
    mean = course.timeline.measure.again("mean", value)
    for what, sql, unit, en, zh in (
        ("averaged", "count(*)", "", "periods in the average", "计入平均的周期数"),
        (
            "average",
            mean,
            course.timeline.measure.unit,
            "average of the complete periods with rows",
            "完整且有记录的周期的平均值",
        ),
    ):
        course.sheet.add(
            what,
            course.label(en, zh),
            sql,
            course.source,
            where=f"WHERE {_is_filled(course)}",
            rows=f"sum({rows})",
            unit=unit,
        )
    is_cut = course.timeline.first_is_partial or course.timeline.last_is_partial
    has_gaps = len(course.filled) < len(course.usable)
    whole_en, rows_en = "complete " if is_cut else "", " with rows" if has_gaps else ""
    named_zh = "且".join(["完整"] * is_cut + ["有记录"] * has_gaps)
    which_zh = f"{named_zh}的" if named_zh else ""
    words = course.words
    return (
        f"the average of the <averaged> {whole_en}{words.en}s{rows_en} is <average>",
        f"{which_zh}<averaged>{words.counted}平均为<average>",
    )


def _steadiness(course: Course) -> list[Note]:
    """Tell in how many steps it rose or fell, if most of at least six go one way."""
    if len(course.filled) < len(course.usable):
        return []  # a step into a gap is no fall
    values = [point.value or 0 for point in course.usable]
    steps = [after - before for before, after in pairwise(values)]
    for verb_en, verb_zh, sign, count in (
        ("rose", "上升", ">", sum(step > 0 for step in steps)),
        ("fell", "下降", "<", sum(step < 0 for step in steps)),
    ):
        if len(steps) >= 6 and count >= _STEADY * len(steps):
            return [_steady(course, verb_en, verb_zh, sign)]
    return []


def _steady(course: Course, verb_en: str, verb_zh: str, sign: str) -> Note:
    period, value, rows, _ = (identifier(name) for name in course.timeline.names)
    where = f"WHERE {course.between(course.usable)} AND {value} IS NOT NULL"
    source = course.source.derive(
        f"SELECT {value} - lag({value}) OVER (ORDER BY {period}) AS step, {rows} AS rows", where
    )
    for what, condition, en, zh in (
        ("moved", f"step {sign} 0", f"steps in which it {verb_en}", f"{verb_zh}的次数"),
        ("steps", "step IS NOT NULL", "steps from one period to the next", "相邻周期的比较次数"),
    ):
        course.sheet.add(
            what,
            course.label(en, zh),
            f"count(*) FILTER (WHERE {condition})",
            source,
            rows="sum(rows)",
        )
    en, _ = course.words.subject(course.timeline.measure)
    return course.sheet.note(
        f"{en} {verb_en} in <moved> of <steps> steps from one {course.words.en} to the next.",
        f"{course.words.stepwise}比较<steps>次，其中<moved>次{verb_zh}。",
        **course.named,
    )
