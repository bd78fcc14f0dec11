from collections.abc import Sequence
from pathlib import Path

import pytest

from planloom.analysis.database import connect, identifier, literal, write_table
from planloom.analysis.profile import profile_table
from planloom.analysis.text_values import read_text_values
from planloom.analysis.totals import TotalRow, find_total_rows
from planloom.values import TableRef

Row = Sequence[str | float | None]


def make_table(folder: Path, names: Sequence[str], rows: Sequence[Row]) -> TableRef:
    values = ", ".join(f"({', '.join(map(literal, row))})" for row in rows)
    columns = ", ".join(map(identifier, names))
    query = f"SELECT * FROM (VALUES {values}) AS t({columns})"
    with connect(writable=folder) as connection:
        return write_table(connection, query, folder / "source.parquet", name="source")


def found_in(table: TableRef) -> tuple[TotalRow, ...]:
    profile = profile_table(table)
    return find_total_rows(table, profile, read_text_values(table, profile))


def totals(folder: Path, names: Sequence[str], rows: Sequence[Row]) -> list[tuple[int, str, bool]]:
    table = make_table(folder, names, rows)
    found = found_in(table)
    return [(each.row, each.label, each.adds_up) for each in found]


@pytest.mark.parametrize("label", ["Total", "GRAND TOTAL", "合计", "总 计", "Sum:", "—合计—"])
def test_a_grand_total_at_the_end_is_found(tmp_path: Path, label: str) -> None:
    rows = [("East", 10, 1.5), ("West", 20, 2.25), ("North", 5, 3.0), (label, 35, 6.75)]
    assert totals(tmp_path, ["region", "qty", "amount"], rows) == [(4, label, True)]


def test_subtotals_below_their_blocks_and_the_grand_total_are_found(tmp_path: Path) -> None:
    rows = [
        ("2024-01", "A", 10), ("2024-01", "B", 20), ("小计", None, 30),
        ("2024-02", "A", 7), ("2024-02", "B", 6), ("小计", None, 13),
        ("2024-03", "A", 1), ("小计", None, 1), ("总计", None, 44),
    ]  # fmt: skip
    found = totals(tmp_path, ["月份", "产品", "数量"], rows)
    assert found == [(3, "小计", True), (6, "小计", True), (8, "小计", True), (9, "总计", True)]


def test_totals_above_their_blocks_are_found(tmp_path: Path) -> None:
    rows = [("Total", 60), ("East subtotal", 30), ("East", 10), ("East", 20), ("West", 30)]
    found = totals(tmp_path, ["region", "qty"], rows)
    assert found == [(1, "Total", True), (2, "East subtotal", True)]


def test_group_totals_scattered_in_the_table_are_found(tmp_path: Path) -> None:
    rows = [
        (2020, "Male", 11), (2020, "Total", 23), (2021, "Female", 8), (2021, "Male", 9),
        (2020, "Female", 12), (2021, "Total", 17),
    ]  # fmt: skip
    found = totals(tmp_path, ["year", "sex", "count"], rows)
    assert found == [(2, "Total", True), (6, "Total", True)]


def test_the_margins_of_a_pivot_table_are_found(tmp_path: Path) -> None:
    rows = [
        ("East", "A", 1.0), ("East", "B", 2.0), ("East", "All", 3.0), ("West", "A", 4.0),
        ("West", "B", 5.5), ("West", "All", 9.5), ("All", "All", 12.5),
    ]  # fmt: skip
    found = totals(tmp_path, ["region", "product", "sales"], rows)
    assert [row for row, _, adds_up in found if adds_up] == [3, 6, 7]


def test_averages_in_a_total_row_do_not_hide_it(tmp_path: Path) -> None:
    rows = [("A", 2.5, 4, 10.0), ("B", 3.5, 2, 7.0), ("C", 1.0, 8, 8.0), ("Total", 2.33, 14, 25.0)]
    found = totals(tmp_path, ["product", "unit_price", "qty", "amount"], rows)
    assert found == [(4, "Total", True)]


def test_rounded_totals_still_add_up(tmp_path: Path) -> None:
    rows = [("A", 33.33), ("B", 33.33), ("C", 33.33), ("Total", 100.0)]
    assert totals(tmp_path, ["product", "amount"], rows) == [(4, "Total", True)]


def test_a_total_that_does_not_add_up_is_only_reported(tmp_path: Path) -> None:
    rows = [("A", 10), ("B", 20), ("C", 5), ("Total", 99)]
    assert totals(tmp_path, ["product", "qty"], rows) == [(4, "Total", False)]


def test_a_total_row_without_a_label_is_found(tmp_path: Path) -> None:
    rows = [
        ("2024-01-01", "A", 10),
        ("2024-01-02", "B", 20),
        ("2024-01-03", "B", 5),
        ("2024-01-04", "A", 7),
        ("2024-01-05", "B", 9),
        (None, None, 51),
    ]
    assert totals(tmp_path, ["date", "product", "qty"], rows) == [(6, "", True)]


def test_a_total_row_without_a_label_is_found_by_two_measures(tmp_path: Path) -> None:
    rows = [("A", 10, 2.5), ("B", 20, 4.5), ("B", 5, 1.0), (None, 35, 8.0)]
    assert totals(tmp_path, ["product", "qty", "amount"], rows) == [(4, "", True)]


@pytest.mark.parametrize("label", [None, "", "Total Energies", "Total Wine 合计超市"])
@pytest.mark.parametrize(
    ("names", "rows"),
    [
        (["store", "qty"], [("A", 60), ("B", 40), ("?", 100)]),
        (["store", "qty"], [("A", 1), ("B", 2), ("?", 3), ("A", 9), ("B", 4), ("A", 7), ("B", 6)]),
        (
            ["store", "qty", "amount"],
            [("A", 1, 9.5), ("B", 2, 8.0), ("?", 3, 4.0), ("A", 9, 2.0), ("B", 4, 1.0)],
        ),
        (
            ["store", "qty", "amount"],
            [("A", 1, 9.0), ("B", 2, 8.0), ("A", 9, 2.0), ("B", 4, 1.0), ("B", 5, 3), ("?", 21, 6)],
        ),
    ],
    ids=["few rows", "a block", "a block in one of two measures", "the whole in one of two"],
)
def test_a_sum_by_chance_makes_no_total_of_a_row_that_does_not_say_so(
    tmp_path: Path, label: str | None, names: list[str], rows: list[tuple[str, *tuple[float, ...]]]
) -> None:
    filled = [(label if row[0] == "?" else row[0], *row[1:]) for row in rows]
    assert totals(tmp_path, names, filled) == []


def test_names_that_hold_the_word_are_totals_of_the_whole_table(tmp_path: Path) -> None:
    rows = [(name, 10 + 3 * i) for i, name in enumerate("ABCDE")]
    rows.append(("Total of the year", sum(n for _, n in rows)))
    assert totals(tmp_path, ["store", "qty"], rows) == [(6, "Total of the year", True)]


def test_a_row_with_missing_labels_is_no_total(tmp_path: Path) -> None:
    rows = [
        ("2024-01-01", "A", 10),
        ("2024-01-02", "B", 20),
        (None, None, 5),
        ("2024-01-03", "B", 35),
    ]
    assert totals(tmp_path, ["date", "product", "qty"], rows) == []


@pytest.mark.parametrize(
    "names",
    [
        ["Total Energies", "Shell", "BP", "Total Wine"],
        ["Corn Total", "Oats", "Rye", "Sumatra"],
        ["合计科技有限公司", "汇总软件", "东方", "总统"],
        ["Totally Nuts", "Assume", "Summer", "All Bran"],
    ],
)
def test_names_that_hold_the_word_are_no_totals(tmp_path: Path, names: list[str]) -> None:
    rows = [(name, 10.5 * (i + 1), i + 3) for i, name in enumerate(names)]
    assert totals(tmp_path, ["company", "sales", "staff"], rows) == []


def test_a_company_called_total_is_kept(tmp_path: Path) -> None:
    companies = ["Shell", "Total", "BP", "Total"] * 6
    rows = [(name, 3 + (i * 7) % 11, 100.5 + (i * 37) % 91) for i, name in enumerate(companies)]
    found = totals(tmp_path, ["company", "barrels", "amount"], rows)
    assert found
    assert not any(adds_up for _, _, adds_up in found)


def test_the_grand_total_counts_a_company_called_total(tmp_path: Path) -> None:
    rows = [("Shell", 10), ("Total", 25), ("BP", 7), ("Total", 30), ("Eni", 4), ("Grand total", 76)]
    found = totals(tmp_path, ["company", "barrels"], rows)
    assert found == [(2, "Total", False), (4, "Total", False), (6, "Grand total", True)]


def test_labels_and_names_cannot_break_out_of_the_sql(tmp_path: Path) -> None:
    names = ['a"; DROP TABLE x; --', "q'ty"]
    rows = [("x' OR 1=1 --", 1), ('"; SELECT 1', 2), ("合计", 3)]
    assert totals(tmp_path, names, rows) == [(3, "合计", True)]


def test_totals_name_the_column_of_their_label(tmp_path: Path) -> None:
    table = make_table(tmp_path, ["a", "b", "n"], [("x", "u", 1), ("y", "v", 2), ("z", "Total", 3)])
    found = found_in(table)
    assert found == (TotalRow(3, "b", "Total", adds_up=True),)


def test_last_row_that_says_only_total_and_nearly_adds_up_is_taken(tmp_path: Path) -> None:
    rows = [(f"id{i}", "East" if i % 2 else "West", 10.0 + i) for i in range(40)]
    total = sum(row[2] for row in rows) * 1.01  # one order more than the reader could take in
    table = make_table(tmp_path, ["id", "region", "amount"], [*rows, ("Total", None, total)])
    assert [(each.row, each.adds_up, each.is_near) for each in found_in(table)] == [
        (41, True, True)
    ]


@pytest.mark.parametrize(
    ("factor", "region", "place"),
    [(1.3, None, 40), (1.01, "East", 40), (1.01, None, 20)],
    ids=["far off", "says more", "in the middle"],
)
def test_total_that_does_not_add_up_is_left_otherwise(
    tmp_path: Path, factor: float, region: str | None, place: int
) -> None:
    rows: list[Row] = [(f"id{i}", "East" if i % 2 else "West", 10.0 + i) for i in range(40)]
    total = sum(10.0 + i for i in range(40)) * factor
    rows.insert(place, ("Total", region, total))
    table = make_table(tmp_path, ["id", "region", "amount"], rows)
    assert [(each.row, each.adds_up) for each in found_in(table)] == [(place + 1, False)]
