"""How the reading of a goal is told: in words a manager reads, in English and Chinese."""

from __future__ import annotations

from collections.abc import Sequence

from planloom.notes import Note, Scalar
from planloom.planning.goals.intent import AnalysisRequest, Filter, Grain, How, Measure

_HOW_EN: dict[How, str] = {
    "sum": "total {c}", "mean": "average {c}", "median": "median {c}", "max": "highest {c}",
    "min": "lowest {c}", "count": "number of rows", "count_distinct": "number of distinct {c}",
}  # fmt: skip
_HOW_ZH: dict[How, str] = {
    "sum": "“{c}”总和", "mean": "“{c}”平均值", "median": "“{c}”中位数", "max": "“{c}”最大值",
    "min": "“{c}”最小值", "count": "行数", "count_distinct": "“{c}”去重计数",
}  # fmt: skip
_GRAIN_ZH: dict[Grain, str] = {
    "day": "日", "week": "周", "month": "月", "quarter": "季度", "year": "年",
}  # fmt: skip
_COMPARISON_ZH = {
    "=": "等于", "!=": "不等于", "<": "小于", "<=": "不超过", ">": "大于", ">=": "不低于",
    "in": "属于", "not in": "不属于",
}  # fmt: skip
_COMPARISON_EN = {
    "=": "is", "!=": "is not", "<": "is below", "<=": "is at most", ">": "is above",
    ">=": "is at least", "in": "is one of", "not in": "is none of",
}  # fmt: skip
_OF_DATES = {"<": ("is before", "早于"), ">=": ("is not before", "不早于")}
_LONGEST_QUOTE = 60


def _both(en: str, zh: str, **args: str) -> Note:
    """Return a note whose arguments may be columns and words, cut to a readable length."""
    return Note(en, zh, {name: _short(value) for name, value in args.items()})


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONGEST_QUOTE else flat[: _LONGEST_QUOTE - 1] + "…"


def _measure_words(how: How) -> tuple[str, str]:
    """Return the measure in English and in Chinese, the column still as `{measure}`."""
    return _HOW_EN[how].replace("{c}", "{measure}"), _HOW_ZH[how].replace("{c}", "{measure}")


def request_note(request: AnalysisRequest) -> Note:
    """Say which analysis will be made.

    >>> request_note(AnalysisRequest(kind="share", measure="amount", how="sum",
    ...     category="region")).text("en")
    'Share of total amount by region.'
    """
    en, zh = _measure_words(request.how)
    grain: Grain = request.grain or "month"
    named = {"measure": request.measure, "category": request.category, "by": request.by,
             "date": request.date, "grain": grain, "grain_zh": _GRAIN_ZH[grain]}  # fmt: skip
    args = {name: value for name, value in named.items() if value is not None}
    match request.kind:
        case "overview":
            return _both(f"Overview of the data, with the {en}.", f"数据概况，重点是{zh}。", **args)
        case "trend":
            split_en = ", one line for each {by}" if request.by else ""
            split_zh = "，按“{by}”分开" if request.by else ""
            return _both(
                f"Trend of {en} by {{grain}} ({{date}}){split_en}.",
                f"{zh}的走势，按{{grain_zh}}统计（“{{date}}”）{split_zh}。",
                **args,
            )
        case "share":
            return _both(
                f"Share of {en} by {{category}}.", f"各“{{category}}”在{zh}中的占比。", **args
            )
        case "ranking":
            return _ranking_note(request, en, zh, args)


def _ranking_note(request: AnalysisRequest, en: str, zh: str, args: dict[str, str]) -> Note:
    order_en, order_zh = ("lowest", "从低到高") if request.ascending else ("highest", "从高到低")
    if request.top is None:
        return _both(
            f"Comparison of {en} by {{category}}, {order_en} first.",
            f"各“{{category}}”的{zh}对比，{order_zh}排列。",
            **args,
        )
    end_zh = "最低" if request.ascending else "最高"
    return _both(
        f"The {{top}} values of {{category}} with the {order_en} {en}.",
        f"{zh}{end_zh}的 {{top}} 个“{{category}}”。",
        **args,
        top=str(request.top),
    )


def filter_note(item: Filter) -> Note:
    """Say which rows are kept."""
    en, zh = _COMPARISON_EN[item.comparison], _COMPARISON_ZH[item.comparison]
    leaves_out = item.comparison in ("!=", "not in")
    empty_en, empty_zh = (" or is empty", "（含空值）") if leaves_out else ("", "")
    if isinstance(item.value, str):
        en, zh = _OF_DATES.get(item.comparison, (en, zh))
    return _both(
        f"Only rows where {{column}} {en} {{value}}{empty_en}.",
        f"只看“{{column}}”{zh} {{value_zh}} 的数据{empty_zh}。",
        column=item.column,
        value=_value_text(item.value, ", "),
        value_zh=_value_text(item.value, "、"),
    )


def _value_text(value: Scalar | tuple[Scalar, ...], joint: str) -> str:
    return joint.join(map(str, value)) if isinstance(value, tuple) else str(value)


def word_read_as(word: str, column: str) -> Note:
    """Say that a word of the goal was taken for a column of another name."""
    return _both(
        "“{word}” was read as the column {column}.",
        "“{word}”理解为“{column}”列。",
        word=word, column=column,
    )  # fmt: skip


def nearest_taken(word: str, column: str) -> Note:
    """Say that no column fits a word exactly and which one was taken."""
    return _both(
        "No column is called “{word}”; the closest one, {column}, was used.",
        "数据中没有“{word}”列，采用了最接近的“{column}”。",
        word=word, column=column,
    )  # fmt: skip


def no_such_column(word: str, nearest: Sequence[str]) -> Note:
    """Say that the data lacks something the goal names."""
    if not nearest:
        return _both("The data holds no “{word}”.", "数据中没有“{word}”。", word=word)
    listed = list(map(_short, nearest))
    return Note(
        "The data holds no “{word}”. The nearest columns are: {nearest}.",
        "数据中没有“{word}”。最接近的列：{nearest_zh}。",
        {"word": _short(word), "nearest": ", ".join(listed), "nearest_zh": "、".join(listed)},
    )


def no_such_value(word: str) -> Note:
    """Say that a restriction names a value that was not seen."""
    return _both(
        "“{word}” was not found among the known values of the data, so nothing was filtered by it.",
        "在数据已知的取值中没有找到“{word}”，因此没有按它筛选。",
        word=word,
    )


def unclear_negation(words: str) -> Note:
    """Say that it cannot be told whether rows are to be kept or left out."""
    return _both(
        "It is not clear what “{words}” leaves out, so nothing was filtered by it.",
        "不清楚“{words}”要排除哪些数据，因此没有按它筛选。",
        words=words,
    )


def no_column_for_limit(words: str) -> Note:
    """Say that a bound on numbers names no column."""
    return _both(
        "It is not clear which column “{words}” is about, so nothing was filtered by it.",
        "不清楚“{words}”针对哪一列，因此没有按它筛选。",
        words=words,
    )


def unread_condition(words: str) -> Note:
    """Say that a condition was seen and not understood."""
    return _both(
        "The condition “{words}” was not understood, so nothing was filtered by it.",
        "没有理解“{words}”这一条件，因此没有按它筛选。",
        words=words,
    )


def no_data_in_span(words: str, date: str, first: str, last: str) -> Note:
    """Say that a span of time lies outside of the data."""
    return _both(
        "The data holds nothing for “{words}”: {date} runs from {first} to {last}. "
        "All periods are shown.",
        "数据中没有“{words}”的记录：“{date}”的范围是 {first} 至 {last}。报告使用全部时间的数据。",
        words=words, date=date, first=first, last=last,
    )  # fmt: skip


NO_DATE = Note(
    "The data has no date column, so changes over time cannot be shown.",
    "数据中没有日期列，无法分析随时间的变化。",
)
NO_CATEGORY = Note(
    "The data has no column with a few repeated values, so groups cannot be compared.",
    "数据中没有取值较少的分类列，无法进行分组比较。",
)
GENERAL = Note(
    "The goal names nothing that the data or the available analyses know; "
    "a general overview is given instead.",
    "没有从目标中识别出数据里的列或可用的分析，因此给出一份概览报告。",
)
NO_GOAL = Note(
    "No goal was given; a general overview is made.",
    "没有填写目标，因此给出一份概览报告。",
)
WIDE_GOAL = Note(
    "The goal does not say which analyses are wanted; the usual set was chosen: "
    "overview, trend, shares, ranking.",
    "目标没有指定具体分析，因此采用常用的一组：概况、趋势、占比、排名（以数据允许为限）。",
)
REPLACED = Note(
    "Since what the goal asks for cannot be made from this data, a general overview is given.",
    "目标要求的分析无法用这份数据完成，因此给出一份概览报告。",
)
GOAL_CUT = Note(
    "The goal is very long; only its beginning was read.",
    "目标文字过长，只读取了开头部分。",
)
FILTER_FOR_ALL = Note(
    "The restriction of rows holds for every analysis of the report.",
    "以上筛选条件适用于报告中的所有分析。",
)
CASES_COUNTED = Note(
    "The goal names no quantity, so shares are of the number of rows.",
    "目标没有指明指标，因此按行数计算占比。",
)
ROWS_COUNTED = Note(
    "The table has no suitable quantity column, so rows are counted.",
    "表中没有合适的数值列，因此统计行数。",
)


NO_SHARE_OF_CONDITION = Note(
    "What share of the whole meets a condition is not among the analyses yet; "
    "the rows that meet it are described instead.",
    "暂不支持计算满足条件的部分占全部的比例，改为给出满足条件的数据的概况。",
)


def no_arithmetic(first: str, second: str) -> Note:
    """Say that columns are not added to or subtracted from each other."""
    return _both(
        "Adding or subtracting columns ({first} and {second}) is not available yet; "
        "only the columns themselves are analysed.",
        "暂不支持列与列相加或相减（“{first}”与“{second}”），只能分别分析各列。",
        first=first, second=second,
    )  # fmt: skip


def mean_per_row_not_person(word: str, person: str) -> Note:
    """Say that the mean of rows stands in for one of persons."""
    return _both(
        "“{word}” is given as the mean of the rows. One {person} may have several rows; "
        "the total divided by the number of persons is not available yet.",
        "“{word}”按每条记录的平均值给出。同一“{person}”可能有多条记录，暂不支持用总额除以人数。",
        word=word, person=person,
    )  # fmt: skip


def row_is_person(word: str) -> Note:
    """Say that each row was taken as one person."""
    return _both(
        "No column tells persons apart, so “{word}” is the mean of the rows.",
        "数据中没有区分个人的列，因此“{word}”按每条记录的平均值计算。",
        word=word,
    )


def namesakes(name: str, person_id: str) -> Note:
    """Say that people of one name are put together."""
    return _both(
        "There are fewer values of {name} than of {person_id}: people with the same {name} are "
        "put together.",
        "“{name}”的取值少于“{person_id}”，存在重名；同名的人合并统计。",
        name=name, person_id=person_id,
    )  # fmt: skip


def base_year_kept(words: str, first: str) -> Note:
    """Say that the year before is kept for a comparison with it."""
    return _both(
        "A comparison with the year before needs that year, so for “{words}” the data from "
        "{first} on is kept.",
        "同比需要上一年的数据作基数，因此“{words}”的数据从 {first} 起保留。",
        words=words, first=first,
    )  # fmt: skip


def no_base_year(words: str) -> Note:
    """Say that the year before is left out since other analyses want just the year named."""
    return _both(
        "All analyses share the restriction to “{words}”, so the year before it, which a "
        "year-over-year comparison needs, is left out. Ask for the comparison alone to get it.",
        "所有分析共用“{words}”这一时间范围，不含作为同比基数的上一年。单独提出同比的目标即可得到。",
        words=words,
    )


def year_chosen(words: str, first: str, last: str) -> Note:
    """Say which year was taken for a part of a year."""
    return _both(
        "“{words}” names no year; the latest one in the data was taken, not all years: "
        "{first} to {last}.",
        "“{words}”没有指明年份，取数据中最近的一个（{first} 至 {last}），不是所有年份。",
        words=words, first=first, last=last,
    )  # fmt: skip


def pass_mark(word: str, column: str) -> Note:
    """Say where the pass mark was set."""
    return _both(
        "“{word}” was taken with a pass mark of {mark} in {column}.",
        "“{word}”以“{column}”{mark} 分为及格线。",
        word=word, column=column, mark="60",
    )  # fmt: skip


def row_is(word: str) -> Note:
    """Say that rows were counted for a word."""
    return _both(
        "Each row was taken as one of “{word}”, so rows are counted.",
        "把每一行当作一个“{word}”，因此统计行数。",
        word=word,
    )


def measure_chosen(measure: Measure) -> Note:
    """Say which measure was taken where the goal named none."""
    if measure.column is None:
        return ROWS_COUNTED
    return _both(
        "The goal names no quantity; {measure} was taken as the main one.",
        "目标没有指明指标，选用“{measure}”作为主要指标。",
        measure=measure.column,
    )


def averaged(column: str) -> Note:
    """Say why a measure is averaged instead of added up."""
    return _both(
        "{column} is averaged, because its sum would mean nothing.",
        "“{column}”求和没有意义，因此取平均值。",
        column=column,
    )


def date_chosen(column: str, others: Sequence[str]) -> Note:
    """Say which of several time columns was taken."""
    return _both(
        "Time is measured by {column}; the data also has: {others}.",
        "时间以“{column}”为准；数据中还有：{others_zh}。",
        column=column, others=", ".join(others), others_zh="、".join(others),
    )  # fmt: skip


def grain_chosen(grain: Grain) -> Note:
    """Say which period was taken, and why."""
    return Note(
        "The goal names no period; {grain} was chosen to suit the length of the data.",
        "目标没有指定时间粒度，根据数据的时间跨度按{grain_zh}统计。",
        {"grain": grain, "grain_zh": _GRAIN_ZH[grain]},
    )


def category_chosen(column: str) -> Note:
    """Say by which column groups were told apart where the goal named none."""
    return _both(
        "The goal names no grouping; {column} was chosen.",
        "目标没有指定分组方式，选用“{column}”分组。",
        column=column,
    )


def top_chosen(column: str, top: int) -> Note:
    """Say why a ranking is cut."""
    return Note(
        "{column} has many values; the ranking shows {top} of them.",
        "“{column}”的取值较多，排名只列出 {top} 个。",
        {"column": _short(column), "top": str(top)},
    )


def no_share_of_average(column: str, category: str) -> Note:
    """Say why values are compared although shares were asked for."""
    return _both(
        "Shares of {column} would mean nothing, because it is averaged; "
        "its values by {category} are compared instead.",
        "“{column}”取平均值，计算占比没有意义，改为按“{category}”比较大小。",
        column=column, category=category,
    )  # fmt: skip


def ranking_over_all_periods(grain: Grain) -> Note:
    """Say that a ranking is not repeated for each period."""
    return Note(
        "A ranking for each {grain} is not available yet; the ranking covers all of the time.",
        "暂不支持逐{grain_zh}排名，排名覆盖全部时间。",
        {"grain": grain, "grain_zh": _GRAIN_ZH[grain]},
    )
