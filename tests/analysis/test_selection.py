from pathlib import Path

import pytest

from planloom.analysis.database import connect, write_table
from planloom.analysis.selection import Condition, select_rows
from planloom.errors import ToolError
from planloom.values import TableRef


@pytest.fixture
def table(tmp_path: Path) -> TableRef:
    rows = """SELECT * FROM (VALUES
        ('北京', 10, DATE '2023-12-31', true), ('上海', 25, DATE '2024-01-01', false),
        ('it''s', 30, DATE '2024-12-31', true), (NULL, NULL, NULL, NULL)
    ) AS t("city x", amount, day, paid)"""
    with connect(writable=tmp_path) as connection:
        return write_table(connection, rows, tmp_path / "t.parquet", name="cleaned")


def selected(table: TableRef, tmp_path: Path, *conditions: tuple[str, str, object]) -> list[object]:
    made = [Condition(column=c, comparison=op, value=v) for c, op, v in conditions]  # pyright: ignore
    found = select_rows(table, made, out=tmp_path / "s.parquet")
    with connect(found) as connection:
        return [row[0] for row in connection.execute("SELECT amount FROM selected").fetchall()]


@pytest.mark.parametrize(
    ("condition", "amounts"),
    [
        (("city x", "=", "北京"), [10]),
        (("city x", "!=", "北京"), [25, 30, None]),
        (("city x", "in", ("北京", "it's")), [10, 30]),
        (("city x", "not in", ("北京", "上海")), [30, None]),
        (("amount", "!=", 25), [10, 30, None]),
        (("paid", "!=", True), [25, None]),
        (("amount", ">=", 25), [25, 30]),
        (("amount", "<", "25"), [10]),
        (("day", ">=", "2024-01-01"), [25, 30]),
        (("day", "<", "2024-01-01"), [10]),
        (("paid", "=", True), [10, 30]),
    ],
)
def test_rows_that_meet_a_condition_are_kept(
    condition: tuple[str, str, object], amounts: list[int], table: TableRef, tmp_path: Path
):
    assert selected(table, tmp_path, condition) == amounts


def test_all_conditions_hold_at_once(table: TableRef, tmp_path: Path):
    both = (("day", ">=", "2024-01-01"), ("amount", ">", 25))
    assert selected(table, tmp_path, *both) == [30]


def test_text_says_the_conditions_in_both_languages(table: TableRef, tmp_path: Path):
    condition = Condition(column="day", comparison=">=", value="2024-01-01")
    text = select_rows(table, [condition], out=tmp_path / "s.parquet").text
    assert text.text("en") == "Only rows where day is from 2024-01-01 on are looked at."
    assert text.text("zh") == "仅分析满足以下条件的行：day不早于2024-01-01。"


def test_text_lists_values_as_each_language_does_and_says_that_empty_cells_stay(
    table: TableRef, tmp_path: Path
):
    condition = Condition(column="city x", comparison="not in", value=("北京", "上海"))
    text = select_rows(table, [condition], out=tmp_path / "s.parquet").text
    assert text.text("en") == (
        "Only rows where city x is none of 北京, 上海 or is empty are looked at."
    )
    assert text.text("zh") == "仅分析满足以下条件的行：city x不在北京、上海之中（含空值）。"


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (("city", "=", "北京"), "Did you mean 'city x'"),
        (("amount", ">", "many"), "'many' is no number"),
        (("amount", ">", 99), r"is left\. Only rows .* are looked at\. Loosen the conditions\."),
        (("amount", "=", (1, 2)), "takes one value"),
        (("amount", "=", None), "compares with nothing"),
    ],
)
def test_wrong_condition_is_refused_with_its_mend(
    condition: tuple[str, str, object], message: str, table: TableRef, tmp_path: Path
):
    with pytest.raises(ToolError, match=message):
        selected(table, tmp_path, condition)
