"""Conditions, sums, periods and persons that a goal leaves in doubt are said, never dropped."""

from __future__ import annotations

from datetime import date

import pytest

from planloom.planning.goals.understanding import understand

TODAY = date(2026, 11, 15)


def words(notes, lang="zh"):
    return " ".join(note.text(lang) for note in notes)


def filters(found):
    return [(f.column, f.comparison, f.value) for f in found.filters]


@pytest.fixture(scope="module")
def sales(make_table):
    return make_table(
        {"name": "销售日期", "type": "date", "meaning": "date", "distinct": 500,
         "min": "2023-01-01", "max": "2025-04-29"},
        {"name": "大区", "distinct": 4}, {"name": "销售员", "meaning": "name", "distinct": 12},
        {"name": "销售额", "type": "number", "meaning": "money", "distinct": 500},
        {"name": "运费", "type": "number", "meaning": "money", "distinct": 90},
    )  # fmt: skip


@pytest.fixture(scope="module")
def scores(make_table):
    return make_table(
        {"name": "学号", "meaning": "id", "distinct": 60, "is_unique": True},
        {"name": "姓名", "meaning": "name", "distinct": 50}, {"name": "班级", "distinct": 3},
        {"name": "数学", "type": "integer", "meaning": "measure", "distinct": 40},
        {"name": "总分", "type": "integer", "meaning": "measure", "distinct": 40},
        rows=60,
    )  # fmt: skip


@pytest.fixture(scope="module")
def clinic(make_table):
    return make_table(
        {"name": "科室", "distinct": 5}, {"name": "患者ID", "meaning": "id", "distinct": 300},
        {"name": "年龄", "type": "integer", "meaning": "measure", "distinct": 80},
        {"name": "药费", "type": "number", "meaning": "money", "distinct": 500},
    )  # fmt: skip


@pytest.fixture(scope="module")
def devices(make_table):
    return make_table(
        {"name": "时间", "type": "datetime", "meaning": "date", "distinct": 900,
         "min": "2024-01-01", "max": "2024-03-31"},
        {"name": "设备编号", "meaning": "id", "distinct": 6}, {"name": "车间", "distinct": 3},
        {"name": "温度", "type": "number", "meaning": "measure", "unit": "℃", "distinct": 300},
    )  # fmt: skip


@pytest.mark.parametrize("goal", ["2024年每月销售额同比", "monthly 销售额 year over year in 2024"])
def test_a_comparison_with_the_year_before_keeps_that_year(sales, goal):
    found = understand(goal, sales, today=TODAY)

    assert filters(found) == [("销售日期", ">=", "2023-01-01"), ("销售日期", "<", "2025-01-01")]
    assert "2023-01-01 起保留" in words(found.assumptions)


def test_a_base_year_is_not_added_to_other_analyses(sales):
    found = understand("2024年销售额同比，以及各大区销售额占比", sales, today=TODAY)

    assert ("销售日期", ">=", "2024-01-01") in filters(found)
    assert "同比" in words(found.unknown)


def test_two_years_set_side_by_side_stay_as_they_are(sales):
    found = understand("2024年和2023年销售额同比", sales, today=TODAY)

    assert filters(found) == [("销售日期", ">=", "2023-01-01"), ("销售日期", "<", "2025-01-01")]


@pytest.mark.parametrize(
    ("goal", "first", "end"),
    [("上半年各大区销售额", "2025-01-01", "2025-07-01"),
     ("下半年各大区销售额", "2024-07-01", "2025-01-01"),
     ("H2销售额按大区", "2024-07-01", "2025-01-01"),
     ("Q1各大区销售额", "2025-01-01", "2025-04-01"),
     ("第一季度各大区销售额", "2025-01-01", "2025-04-01"),
     ("三季度各大区销售额", "2024-07-01", "2024-10-01"),
     ("前三季度各大区销售额", "2025-01-01", "2025-10-01"),
     ("first half 销售额 by 大区", "2025-01-01", "2025-07-01"),
     ("second quarter 销售额 by 大区", "2025-04-01", "2025-07-01")],
)  # fmt: skip
def test_a_part_of_a_year_without_the_year_is_the_latest_and_said(sales, goal, first, end):
    found = understand(goal, sales, today=TODAY)

    assert filters(found) == [("销售日期", ">=", first), ("销售日期", "<", end)]
    assert "没有指明年份" in words(found.assumptions)
    assert not found.unknown
    assert [a.kind for a in found.analyses] == ["ranking"]


def test_a_part_of_a_year_takes_the_year_that_the_goal_names(sales):
    found = understand("2024年前三季度各大区销售额", sales, today=TODAY)

    assert ("销售日期", "<", "2024-10-01") in filters(found)
    assert ("销售日期", ">=", "2024-01-01") in filters(found)


def test_a_column_named_like_a_period_is_the_column(make_table):
    table = make_table(
        {"name": "门店", "distinct": 8},
        {"name": "12月", "type": "number", "meaning": "money", "distinct": 8},
        {"name": "日期", "type": "date", "meaning": "date", "min": "2024-01-01",
         "max": "2024-12-31"},
    )  # fmt: skip

    assert understand("12月各门店排名", table, today=TODAY).filters == ()


@pytest.mark.parametrize(
    "goal",
    ["每台设备温度的每天变化趋势", "各台设备每天的温度", "每一台设备每日温度变化",
     "daily 温度 trend for each device"],
)  # fmt: skip
def test_each_device_is_a_line_of_its_own(devices, goal):
    (request,) = understand(goal, devices, today=TODAY).analyses

    assert (request.kind, request.grain, request.by) == ("trend", "day", "设备编号")


@pytest.mark.parametrize("goal", ["推荐意愿占比", "推荐意愿的比例"])
def test_the_share_of_a_few_answers_counts_rows(make_table, goal):
    table = make_table(
        {"name": "推荐意愿", "distinct": 3, "top": (("愿意", 5), ("不愿意", 4))},
        {"name": "满意度", "type": "integer", "meaning": "measure", "distinct": 5},
    )

    (request,) = understand(goal, table, today=TODAY).analyses

    assert (request.kind, request.how, request.category) == ("share", "count", "推荐意愿")


@pytest.mark.parametrize(
    ("goal", "wanted"),
    [("各班级数学不及格的人数", ("数学", "<", 60)),
     ("数学及格的学生按班级分布", ("数学", ">=", 60)),
     ("数学90分以上的学生按班级分布", ("数学", ">=", 90)),
     ("数学成绩在90分以上的各班人数", ("数学", ">=", 90))],
)  # fmt: skip
def test_scores_are_bounded(scores, goal, wanted):
    found = understand(goal, scores, today=TODAY)

    assert filters(found) == [wanted]
    assert [(a.how, a.category) for a in found.analyses] == [("count", "班级")]


def test_the_pass_mark_is_said_and_a_share_of_those_who_fail_is_not_made_up(scores):
    found = understand("数学不及格的学生占比", scores, today=TODAY)

    assert filters(found) == [("数学", "<", 60)]
    assert "60" in words(found.assumptions)
    assert "比例" in words(found.unknown)
    assert [a.kind for a in found.analyses] == ["overview"]


@pytest.mark.parametrize(
    ("goal", "wanted"),
    [("60岁以上患者的药费按科室", ("年龄", ">=", 60)),
     ("18岁以下患者按科室的药费", ("年龄", "<=", 18)),
     ("超过65岁的患者各科室药费", ("年龄", ">", 65)),
     ("aged 60 or older, 药费 by 科室", ("年龄", ">=", 60)),
     ("60岁以上患者的药费占比", ("年龄", ">=", 60))],
)  # fmt: skip
def test_years_of_life_find_the_age(clinic, goal, wanted):
    assert filters(understand(goal, clinic, today=TODAY)) == [wanted]


@pytest.mark.parametrize(
    ("goal", "said"),
    [
        ("药费超过平均值的科室", "超过平均值"),
        ("科室 with 药费 above average", "above average"),
        ("各科室不及格药费", "不及格"),
    ],
)
def test_a_condition_that_is_not_understood_is_said(clinic, goal, said):
    found = understand(goal, clinic, today=TODAY)

    assert found.filters == ()
    assert said in words(found.unknown)


@pytest.mark.parametrize(
    "goal",
    ["销售额+运费合计", "各大区销售额和运费之和", "销售额与运费的合计", "销售额减去运费",
     "sum of 销售额 plus 运费 by 大区"],
)  # fmt: skip
def test_columns_are_not_added_up_and_it_is_said(sales, goal):
    assert "列与列相加" in words(understand(goal, sales, today=TODAY).unknown)


def test_two_measures_side_by_side_are_no_sum(sales):
    assert not understand("各大区的销售额和运费", sales, today=TODAY).unknown


def test_a_mean_per_person_is_told_from_a_mean_of_rows(sales, clinic, scores, devices):
    assert "销售员" in words(understand("人均销售额", sales, today=TODAY).unknown)
    assert "患者ID" in words(understand("各科室人均药费", clinic, today=TODAY).unknown)
    assert not understand("各班级人均总分", scores, today=TODAY).unknown
    assert "区分个人" in words(understand("各车间人均温度", devices, today=TODAY).assumptions)


def test_namesakes_are_said_to_be_put_together(scores, sales):
    assert "重名" in words(understand("总分最高的10个姓名", scores, today=TODAY).assumptions)
    assert "重名" not in words(understand("各销售员销售额", sales, today=TODAY).assumptions)


@pytest.mark.parametrize("goal", ["平均药费最低的三个科室", "3 lowest 科室 by average 药费"])
def test_the_lowest_come_first(clinic, goal):
    (request,) = understand(goal, clinic, today=TODAY).analyses

    assert (request.how, request.top, request.ascending) == ("mean", 3, True)
