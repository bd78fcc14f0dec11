"""What part of the whole each category has."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from planloom.analysis.analyses.aggregation import Measure, find_aggregate, titled
from planloom.analysis.analyses.assembly import ResultTable, assemble
from planloom.analysis.analyses.columns import find_column
from planloom.analysis.analyses.fact_ids import prefix, segment
from planloom.analysis.analyses.fact_sheet import FactSheet
from planloom.analysis.analyses.group_facts import TOLD, Groups, keep_groups
from planloom.analysis.analyses.grouping import Grouping, ShownNames
from planloom.analysis.analyses.labels import ROWS, display_name, sentence_case
from planloom.analysis.analyses.naming import distinct_names
from planloom.analysis.analyses.remarks import adding_rates, rows_without_value, words
from planloom.analysis.database import connect
from planloom.analysis.results import Analysis, ChartSpec
from planloom.errors import ToolError
from planloom.notes import Note
from planloom.values import TableRef

_TOP = 7
_MOST_SLICES = 5  # a donut with more slices is hard to read
_MOST_PERCENT = 80  # "the first few" hold this much, if they are at most half of the categories


def share(
    table: TableRef,
    *,
    category: str,
    value: str | None = None,
    how: Literal["sum", "count"] = "sum",
    top: int = _TOP,
    out: Path,
) -> Analysis:
    """Return each category's share of the whole, in percent (0 to 100), largest first.

    The whole is the sum of `value` over all rows (how="count": the number of rows with a value;
    without `value`: of all rows). Rows without a category are a category of their own (key NULL).
    Categories beyond `top` stand in one row together. Where a category's sum is negative, or the
    whole is not above zero, parts of a whole make no sense: then there are no shares.

    Raises:
        ToolError: a column is missing or does not fit, or `how` does not add up to a whole.
    """
    if how not in ("sum", "count"):
        raise ToolError(
            f"how='{how}' does not add up to a whole, so there are no shares of it. "
            "Use 'sum' or 'count', or rank the categories instead."
        )
    out.mkdir(parents=True, exist_ok=True)
    with connect(table, writable=out) as connection:
        measure = find_aggregate(connection, table, value, how)
        grouping = Grouping(
            base=table.name, category=find_column(table, category), measure=measure, top=top
        )
        sheet = FactSheet(connection, prefix=_prefix(grouping), base=table.name)
        groups = keep_groups(sheet, grouping)
        _add_total(groups)
        result, names = _result(groups)
        return assemble(
            connection,
            result,
            out=out,
            title=_title(measure, category, has_shares=_has_shares(groups)),
            sheet=sheet,
            findings=_findings(groups),
            cautions=_cautions(groups),
            chart=_chart(groups, names),
        )


def _prefix(grouping: Grouping) -> str:
    options = () if grouping.top == _TOP else (f"top-{grouping.top}",)
    category, value = segment(grouping.category.name), grouping.measure.id_part
    return prefix("share", grouping.base, category, value, *options)


def _add_total(groups: Groups) -> None:
    measure = groups.grouping.measure
    groups.sheet.add(
        "total",
        titled(f"{measure.en}: total", f"{measure.zh}合计", measure.args),
        measure.sql(measure.item),
        groups.sheet.base,
        rows=f"count({measure.item})",
        unit=measure.unit,
    )


def _has_shares(groups: Groups) -> bool:
    return groups.lowest >= 0 and groups.sheet.number("total") > 0


def _result(groups: Groups) -> tuple[ResultTable, ShownNames]:
    grouping = groups.grouping
    measure, category = grouping.measure, grouping.category.name
    label, value, part, rows = distinct_names(category, measure.name, "share", "rows")
    names = ShownNames(
        label=label,
        value=value,
        share=part if _has_shares(groups) else None,
        rows=None if measure.how == "count" else rows,
    )
    headings = {
        label: Note.same(sentence_case(display_name(category))),
        value: measure.heading(),
        part: Note("Share", "占比"),
        rows: ROWS,
    }
    result = ResultTable(
        kind="share",
        base=grouping.base,
        query=grouping.shown(groups.count, names),
        headings=headings,
        keys=(label,),
        units={value: measure.unit, part: "%"},
    )
    return result, names


def _title(measure: Measure, category: str, *, has_shares: bool) -> Note:
    args = {**measure.args, "category": display_name(category)}
    if not has_shares:
        return titled(f"{measure.en} by {{category}}", f"各{{category}}的{measure.zh}", args)
    en = "rows" if measure.column is None else measure.en
    return titled(f"Share of {en} by {{category}}", f"各{{category}}的{measure.zh}占比", args)


def _chart(groups: Groups, names: ShownNames) -> ChartSpec | None:
    grouping = groups.grouping
    shown = grouping.shown_count(groups.count)
    if shown < 2:
        return None
    measure, has_shares = grouping.measure, names.share is not None
    is_donut = has_shares and shown <= _MOST_SLICES
    drawn = names.value if is_donut or names.share is None else names.share
    return ChartSpec(
        kind="donut" if is_donut else "bar",
        x=names.label,
        y=(drawn,),
        title=_title(measure, grouping.category.name, has_shares=has_shares),
        x_title=Note.same(sentence_case(display_name(grouping.category.name))),
        y_title=Note("Share", "占比") if drawn == names.share else measure.heading(),
        unit="%" if drawn == names.share else measure.unit,
        horizontal=not is_donut,
    )


def _findings(groups: Groups) -> list[Note]:
    if not groups.told:
        return []
    has_shares = _has_shares(groups)
    groups.add_count()
    for what in ("top", "second", "last")[: min(groups.told, 3)]:
        groups.add_place(what, share=has_shares)
    named = words(groups.grouping.measure, category=groups.grouping.category.name)
    if not has_shares:
        return _extremes(groups, named)
    return [_leader(groups, named), *_concentration(groups, named), *_smallest(groups, named)]


def _leader(groups: Groups, named: Mapping[str, str]) -> Note:
    sheet = groups.sheet
    whole_en, whole_zh = _whole(groups.grouping.measure)
    en = f"<top_label> accounts for <top_share> of {whole_en} (<top> of <total>)"
    zh = f"<top_label>占{whole_zh}的<top_share>（<top>，合计<total>）"
    if groups.told == 1:
        return sheet.note(
            f"{en}; no other {{category}} is named.", f"{zh}，没有其他{{category}}。", **named
        )
    if groups.is_level:
        return sheet.note(
            f"All <groups> ({{category}}) hold the same share: <top_share> of {whole_en} each "
            "(<top> of <total>).",
            f"全部<groups>个{{category}}占比相同，各占{whole_zh}的<top_share>"
            "（<top>，合计<total>）。",
            **named,
        )
    if groups.level_with("top") > 1:
        names_en, names_zh = groups.holders("top")
        return sheet.note(
            f"{names_en} are level at the top, each with <top_share> of {whole_en} "
            "(<top> of <total>).",
            f"{names_zh}并列第一，各占{whole_zh}的<top_share>（<top>，合计<total>）。",
            **named,
        )
    return sheet.note(
        f"{en}, ahead of <second_label> with <second_share>.",
        f"{zh}，其次是<second_label>，占<second_share>。",
        **named,
    )


def _whole(measure: Measure) -> tuple[str, str]:
    if measure.column is None:
        return "all rows", "全部记录"
    if measure.how == "count":
        return "all rows with {value}", "有{value}的全部记录"
    return "total {value}", "{value}合计"


def _extremes(groups: Groups, named: Mapping[str, str]) -> list[Note]:
    measure = groups.grouping.measure
    if groups.told > 1 and groups.is_level:
        return [
            groups.sheet.note(
                f"The {measure.en} is the same for all <groups> ({{category}}): <top>.",
                f"全部<groups>个{{category}}的{measure.zh}相同，均为<top>。",
                **named,
            )
        ]
    if groups.told < 3:
        return []
    (low_en, low_zh), (high_en, high_zh) = groups.holders("last"), groups.holders("top")
    return [
        groups.sheet.note(
            f"By {{category}}, {measure.en} runs from <last> ({low_en}) to <top> ({high_en}).",
            f"按{{category}}看，{measure.zh}最低为<last>（{low_zh}），最高为<top>（{high_zh}）。",
            **named,
        )
    ]


def _concentration(groups: Groups, named: Mapping[str, str]) -> list[Note]:
    """Tell how few categories hold most; of many evenly spread ones, what the first three hold."""
    if groups.told < 5 or _is_even(groups):
        return []
    few = _fewest(groups)
    where = f"{TOLD} AND place <= {_place_of(groups, few)}"
    label = groups.label("leading {category} values", "排名靠前的{category}数")
    groups.sheet.add("few", label, "count(*)", groups.source, where=where, rows="sum(rows)")
    label = groups.label("share of the leading {category} values", "排名靠前的{category}的合计占比")
    groups.sheet.add(
        "few_share", label, "fsum(share)", groups.source, where=where, rows="sum(rows)", unit="%"
    )
    return [
        groups.sheet.note(
            "The top <few> of <groups> ({category}) together hold <few_share>.",
            "<groups>个{category}中，前<few>个合计占<few_share>。",
            **named,
        )
    ]


def _told_groups(groups: Groups) -> list[tuple[int, float]]:
    """Place and share of each group with a name, first place first."""
    return groups.sheet.read(f"SELECT place, share FROM {groups.source.kept} {TOLD} ORDER BY place")


def _fewest(groups: Groups) -> int:
    held = 0.0
    for number, (_, part) in enumerate(_told_groups(groups), start=1):
        held += part
        if held >= _MOST_PERCENT:
            return number if number <= groups.told / 2 else 3
    return 3


def _place_of(groups: Groups, number: int) -> int:
    return _told_groups(groups)[number - 1][0]


def _is_even(groups: Groups) -> bool:
    return groups.sheet.number("top_share") <= 1.25 * groups.sheet.number("last_share")


def _smallest(groups: Groups, named: Mapping[str, str]) -> list[Note]:
    """Tell the smallest share, unless a long tail makes it a trifle."""
    if groups.told < 3 or groups.is_level:
        return []
    is_even = _is_even(groups)
    if not is_even and groups.told > groups.grouping.top + 1:
        return []
    names_en, names_zh = groups.holders("last")
    is_tied = groups.level_with("last") > 1
    each, each_zh = (" each", "均") if is_tied else ("", "")
    if is_even:
        return [
            groups.sheet.note(
                f"The shares lie close together: the smallest, of {names_en}, is <last_share>"
                f"{each}.",
                f"各{{category}}占比接近，最低的{names_zh}{each_zh}为<last_share>。",
                **named,
            )
        ]
    if is_tied:
        return [
            groups.sheet.note(
                f"{names_en} have the smallest share, <last_share> each (<last>).",
                f"{names_zh}占比并列最低，均为<last_share>（<last>）。",
                **named,
            )
        ]
    return [
        groups.sheet.note(
            "<last_label> has the smallest share, <last_share> (<last>).",
            "<last_label>占比最低，为<last_share>（<last>）。",
            **named,
        )
    ]


def _cautions(groups: Groups) -> list[Note]:
    measure = groups.grouping.measure
    named = words(measure, category=groups.grouping.category.name)
    notes: list[Note] = []
    if groups.count and not _has_shares(groups):
        notes.append(_no_shares(groups, named))
    notes += groups.missing_caution(named, share=_has_shares(groups))
    return notes + rows_without_value(measure, groups.sheet) + adding_rates(measure, groups.sheet)


def _no_shares(groups: Groups, named: Mapping[str, str]) -> Note:
    if groups.lowest >= 0:
        return groups.sheet.note(
            "The total of {value} is not above zero, so shares of it cannot be given.",
            "{value}合计不大于零，无法计算占比。",
            **named,
        )
    label = groups.label("groups with a negative sum", "合计为负的组数")
    groups.sheet.add(
        "negative", label, "count(*)", groups.source, where="WHERE value < 0", rows="sum(rows)"
    )
    return groups.sheet.note(
        "By {category}, <negative|group has|groups have> a negative sum of {value}; parts "
        "of a whole make no sense then, so the sums themselves are shown instead of shares.",
        "有<negative>个{category}的{value}合计为负，此时占比没有意义，改为直接列出合计值。",
        **named,
    )
