"""Negations of every shape leave values out; none ever turns into keeping just them."""

from __future__ import annotations

from datetime import date

import pytest

from planloom.planning.goals.understanding import understand

TODAY = date(2024, 11, 15)


@pytest.fixture(scope="module")
def orders(make_table):
    return make_table(
        {"name": "订单编号", "meaning": "id", "distinct": 1000, "is_unique": True},
        {"name": "日期", "type": "date", "meaning": "date", "distinct": 500,
         "min": "2023-01-01", "max": "2024-12-31"},
        {"name": "城市", "distinct": 4, "top": (("北京", 9), ("上海", 5), ("无锡", 2))},
        {"name": "金额", "type": "number", "meaning": "money", "distinct": 900},
        {"name": "状态", "distinct": 3, "top": (("已完成", 9), ("退货", 5), ("取消", 3))},
    )  # fmt: skip


@pytest.fixture(scope="module")
def orders_en(make_table):
    return make_table(
        {"name": "order_id", "meaning": "id", "distinct": 1000, "is_unique": True},
        {"name": "city", "distinct": 4, "top": (("Boston", 9), ("Austin", 5), ("Denver", 3))},
        {"name": "amount", "type": "number", "meaning": "money", "distinct": 900},
        {"name": "status", "distinct": 3, "top": (("done", 9), ("returned", 5), ("lost", 3))},
    )


def filters(goal, table):
    return [(f.column, f.comparison, f.value) for f in understand(goal, table, today=TODAY).filters]


@pytest.mark.parametrize(
    "words",
    ["不含状态为退货的订单", "状态不是退货的订单", "剔除状态是退货的", "去掉状态为退货的数据",
     "只看退货以外的订单", "排除退货订单后", "不要统计退货", "非退货", "把退货订单剔除后",
     "退货除外", "退货订单不予考虑", "退货的不算", "退货订单不计入", "没有退货的订单",
     "未退货的订单", "没退货的", "状态不等于退货", "状态!=退货", "状态≠退货", "过滤掉退货",
     "扣除退货后", "退货的除外", "退货不要", "除了退货之外的订单", "除退货外", "状态并非退货",
     "不考虑退货", "不属于退货状态的订单", "退货状态的订单不看", "去除退货数据"],
)  # fmt: skip
def test_a_value_left_out_in_chinese_is_left_out(orders, words):
    for goal in (
        f"{words}，各城市金额占比",
        f"各城市金额占比，{words}",
        f"各城市金额占比（{words}）",
    ):
        found = understand(goal, orders, today=TODAY)
        assert filters(goal, orders) == [("状态", "!=", "退货")], goal
        assert [(a.kind, a.measure, a.category) for a in found.analyses] == [
            ("share", "金额", "城市")
        ], goal


@pytest.mark.parametrize(
    "words",
    ["for orders that are not returns", "everything but returned", "don't include returned orders",
     "where status isn't returned", "where status is not returned", "where status != returned",
     "where status <> returned", "orders other than returned", "returned orders excluded",
     "returned orders should not be considered", "with returned orders removed",
     "for non-returned orders", "filter out returned", "remove the returned orders",
     "without returned orders", "ignore orders with status returned", "not counting returned",
     "for orders that were never returned", "all but returned", "unless returned",
     "drop returned orders"],
)  # fmt: skip
def test_a_value_left_out_in_english_is_left_out(orders_en, words):
    assert filters(f"share of amount by city, {words}", orders_en) == [("status", "!=", "returned")]


@pytest.mark.parametrize(
    ("goal", "wanted"),
    [("取消和退货以外的订单，各城市金额占比", ("取消", "退货")),
     ("状态不为退货或取消的各城市金额占比", ("退货", "取消")),
     ("除退货、取消外各城市金额占比", ("退货", "取消"))],
)  # fmt: skip
def test_a_list_of_values_is_left_out_as_a_whole(orders, goal, wanted):
    assert filters(goal, orders) == [("状态", "not in", wanted)]


@pytest.mark.parametrize(
    "goal",
    [
        "不要排除退货，各城市金额占比",
        "过滤退货，各城市金额占比",
        "退货订单勿要，各城市金额占比",
        "排除北京的退货订单，各城市金额占比",
        "不仅看退货，各城市金额占比",
    ],
)
def test_where_it_is_unclear_nothing_is_filtered_and_it_is_said(orders, goal):
    found = understand(goal, orders, today=TODAY)

    assert ("状态", "=", "退货") not in filters(goal, orders)
    assert found.filters or any("没有按它筛选" in n.text("zh") for n in found.unknown)


@pytest.mark.parametrize(
    ("goal", "wanted"),
    [("只看退货，各城市金额占比", [("状态", "=", "退货")]),
     ("状态为退货的订单，各城市金额占比", [("状态", "=", "退货")]),
     ("无锡的金额趋势", [("城市", "=", "无锡")]),
     ("不仅看北京，也看上海，金额占比", [("城市", "in", ("北京", "上海"))]),
     ("除上海以外，还有北京，金额占比", [("城市", "in", ("上海", "北京"))]),
     ("北京金额不断下降的趋势", [("城市", "=", "北京")]),
     ("不含退货，只看北京的金额趋势", [("城市", "=", "北京"), ("状态", "!=", "退货")])],
)  # fmt: skip
def test_values_that_are_kept_stay_kept(orders, goal, wanted):
    assert filters(goal, orders) == wanted


def test_a_comma_ends_what_is_left_out(orders_en):
    goal = "amount by city except Boston, returned orders only"

    assert sorted(filters(goal, orders_en)) == [
        ("city", "!=", "Boston"), ("status", "=", "returned"),
    ]  # fmt: skip
    assert filters("sales drop in Boston by status", orders_en) == [("city", "=", "Boston")]


def test_a_value_left_out_is_told_with_what_becomes_of_empty_cells(orders):
    notes = understand("不含退货和取消，各城市金额占比", orders, today=TODAY).understood

    assert "“状态”不属于 退货、取消 的数据（含空值）" in notes[-1].text("zh")
    assert "is none of 退货, 取消 or is empty" in notes[-1].text("en")


@pytest.mark.parametrize(
    "words",
    ["for every city but Boston", "orders outside of Boston", "non-Boston", "except in Boston",
     "anything but Boston"],
)  # fmt: skip
def test_everything_else_than_a_value_leaves_it_out(orders_en, words):
    assert filters(f"amount by status, {words}", orders_en) == [("city", "!=", "Boston")]


def test_nothing_but_a_value_keeps_it(orders_en):
    assert filters("nothing but Boston, amount by status", orders_en) == [("city", "=", "Boston")]


def test_a_denied_change_says_nothing_of_the_rows(orders):
    assert filters("北京的金额没有增长吗", orders) == [("城市", "=", "北京")]


def test_what_follows_an_exclusion_is_still_asked_for(orders):
    (request,) = understand("剔除异常值后各城市金额", orders, today=TODAY).analyses

    assert (request.measure, request.category) == ("金额", "城市")
