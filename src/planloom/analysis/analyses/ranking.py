"""Which categories come first by a measure, and by how much."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from planloom.analysis.analyses.aggregation import How, find_aggregate, titled
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
from planloom.notes import Note
from planloom.values import TableRef

_TOP = 10
_FEW_ROWS = 5  # a mean or median of fewer rows says little about its group


def ranking(
    table: TableRef,
    *,
    category: str,
    value: str | None = None,
    how: How = "sum",
    top: int = _TOP,
    ascending: bool = False,
    out: Path,
) -> Analysis:
    """Return the first `top` categories by a measure, and the rest as one row.

    Without `value` rows are counted. Largest first, or smallest first when `ascending`; equal
    values stand in the order of their names, groups without a value last. Rows without a category
    are a group of their own (key NULL). The value of the rest is the measure over all its rows,
    so a mean stays a mean of rows.

    Raises:
        ToolError: a column is missing or does not fit, or `top` is below 1.
    """
    out.mkdir(parents=True, exist_ok=True)
    with connect(table, writable=out) as connection:
        measure = find_aggregate(connection, table, value, how)
        grouping = Grouping(
            base=table.name,
            category=find_column(table, category),
            measure=measure,
            top=top,
            ascending=ascending,
        )
        sheet = FactSheet(connection, prefix=_prefix(grouping), base=table.name)
        groups = keep_groups(sheet, grouping)
        result, names = _result(groups)
        return assemble(
            connection,
            result,
            out=out,
            title=_title(grouping),
            sheet=sheet,
            findings=_findings(groups),
            cautions=_cautions(groups),
            chart=_chart(groups, names),
        )


def _prefix(grouping: Grouping) -> str:
    options: list[str] = []
    if grouping.top != _TOP:
        options.append(f"top-{grouping.top}")
    if grouping.ascending:
        options.append("smallest-first")
    category, value = segment(grouping.category.name), grouping.measure.id_part
    return prefix("ranking", grouping.base, category, value, *options)


def _result(groups: Groups) -> tuple[ResultTable, ShownNames]:
    grouping = groups.grouping
    measure, category = grouping.measure, grouping.category.name
    label, value, rows = distinct_names(category, measure.name, "rows")
    names = ShownNames(label=label, value=value, rows=None if measure.how == "count" else rows)
    result = ResultTable(
        kind="ranking",
        base=grouping.base,
        query=grouping.shown(groups.count, names),
        headings={
            label: Note.same(sentence_case(display_name(category))),
            value: measure.heading(),
            rows: ROWS,
        },
        keys=(label,),
        units={value: measure.unit},
    )
    return result, names


def _title(grouping: Grouping) -> Note:
    measure = grouping.measure
    args = {**measure.args, "category": display_name(grouping.category.name)}
    order = ("lowest first", "由低到高") if grouping.ascending else ("highest first", "由高到低")
    return titled(
        f"{measure.en} by {{category}}, {order[0]}",
        f"各{{category}}的{measure.zh}（{order[1]}）",
        args,
    )


def _chart(groups: Groups, names: ShownNames) -> ChartSpec | None:
    grouping = groups.grouping
    if groups.count < 2:
        return None
    return ChartSpec(
        kind="bar",
        x=names.label,
        y=(names.value,),
        title=_title(grouping),
        x_title=Note.same(sentence_case(display_name(grouping.category.name))),
        y_title=grouping.measure.heading(),
        unit=grouping.measure.unit,
        horizontal=True,
        # The bar of all the rest together would dwarf the ranked ones.
        rows=grouping.top if grouping.shown_count(groups.count) < groups.count else 0,
    )


def _findings(groups: Groups) -> list[Note]:
    if not groups.told:
        return []
    groups.add_count()
    for what in ("top", "second", "last")[: min(groups.told, 3)]:
        groups.add_place(what)
    named = words(groups.grouping.measure, category=groups.grouping.category.name)
    if groups.told == 1:
        measure = groups.grouping.measure
        return [
            groups.sheet.note(
                f"<top_label> is the only {{category}}, with <top> ({measure.en}).",
                f"{{category}}只有<top_label>一项，{measure.zh}为<top>。",
                **named,
            )
        ]
    return [
        _leader(groups, named),
        *_solid_leader(groups, named),
        *_range(groups, named),
        *_part_of_total(groups, named),
    ]


def _leader(groups: Groups, named: Mapping[str, str]) -> Note:
    sheet, grouping = groups.sheet, groups.grouping
    measure = grouping.measure
    if groups.is_level:
        return sheet.note(
            f"The {measure.en} is the same for all <groups> ({{category}}): <top>.",
            f"全部<groups>个{{category}}的{measure.zh}相同，均为<top>。",
            **named,
        )
    first_en, first_zh = ("lowest", "最低") if grouping.ascending else ("highest", "最高")
    if groups.level_with("top") > 1:
        names_en, names_zh = groups.holders("top")
        return sheet.note(
            f"{names_en} share the {first_en} {measure.en}, with <top> each.",
            f"{names_zh}的{measure.zh}并列{first_zh}，均为<top>。",
            **named,
        )
    _add_gap(groups)
    en = f"<top_label> has the {first_en} {measure.en}, <top>"
    zh = f"<top_label>的{measure.zh}{first_zh}，为<top>"
    more_en, more_zh = ("below", "低") if grouping.ascending else ("above", "高")
    if not sheet.has("lead_pct"):
        return sheet.note(
            f"{en}, <lead> {more_en} <second_label> (<second>).",
            f"{zh}，比<second_label>（<second>）{more_zh}<lead>。",
            **named,
        )
    return sheet.note(
        f"{en}, <lead_pct> {more_en} <second_label> (<second>).",
        f"{zh}，比<second_label>（<second>）{more_zh}<lead_pct>。",
        **named,
    )


def _add_gap(groups: Groups) -> None:
    """Add the distance of the first to the second, in percent too if neither is below zero."""
    sheet, unit = groups.sheet, groups.grouping.measure.unit
    places = sheet.read(f"SELECT place FROM {groups.source.kept} {TOLD} ORDER BY place LIMIT 2")
    (first,), (second,) = places
    gap = f"abs({_at(first)} - {_at(second)})"
    where = f"WHERE place IN ({first}, {second})"
    label = groups.label("distance of the first to the second", "第一位与第二位之差")
    sheet.add("lead", label, gap, groups.source, where=where, rows="sum(rows)", unit=unit)
    if sheet.number("second") > 0 and sheet.number("top") >= 0:
        label = groups.label(
            "distance of the first to the second in percent of the second",
            "第一位与第二位之差占第二位的百分比",
        )
        sheet.add(
            "lead_pct",
            label,
            f"100 * {gap} / {_at(second)}",
            groups.source,
            where=where,
            rows="sum(rows)",
            unit="%",
        )


def _at(place: int) -> str:
    return f"CAST(max(value) FILTER (WHERE place = {place}) AS DOUBLE)"


def _solid_leader(groups: Groups, named: Mapping[str, str]) -> list[Note]:
    """Name the first group that rests on enough rows, when the first of all does not."""
    measure = groups.grouping.measure
    if measure.how not in {"mean", "median"}:
        return []
    first = groups.sheet.read(
        f"SELECT rows, place FROM {groups.source.kept} {TOLD} "
        f"ORDER BY rows < {_FEW_ROWS}, place LIMIT 1"
    )
    rows, place = first[0]
    top_rows = groups.sheet.read(
        f"SELECT rows FROM {groups.source.kept} {TOLD} ORDER BY place LIMIT 1"
    )[0][0]
    if rows < _FEW_ROWS or top_rows >= _FEW_ROWS:
        return []
    where = f"WHERE place = {place}"
    level = groups.sheet.read(
        f"SELECT count(*) FROM {groups.source.kept} {TOLD} AND rows >= {_FEW_ROWS} "
        f"AND value = (SELECT value FROM {groups.source.kept} {where})"
    )[0][0]
    label = groups.label("first {category} with enough rows", "记录数足够的首个{category}")
    groups.sheet.add("solid_label", label, "label", groups.source, where=where, rows="rows")
    label = groups.label(
        f"{measure.en} of the first with enough rows", f"该{{category}}的{measure.zh}"
    )
    groups.sheet.add(
        "solid", label, "value", groups.source, where=where, rows="rows", unit=measure.unit
    )
    if level > 1:
        texts = (
            "Leaving out groups of only a few rows, <solid_label> is among those level in first "
            "place, with <solid>.",
            "若不计记录很少的组，<solid_label>等并列居首，均为<solid>。",
        )
    else:
        texts = (
            "Leaving out groups of only a few rows, <solid_label> comes first with <solid>.",
            "若不计记录很少的组，居首的是<solid_label>，为<solid>。",
        )
    return [groups.sheet.note(*texts, **named)]


def _range(groups: Groups, named: Mapping[str, str]) -> list[Note]:
    """Tell where the other end stands, as a multiple where both ends are above zero."""
    if groups.told < 3 or groups.is_level:
        return []
    sheet, is_ascending = groups.sheet, groups.grouping.ascending
    end_en, end_zh = ("highest", "最高") if is_ascending else ("lowest", "最低")
    if groups.level_with("last") == 1:
        en = f"<last_label> is {end_en} of the <groups> ({{category}}), at <last>"
        zh = f"<groups>个{{category}}中，<last_label>{end_zh}，为<last>"
    else:
        names_en, names_zh = groups.holders("last")
        en = f"{names_en} are {end_en} of the <groups> ({{category}}), at <last> each"
        zh = f"<groups>个{{category}}中，{names_zh}并列{end_zh}，均为<last>"
    if not _add_ratio(groups):
        return [sheet.note(f"{en}.", f"{zh}。", **named)]
    if is_ascending:
        return [
            sheet.note(f"{en}, <ratio> times the lowest.", f"{zh}，是最低值的<ratio>倍。", **named)
        ]
    more_en, more_zh = "<top_label> has <ratio> times that", "<top_label>是其<ratio>倍"
    return [sheet.note(f"{en}; {more_en}.", f"{zh}；{more_zh}。", **named)]


def _add_ratio(groups: Groups) -> bool:
    """Add the highest as a multiple of the lowest, if both are above zero and it is 2 or more."""
    low, high = sorted((groups.sheet.number("top"), groups.sheet.number("last")))
    if low <= 0 or high / low < 2:
        return False
    first, last = groups.sheet.read(
        f"SELECT min(place), max(place) FROM {groups.source.kept} {TOLD}"
    )[0]
    above, below = (last, first) if groups.grouping.ascending else (first, last)
    groups.sheet.add(
        "ratio",
        groups.label("highest as a multiple of the lowest", "最高为最低的倍数"),
        f"{_at(above)} / {_at(below)}",
        groups.source,
        where=f"WHERE place IN ({first}, {last})",
        rows="sum(rows)",
        unit="times",
    )
    return True


def _part_of_total(groups: Groups, named: Mapping[str, str]) -> list[Note]:
    """Tell what part of the total the shown categories hold, if there are more than those."""
    grouping = groups.grouping
    adds_up = grouping.measure.is_additive and groups.lowest >= 0 and not grouping.ascending
    if not adds_up or grouping.shown_count(groups.count) == groups.count:
        return []
    where = f"WHERE place <= {grouping.top}"
    label = groups.label("shown {category} values", "列出的{category}数")
    groups.sheet.add("shown", label, "count(*)", groups.source, where=where, rows="sum(rows)")
    label = groups.label("share of the shown {category} values", "列出的{category}合计占比")
    share = groups.sheet.add(
        "shown_share", label, "fsum(share)", groups.source, where=where, rows="sum(rows)", unit="%"
    )
    if share is None:
        return []
    return [
        groups.sheet.note(
            "Together, the <shown> shown hold <shown_share> of the total.",
            "列出的<shown>个{category}合计占总量的<shown_share>。",
            **named,
        )
    ]


def _cautions(groups: Groups) -> list[Note]:
    measure = groups.grouping.measure
    named = words(measure, category=groups.grouping.category.name)
    return [
        *_few_rows(groups, named),
        *groups.missing_caution(named),
        *rows_without_value(measure, groups.sheet),
        *adding_rates(measure, groups.sheet),
    ]


def _few_rows(groups: Groups, named: Mapping[str, str]) -> list[Note]:
    measure, sheet = groups.grouping.measure, groups.sheet
    where = f"{TOLD} AND rows < {_FEW_ROWS} AND place <= {groups.grouping.top}"
    if measure.how not in {"mean", "median"} or not sheet.read(
        f"SELECT 1 FROM {groups.source.kept} {where} LIMIT 1"
    ):
        return []
    label = groups.label(
        "shown {category} values with few rows", "列出的{category}中记录很少的个数"
    )
    sheet.add("few", label, "count(*)", groups.source, where=where, rows="sum(rows)")
    fewest = f"{where} ORDER BY rows, place LIMIT 1"
    label = groups.label("{category} with the fewest rows", "记录最少的{category}")
    sheet.add("few_label", label, "label", groups.source, where=fewest, rows="rows")
    label = groups.label("rows of that {category}", "该{category}的记录数")
    sheet.add("few_rows", label, "rows", groups.source, where=fewest, rows="rows")
    return [
        sheet.note(
            "Only a few rows stand behind <few|group|groups> shown "
            "(<few_label>: <few_rows|row|rows>); such figures say little about the group.",
            "列出的{category}中有<few>个记录很少（如<few_label>仅<few_rows>条），其数值参考意义有限。",
            **named,
        )
    ]
