"""Facts about the groups of a category: the first, the second, the last, and the nameless one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from planloom.analysis.analyses.aggregation import titled
from planloom.analysis.analyses.fact_sheet import FactSheet, Source
from planloom.analysis.analyses.grouping import Grouping
from planloom.analysis.analyses.labels import display_name
from planloom.analysis.database import identifier
from planloom.notes import Note

# Only groups with a name and a value are told of: "(missing) leads" is no finding.
TOLD = "WHERE label IS NOT NULL AND value IS NOT NULL"
_PLACES = {
    "top": ("first", "第一位", f"{TOLD} ORDER BY place LIMIT 1"),
    "second": ("second", "第二位", f"{TOLD} ORDER BY place LIMIT 1 OFFSET 1"),
    "last": ("last", "末位", f"{TOLD} ORDER BY place DESC LIMIT 1"),
    "before_last": ("last but one", "倒数第二位", f"{TOLD} ORDER BY place DESC LIMIT 1 OFFSET 1"),
}
_LEVEL = 1e-9  # sums of floating-point numbers that are this close, relatively, are equal


@dataclass(frozen=True, kw_only=True)
class Groups:
    """The computed groups of a category, and the sheet that collects facts about them."""

    sheet: FactSheet
    source: Source
    """Columns label, value, rows, place, share (NULL where shares mean nothing)."""
    grouping: Grouping
    count: int
    """All groups, with the nameless one."""
    told: int
    """Groups with a name and a value."""
    lowest: float
    """The smallest value of any group; 0 without groups."""

    def label(self, en: str, zh: str) -> Note:
        """Return the label of a fact; `{category}` and `{value}` stand for the columns."""
        args = {**self.grouping.measure.args, "category": display_name(self.grouping.category.name)}
        used = {name: arg for name, arg in args.items() if f"{{{name}}}" in en + zh}
        return titled(en, zh, used)

    def add_place(self, what: str, *, share: bool = False) -> None:
        """Add `<what>_label`, `<what>` (the value) and `<what>_share` of a place.

        `what` is "top", "second", "last" or "before_last"; the group has to exist.
        """
        en, zh, where = _PLACES[what]
        measure = self.grouping.measure
        parts = [
            (f"{what}_label", "label", "", f"{en} by {measure.en}", f"{measure.zh}{zh}"),
            (what, "value", measure.unit, f"{measure.en}: {en}", f"{zh}的{measure.zh}"),
        ]
        if share:
            parts.append((f"{what}_share", "share", "%", f"share of the {en}", f"{zh}的占比"))
        for name, value, unit, label_en, label_zh in parts:
            label = self.label(f"{label_en} ({{category}})", f"{label_zh}（按{{category}}）")
            self.sheet.add(name, label, value, self.source, where=where, rows="rows", unit=unit)

    def add_count(self) -> None:
        """Add `groups`: how many categories have a name and a value."""
        label = self.label("different {category} values", "{category}的类别数")
        self.sheet.add("groups", label, "count(*)", self.source, where=TOLD, rows="sum(rows)")

    def level_with(self, what: str) -> int:
        """Return how many told groups have the value of "top" or "last", itself included."""
        return int(self.sheet.read(f"SELECT {_LEVEL_COUNT[what]} FROM {self._ends.kept}")[0][0])

    @property
    def is_level(self) -> bool:
        """All told groups have the same value."""
        return self.level_with("top") == self.told

    def holders(self, what: str) -> tuple[str, str]:
        """Return who is at the "top" or "last", in words that cite facts: one, two, or more."""
        count = self.level_with(what)
        if count == 1:
            return f"<{what}_label>", f"<{what}_label>"
        first, second = (
            ("top_label", "second_label") if what == "top" else ("before_last_label", "last_label")
        )
        if what == "last":
            self.add_place("before_last")
        if count == 2:
            return f"<{first}> and <{second}>", f"<{first}>与<{second}>"
        label = self.label(
            f"further {{category}} values level with the {_PLACES[what][0]}",
            f"与{_PLACES[what][1]}并列的其他{{category}}数",
        )
        others, value = f"{what}_others", f"{_LEVEL_COUNT[what]} - 2"
        self.sheet.add(others, label, value, self._ends, rows="sum(rows)")
        return (
            f"<{first}>, <{second}> and <{others}|other|others>",
            f"<{first}>、<{second}>及另外<{others}>个{{category}}",
        )

    @property
    def _ends(self) -> Source:
        value = "CAST(value AS DOUBLE)"
        return self.source.derive(
            f"SELECT {value} AS value, rows, first_value({value}) OVER (ORDER BY place) AS top, "
            f"first_value({value}) OVER (ORDER BY place DESC) AS last",
            TOLD,
        )

    def missing_caution(self, named: Mapping[str, str], *, share: bool = False) -> list[Note]:
        """Return the caution that some rows have no category, when there are any."""
        where = "WHERE label IS NULL"
        if not self.sheet.read(f"SELECT 1 FROM {self.source.kept} {where}"):
            return []
        named_rows = self.label("rows without {category}", "缺少{category}的记录数")
        is_null = f"WHERE {identifier(self.grouping.category.name)} IS NULL"
        self.sheet.add("missing_rows", named_rows, "count(*)", self.sheet.base, where=is_null)
        label = self.label("share of rows without {category}", "缺少{category}的记录占比")
        if share:
            self.sheet.add(
                "missing_share", label, "share", self.source, where=where, rows="rows", unit="%"
            )
        texts = _MISSING_SHARE if self.sheet.has("missing_share") else _MISSING
        return [self.sheet.note(*texts, **named)]


_LEVEL_COUNT = {
    end: f"count(*) FILTER (WHERE abs(value - {end}) <= {_LEVEL} * abs({end}))"
    for end in ("top", "last")
}
_MISSING = (
    "Shown as a group of their own: <missing_rows|row|rows> without {category}.",
    "<missing_rows>条记录缺少{category}，单独列为一组。",
)
_MISSING_SHARE = (
    "Shown as a group of their own: <missing_rows|row|rows> without {category}, "
    "<missing_share> of the whole.",
    "<missing_rows>条记录缺少{category}，单独列为一组，占比<missing_share>。",
)


def keep_groups(sheet: FactSheet, grouping: Grouping) -> Groups:
    """Compute all groups of a category once."""
    source = sheet.keep(
        "SELECT label, value, rows, place, CASE WHEN min(value) OVER () >= 0 THEN "
        "100 * CAST(value AS DOUBLE) / nullif(fsum(CAST(value AS DOUBLE)) OVER (), 0) END AS share "
        f"FROM ({grouping.all_groups}) AS valued",
        "_groups",
    )
    count, told, lowest = sheet.read(
        f"SELECT count(*), count(*) FILTER ({TOLD}), min(value) FROM {source.kept}"
    )[0]
    return Groups(
        sheet=sheet, source=source, grouping=grouping, count=count, told=told,
        lowest=float(lowest or 0),
    )  # fmt: skip
