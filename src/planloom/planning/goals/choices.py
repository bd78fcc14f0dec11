"""What is taken when a goal leaves it open: the main measure, the time column, the categories."""

from __future__ import annotations

from datetime import date

from planloom.notes import Scalar
from planloom.planning.goals.columns import MOST_CATEGORIES, ColumnIndex
from planloom.planning.goals.intent import ColumnShape, Grain, Measure

# Weights are set so that meaning outweighs hints in the name, and both outweigh the order.
_MEANING_WEIGHTS = {"money": 3.0, "measure": 2.0, "percent": 0.5}
_FAMILY_WEIGHTS = {
    "sales": 3.0, "profit": 1.0, "quantity": 1.0, "cost": 1.0, "salary": 1.0, "stock": 0.5,
    "satisfaction": 1.0, "score": 0.5, "age": -0.5, "budget": -0.5, "tax": -2.0,
    "discount": -2.0, "price": -1.0,
}  # fmt: skip
_AVERAGED_PENALTY = -1.5
_TOTAL_BONUS = 1.0
_LATER_WORDS = ("ship", "deliver", "close", "end", "due", "update", "modif", "birth", "expir",
                "discharge", "return", "resolv", "发货", "出院", "结束", "更新", "修改", "出生",
                "关闭", "到期", "完成", "收货", "送达", "退货")  # fmt: skip
_FEW_PERIODS_DAYS = {"day": 45, "week": 180, "month": 366 * 4, "quarter": 366 * 10}


def main_measure(index: ColumnIndex, *, unwanted: frozenset[str] = frozenset()) -> Measure:
    """Return the measure a report on the table is about; rows are counted when it has none."""
    best: tuple[float, str] | None = None
    for i, (name, column) in enumerate(index.columns.items()):
        if index.roles[name] != "measure" or name in unwanted or column.distinct < 2:
            continue
        score = _measure_score(index, column) - 0.01 * i
        if best is None or score > best[0]:
            best = (score, name)
    if best is None:
        return Measure(column=None, how="count")
    return Measure(column=best[1], how="mean" if index.averages(best[1]) else "sum")


def _measure_score(index: ColumnIndex, column: ColumnShape) -> float:
    score = _MEANING_WEIGHTS.get(column.meaning, 0.0) + _coverage(index, column)
    score += sum(_FAMILY_WEIGHTS.get(family, 0.0) for family in index.families(column.name))
    score += _AVERAGED_PENALTY if index.averages(column.name) else 0.0
    has_total = any(word in column.name.lower() for word in ("total", "总", "合计"))
    return score + (_TOTAL_BONUS if has_total else 0.0)


def main_date(index: ColumnIndex) -> str | None:
    """Return the time column with the most values, the start of a matter before its end."""
    best: tuple[float, str] | None = None
    for i, (name, column) in enumerate(index.columns.items()):
        role = index.roles[name]
        if role not in ("date", "year") or column.distinct < 1:
            continue
        is_late = any(word in name.lower() for word in _LATER_WORDS)
        score = _coverage(index, column) - 0.3 * is_late - 0.5 * (role == "year") - 0.01 * i
        if best is None or score > best[0]:
            best = (score, name)
    return best[1] if best else None


def main_categories(
    index: ColumnIndex, *, unwanted: frozenset[str] = frozenset()
) -> tuple[str, ...]:
    """Return the columns that groups of rows are best told apart by, best first."""
    scored = [
        (-_category_score(index, column) + 0.02 * i, i, name)
        for i, (name, column) in enumerate(index.columns.items())
        if index.roles[name] == "category"
        and name not in unwanted
        and 2 <= column.distinct <= MOST_CATEGORIES
        and column.distinct < index.table.rows
    ]
    return tuple(name for _, _, name in sorted(scored))


def _category_score(index: ColumnIndex, column: ColumnShape) -> float:
    # A dozen groups can be told apart in a chart; two say little.
    score = 2.0 if 3 <= column.distinct <= 12 else 1.0 if column.distinct <= 20 else 0.5
    score += {"category": 0.5, "place": 0.5, "name": -0.3, "flag": -0.5}.get(column.meaning, 0.0)
    return score + _coverage(index, column)


def ranking_category(index: ColumnIndex, share: str | None, unwanted: frozenset[str]) -> str | None:
    """Return a column worth a ranking: another one than `share`, with more values if there is."""
    others = [name for name in main_categories(index, unwanted=unwanted) if name != share]
    more = [name for name in others if index.columns[name].distinct >= 6]
    return (more or others or [share])[0]


def _coverage(index: ColumnIndex, column: ColumnShape) -> float:
    return 1.0 - column.missing / index.table.rows if index.table.rows else 0.0


def fitting_grain(column: ColumnShape) -> Grain:
    """Return the period that gives a line neither too few points nor too many to read."""
    if column.meaning == "year" and column.type in ("integer", "number"):
        return "year"
    first, last = _day(column.min), _day(column.max)
    if first is None or last is None:
        return "month"
    days = (last - first).days
    if days <= _FEW_PERIODS_DAYS["day"]:
        return "day"
    if days <= _FEW_PERIODS_DAYS["week"]:
        return "week"
    if days <= _FEW_PERIODS_DAYS["month"]:
        return "month"
    return "quarter" if days <= _FEW_PERIODS_DAYS["quarter"] else "year"


def _day(value: Scalar) -> date | None:
    try:
        return date.fromisoformat(str(value)[:10])
    except ValueError:
        return None
