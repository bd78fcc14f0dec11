"""Which columns tell of persons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from planloom.notes import Scalar
from planloom.planning.report_model.personal import personal_columns
from planloom.values import ColumnType


@dataclass(frozen=True, kw_only=True)
class FakeColumn:
    name: str
    meaning: str = "category"
    top: Sequence[tuple[Scalar, int]] = ()
    type: ColumnType = "text"
    unit: str = ""
    missing: int = 0
    distinct: int = 5
    min: Scalar = None
    max: Scalar = None
    is_unique: bool = False


@dataclass(frozen=True, kw_only=True)
class FakeTable:
    columns: Sequence[FakeColumn]
    rows: int = 10


def is_personal(column: FakeColumn) -> bool:
    return bool(personal_columns(FakeTable(columns=[column])))


@pytest.mark.parametrize(
    "column",
    [
        FakeColumn(name="who", meaning="name"),
        FakeColumn(name="contact", meaning="email"),
        FakeColumn(name="home_address"),
        FakeColumn(name="身份证号", meaning="id"),
        FakeColumn(name="收货地址"),
        FakeColumn(name="PassportNo"),
        FakeColumn(name="x", top=[("110101199003072316", 2), ("310101198001011234", 1)]),
        FakeColumn(name="x", top=[("a@b.org", 2)]),
        FakeColumn(name="x", top=[("138 0013 8000", 2)]),
    ],
)
def test_columns_of_persons_are_found(column: FakeColumn):
    assert is_personal(column)


@pytest.mark.parametrize(
    "column",
    [
        FakeColumn(name="city", meaning="place", top=[("Oslo", 9)]),
        FakeColumn(name="product_name", top=[("Tea", 9)]),
        FakeColumn(name="order_id", meaning="id", top=[("10001", 1)]),
        FakeColumn(name="streetcar_line"),
    ],
)
def test_other_columns_are_not(column: FakeColumn):
    assert not is_personal(column)
