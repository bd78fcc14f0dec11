"""Numbers of an answer, and where they may come from."""

from __future__ import annotations

import pytest

from planloom.planning.checked_answers import answer_doubt
from planloom.planning.sourced_numbers import unsourced_numbers

SALES = {
    "rows": [
        {"product": "Banana", "amount": 1234.5, "share": 0.4321},
        {"product": "Pen", "amount": 812.25, "share": 0.2843},
        {"product": "Ink", "amount": 810.4, "share": 0.2836},
    ]
}
BIG = {"revenue": 123456789.0, "orders": 48213, "rate": 0.0731}
ROWS = (
    "date,product,amount\n2024-01-03,Banana,5300\n2024-01-04,Pen,410\n"
    "2024-01-05,Banana,1200\n2024-01-06,Ink,95\n"
)
PAGE = "The bridge was opened on 14 May 1937. It is 2,737 m long; 112,000 cars cross it daily."


@pytest.mark.parametrize(
    ("source", "answer"),
    [
        (SALES, "Banana sells best with 1,234.50 dollars, 43% of all sales."),
        (SALES, "In all 2,857.15; Pen and Ink together 1,622.65; the top 2 make 71.6%."),
        (SALES, "1. Banana - 1.2 thousand\n2. Pen - 0.8 thousand"),
        (SALES, "香蕉1235元，占百分之四十三，约0.12万元；共有3种产品。"),
        (BIG, "Revenue was $123.5 million, $2,560.65 an order; 92.7% were kept."),
        (BIG, "收入1.23亿元，即12,346万元，退货率为7.3%。"),
        (ROWS, "Banana made 6,500 of 7,005, or 92.8%."),
        (ROWS, "共4行，最大值是2024年1月3日的5300。"),
        (PAGE, "It is 2.7 km long and was opened on May 14, 1937."),
    ],
)
def test_what_results_give_or_lead_to_has_a_source(source: object, answer: str) -> None:
    assert unsourced_numbers(answer, [source]) == ()


@pytest.mark.parametrize(
    ("source", "answer", "found"),
    [
        (SALES, "Pen sold 9,876,543.21 dollars, up 37% since 2019.", ("9,876,543.21", "37%")),
        (SALES, "香蕉最好：777,888元，占61%。", ("777,888", "61%")),
        (SALES, "Banana leads with 1,324.50.", ("1,324.50",)),
        (BIG, "There were 84,213 orders.", ("84,213",)),
        (ROWS, "There are 5,218 rows.", ("5,218",)),
        (PAGE, "It was opened on May 27, 1937.", ("May 27, 1937",)),
    ],
)
def test_invented_numbers_are_named(source: object, answer: str, found: tuple[str, ...]) -> None:
    assert unsourced_numbers(answer, [source]) == found


def test_the_goal_may_be_repeated() -> None:
    assert unsourced_numbers("Above 4,000: none.", [SALES], ["Sales above 4,000?"]) == ()


def test_answers_without_files_and_numbers_to_compare_with_are_not_doubted() -> None:
    assert answer_doubt("42", [], said="17 plus 25", has_files=False) is None
    assert answer_doubt("42 and 99", ["no number"], said="?", has_files=False) is None


def test_the_doubt_names_the_numbers_in_both_languages() -> None:
    doubt = answer_doubt("It was 777,888.", [SALES], said="?", has_files=True)
    assert doubt is not None
    assert doubt.text("en") == "The answer states numbers that no result gives: 777,888"
    assert doubt.text("zh") == "答案中有结果未给出的数字：777,888"


@pytest.mark.parametrize(
    "odd", [[2**2000, 41], [1e308, 1e308, 41], [float("nan"), 41, float("inf")], {"a": [10**400]}]
)
def test_numbers_beyond_all_measure_do_no_harm(odd: object):
    assert unsourced_numbers("It is 41,234.", [odd, 41234]) == ()
    assert unsourced_numbers("It is 99,999.", [odd]) == ("99,999",)
