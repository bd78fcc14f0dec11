"""What is calculated of a column, as SQL and in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import duckdb

from planloom.analysis.analyses.columns import find_column, find_measure
from planloom.analysis.analyses.fact_ids import segment
from planloom.analysis.analyses.labels import display_name, sentence_case
from planloom.analysis.database import identifier
from planloom.errors import ToolError
from planloom.notes import Note
from planloom.values import Column, TableRef

How = Literal["sum", "mean", "median", "min", "max", "count", "count_distinct"]
"""Statistics over the rows that have a value.

sum, min, max: as they say. mean: the arithmetic mean. median: the middle value, or the mean of
the two middle ones. count: how many rows have a value. count_distinct: how many different values.
"""

_SQL: dict[How, str] = {
    "sum": "sum({x})", "mean": "avg({x})", "median": "median({x})", "min": "min({x})",
    "max": "max({x})", "count": "count({x})", "count_distinct": "count(DISTINCT {x})",
}  # fmt: skip
# Binary floating point is summed with compensation (Kahan), so that the order of the rows, which
# threads change, does not reach the shown digits; integers and decimals are exact as they are.
_FLOAT_SQL: dict[How, str] = {"sum": "fsum({x})", "mean": "favg({x})"}
_WORDS: dict[How, tuple[str, str]] = {
    "sum": ("{value}", "{value}"),
    "mean": ("average {value}", "平均{value}"),
    "median": ("median {value}", "{value}中位数"),
    "min": ("lowest {value}", "{value}最小值"),
    "max": ("highest {value}", "{value}最大值"),
    "count": ("number of rows with {value}", "有{value}的记录数"),
    "count_distinct": ("number of different {value} values", "{value}去重数"),
}
_ROWS_WORDS = ("number of rows", "记录数")
_RATE_WORDS = frozenset(
    {
        "age", "average", "avg", "mean", "percent", "percentage", "pct", "rate", "rating",
        "ratio", "score", "share", "temperature",
    }
)  # fmt: skip
_RATE_ENDINGS = ("率", "比例", "占比", "单价", "均价", "评分", "年龄", "温度", "百分比")


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A statistic of a column, or the count of rows."""

    column: Column | None
    """None: rows are counted, whatever they hold."""
    how: How
    is_float: bool = False
    """The column is kept in binary floating point."""
    is_finite: bool = True
    """The column holds no NaN and no infinity; those count as missing."""

    def sql(self, item: str) -> str:
        """Return the aggregate over the SQL expression `item`."""
        return "count(*)" if self.column is None else self.again(self.how, item)

    def again(self, how: How, item: str) -> str:
        """Return another aggregate, over values of this measure."""
        template = _FLOAT_SQL.get(how) if self.is_float else None
        return (template or _SQL[how]).format(x=item)

    @property
    def item(self) -> str:
        """The SQL expression of the base table that is aggregated."""
        if self.column is None:
            return "1"
        name = identifier(self.column.name)
        return name if self.is_finite else f"CASE WHEN isfinite({name}) THEN {name} END"

    @property
    def is_additive(self) -> bool:
        """The values of groups add up to the value of the whole."""
        return self.how in {"sum", "count"}

    @property
    def name(self) -> str:
        """The name of the result column."""
        return "rows" if self.column is None else self.column.name

    @property
    def unit(self) -> str:
        """The unit of the result: that of the column, and "" for counts."""
        is_count = self.column is None or self.how in {"count", "count_distinct"}
        return "" if is_count or self.column is None else self.column.unit

    @property
    def en(self) -> str:
        """The English noun phrase, a template over `{value}`."""
        return (_ROWS_WORDS if self.column is None else _WORDS[self.how])[0]

    @property
    def zh(self) -> str:
        """The Chinese noun phrase, a template over `{value}`."""
        return (_ROWS_WORDS if self.column is None else _WORDS[self.how])[1]

    @property
    def args(self) -> dict[str, str | int | float]:
        """The argument of the noun phrases."""
        return {} if self.column is None else {"value": display_name(self.column.name)}

    @property
    def id_part(self) -> str:
        """The segment of fact ids that says what is calculated."""
        if self.column is None:
            return "rows"
        part = segment(self.column.name)
        return part if self.how == "sum" else f"{part}-{self.how}"

    def heading(self) -> Note:
        """Return what the result column is called."""
        return titled(self.en, self.zh, self.args)


def titled(en: str, zh: str, args: Mapping[str, str | int | float]) -> Note:
    """Return a note whose English text begins with a capital letter.

    >>> titled("{value} by month", "每月{value}", {"value": "net sales"}).text("en")
    'Net sales by month'
    """
    if not en.startswith("{value}"):
        return Note(sentence_case(en), zh, args)
    capital = sentence_case(str(args["value"]))
    return Note(en.replace("{value}", "{Value}", 1), zh, {**args, "Value": capital})


def find_aggregate(
    connection: duckdb.DuckDBPyConnection, table: TableRef, value: str | None, how: How
) -> Measure:
    """Return the statistic `how` of the column `value`; without a value, the count of rows.

    Raises:
        ToolError: there is no such column or statistic, or they do not go together.
    """
    if how not in get_args(How):
        raise ToolError(f"how='{how}' is unknown. Use one of: {', '.join(get_args(How))}.")
    if value is None:
        if how not in {"sum", "count"}:
            raise ToolError(f"how='{how}' needs a value column. Name one, or count rows.")
        return Measure(column=None, how="count")
    counts = how in {"count", "count_distinct"}
    column = find_column(table, value) if counts else find_measure(table, value)
    name, base = identifier(column.name), identifier(table.name)
    described = connection.execute(f"DESCRIBE SELECT {name} FROM {base}").fetchall()
    if described[0][1] not in {"DOUBLE", "FLOAT"}:
        return Measure(column=column, how=how)
    odd = connection.execute(f"SELECT 1 FROM {base} WHERE NOT isfinite({name}) LIMIT 1").fetchall()
    return Measure(column=column, how=how, is_float=True, is_finite=not odd)


def is_rate(column: Column) -> bool:
    """Tell whether unit or name say that a sum of the values means nothing, as for percentages.

    >>> is_rate(Column(name="discount_rate", type="number"))
    True
    >>> is_rate(Column(name="amount", type="number", unit="$"))
    False
    """
    words = column.name.casefold().replace("_", " ").split()
    unit_price = words[-2:] == ["unit", "price"]
    return (
        column.unit == "%"
        or unit_price
        or not _RATE_WORDS.isdisjoint(words)
        or column.name.endswith(_RATE_ENDINGS)
    )
