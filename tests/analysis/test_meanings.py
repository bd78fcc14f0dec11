from collections.abc import Sequence

import pytest

from planloom.analysis.meanings import Evidence, meaning_of
from planloom.notes import Scalar
from planloom.values import Column, ColumnType


def meaning(name: str, kind: ColumnType, values: Sequence[Scalar], unit: str = "") -> str:
    numbers = [float(each) for each in values if isinstance(each, int | float)]
    evidence = Evidence(
        rows=len(values), present=len(values), distinct=len(set(values)),
        low=min(numbers, default=None), high=max(numbers, default=None), sample=values,
    )  # fmt: skip
    return meaning_of(Column(name=name, type=kind, unit=unit), evidence)


CITIES = ["Beijing", "Shanghai", "Beijing", "Shanghai"] * 10
MANY = list(range(100, 140))


@pytest.mark.parametrize(
    ("name", "kind", "values", "expected"),
    [
        ("order_id", "integer", MANY, "id"), ("OrderID", "integer", MANY, "id"),
        ("订单编号", "integer", MANY, "id"), ("客户编号", "text", ["C01", "C02"] * 9, "id"),
        ("invoice_no", "text", ["A1", "A2", "A3"], "id"), ("", "integer", MANY, "id"),
        ("number_of_orders", "integer", MANY, "measure"), ("人数", "integer", MANY, "measure"),
        ("Number", "integer", [3, 5, 3, 4] * 5, "measure"),
        ("year", "integer", [2019, 2020, 2021], "year"), ("年份", "integer", [2019, 2020], "year"),
        ("year", "integer", [1, 2, 3], "measure"),
        ("years_employed", "integer", [1, 2, 3], "measure"),
        ("amount", "number", [1.5, 2.5], "money"), ("销售额", "integer", [10, 20], "money"),
        ("单价", "number", [1.5, 2.5], "money"), ("sales_quantity", "integer", MANY, "measure"),
        ("销量", "integer", MANY, "measure"), ("growth_rate", "number", [0.1, 0.2], "percent"),
        ("占比", "number", [10.0, 20.0], "percent"), ("is_member", "integer", [0, 1, 1], "flag"),
        ("会员", "text", ["是", "否", "是"], "flag"), ("active", "text", ["Yes", "no"], "flag"),
        ("month", "integer", [1, 2, 3] * 9, "category"), ("month", "text", ["Jan"] * 9, "category"),
        ("city", "text", CITIES, "place"), ("城市", "text", CITIES, "place"),
        ("product", "text", ["Tea", "Milk", "Tea"] * 9, "category"),
        ("customer_name", "text", ["Ann Lee", "Bo Li"], "name"), ("姓名", "text", ["王芳"], "name"),
        ("product_name", "text", ["Tea", "Milk", "Tea"] * 9, "category"),
        ("contact", "text", ["a@b.com", "c@d.org"], "email"),
        ("手机", "text", ["13812345678", "13987654321"], "phone"),
        ("手机号", "integer", [13812345678, 13987654321], "phone"),
        ("link", "text", ["https://a.example/x", "http://b.example"], "url"),
        ("comment", "text", [f"It was fine, visit {i}" for i in range(40)], "text"),
        ("temperature", "number", [20.5, 21.0], "measure"),
        ("done", "boolean", [True, False], "flag"), ("day", "date", ["2024-01-01"], "date"),
    ],
)  # fmt: skip
def test_the_meaning_follows_from_name_type_and_values(
    name: str, kind: ColumnType, values: Sequence[Scalar], expected: str
) -> None:
    assert meaning(name, kind, values) == expected


@pytest.mark.parametrize(
    ("unit", "expected"), [("¥", "money"), ("%", "percent"), ("kg", "measure")]
)
def test_a_unit_decides(unit: str, expected: str) -> None:
    assert meaning("value", "number", [1.0, 2.0], unit) == expected


def test_numbers_that_count_the_rows_are_no_measure() -> None:
    column = Column(name="respondent", type="integer")
    assert meaning_of(column, Evidence(40, 40, 40, 1, 40, (1, 2, 3))) == "id"
    assert meaning_of(column, Evidence(40, 40, 39, 1, 40, (1, 2, 3))) == "measure"
    assert meaning_of(column, Evidence(3, 3, 3, 1, 3, (1, 2, 3))) == "measure"
