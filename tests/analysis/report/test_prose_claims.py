"""Names, ranks and directions in prose: right sentences pass, wrong ones are refused."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from planloom.analysis.report.prose_claims import claim_problems
from planloom.notes import Note
from planloom.values import Fact

SHORT = {
    "T": "trend.amount.month",
    "H": "share.channel.amount",
    "R": "ranking.store.amount",
    "W": "ranking.store.quantity.smallest-first",
    "O": "overview",
}
CHINESE = {"amount": "金额", "quantity": "数量", "store": "门店", "channel": "渠道"}


def chinese(fact_id: str) -> str:
    return ".".join(CHINESE.get(part, part) for part in fact_id.split("."))


def long(text: str, lang: str) -> str:
    """Write the short ids of the sentences below out: "{{T:first}}"."""
    for short, prefix in SHORT.items():
        text = text.replace("{{" + short + ":", "{{" + prefix + ".")
    if lang == "zh":
        return re.sub(r"{{[^{}|]+", lambda match: "{{" + chinese(match[0][2:]), text)
    return text


def made(short: str, en: str, zh: str, value: float | str, unit: str = "") -> Fact:
    prefix, _, what = short.partition(":")
    return Fact(
        id=f"{SHORT[prefix]}.{what}", label=Note(en, zh), value=value, unit=unit, query="",
        table="t", rows=1,
    )  # fmt: skip


def facts_of(lang: str) -> dict[str, Fact]:
    """Return facts of all four analyses, as those of a table of orders."""
    zh = lang == "zh"
    west, east, south = ("西门店", "东门店", "南门店") if zh else ("West", "East", "South")
    pickup, online = ("线下", "线上") if zh else ("Store pickup", "Online")
    facts = [
        made("T:first_period", "Amount: first complete period", "金额：首个", "2024-01", "month"),
        made("T:first", "Amount: first complete period", "金额：首个完整周期", 200),
        made("T:last_period", "Amount: last complete period", "金额：最近", "2024-06", "month"),
        made("T:last", "Amount: last complete period", "金额：最近一个完整周期", 300),
        made("T:change", "Amount: change over the whole time", "金额：变化", 100),
        made("T:change_pct_size", "Amount: size of the change", "金额：变化的绝对值", 50.0, "%"),
        made("T:change_pct", "Amount: change in percent", "金额：变化（百分比）", 50.0, "%"),
        made("T:previous_period", "Amount: period before", "金额：上一个", "2024-05", "month"),
        made("T:previous", "Amount: the period before the last", "金额：上一个完整周期", 400),
        made("T:latest", "Amount: change of the latest period", "金额：环比变化", -100),
        made("T:latest_pct", "Amount: change of the latest", "金额：环比变化", -25.0, "%"),
        made("T:latest_pct_size", "Amount: size of the change", "金额：环比变化", 25.0, "%"),
        made("T:highest_period", "Amount: highest, which one", "金额：最高", "2024-04", "month"),
        made("T:highest", "Amount: highest complete period", "金额：最高的完整周期", 500),
        made("T:lowest_period", "Amount: lowest, which one", "金额：最低", "2024-02", "month"),
        made("T:lowest", "Amount: lowest complete period", "金额：最低的完整周期", 150),
        made("T:averaged", "Amount: periods in the average", "金额：计入平均的周期数", 6),
        made("T:average", "Amount: average of the periods", "金额：周期的平均值", 300),
        made("H:total", "Amount: total", "金额合计", 1800),
        made("H:top_label", "First by amount (channel)", "金额第一位（按渠道）", pickup),
        made("H:top", "Amount: first (channel)", "第一位的金额（按渠道）", 1000),
        made("H:top_share", "Share of the first (channel)", "第一位的占比（按渠道）", 55.6, "%"),
        made("H:second_label", "Second by amount (channel)", "金额第二位（按渠道）", online),
        made("H:second", "Amount: second (channel)", "第二位的金额（按渠道）", 800),
        made("H:second_share", "Share of the second (channel)", "第二位的占比", 44.4, "%"),
        made("H:groups", "Different channel values", "渠道的类别数", 2),
        made("R:top_label", "First by amount (store)", "金额第一位（按门店）", west),
        made("R:top", "Amount: first (store)", "第一位的金额（按门店）", 700),
        made("R:second_label", "Second by amount (store)", "金额第二位（按门店）", east),
        made("R:second", "Amount: second (store)", "第二位的金额（按门店）", 600),
        made("R:last_label", "Last by amount (store)", "金额末位（按门店）", south),
        made("R:last", "Amount: last (store)", "末位的金额（按门店）", 100),
        made("R:groups", "Different store values", "门店的类别数", 4),
        made("R:lead_pct", "Distance of the first to the second", "第一位与第二位之差", 16.7, "%"),
        made("W:top_label", "First by quantity (store)", "数量第一位（按门店）", east),
        made("W:top", "Quantity: first (store)", "第一位的数量（按门店）", 10),
        made("W:second_label", "Second by quantity (store)", "数量第二位（按门店）", south),
        made("W:second", "Quantity: second (store)", "第二位的数量（按门店）", 20),
        made("W:last_label", "Last by quantity (store)", "数量末位（按门店）", west),
        made("W:last", "Quantity: last (store)", "末位的数量（按门店）", 40),
        made("O:rows", "Rows", "记录数", 400),
        made("O:amount.total", "Total amount", "金额合计", 1800),
        made("O:amount.mean", "Average amount", "平均金额", 4.5),
        made("O:amount.median", "Median amount", "金额中位数", 4.0),
        made("O:amount.max", "Highest amount", "金额最大值", 99),
        made("O:quantity.total", "Total quantity", "数量合计", 95),
    ]
    ids = chinese if zh else str
    return {ids(fact.id): replace(fact, id=ids(fact.id)) for fact in facts}


COLUMNS = {
    "en": ("amount", "quantity", "store", "channel", "order_date"),
    "zh": ("金额", "数量", "门店", "渠道", "下单日期"),
}
VALUES = {
    "en": ("West", "East", "South", "North", "Online", "Store pickup"),
    "zh": ("西门店", "东门店", "南门店", "北门店", "线上", "线下"),
}


def problems(text: str, lang: str) -> list[str]:
    return list(
        claim_problems(long(text, lang), facts_of(lang), columns=COLUMNS[lang], values=VALUES[lang])
    )


RIGHT_EN = (
    "{{R:top_label}} leads with {{R:top}}, ahead of {{R:second_label}} with {{R:second}}.",
    "West leads with {{R:top}}.",
    "{{R:top_label}} has the highest amount, {{R:top}}, {{R:lead_pct}} above {{R:second_label}}.",
    "{{R:last_label}} is lowest of the {{R:groups}} stores, at {{R:last}}.",
    "The lowest amount is that of {{R:last_label}}, {{R:last}}.",
    "{{W:top_label}} has the lowest quantity, {{W:top}}, and {{W:last_label}} the highest.",
    "Amount rose by {{T:change_pct_size}}, from {{T:first}} in {{T:first_period}} to {{T:last}} in "
    "{{T:last_period}}.",
    "From {{T:previous_period}} ({{T:previous}}) to {{T:last_period}}, amount fell by "
    "{{T:latest_pct_size}}.",
    "The highest month is {{T:highest_period}} with {{T:highest}}, the lowest {{T:lowest_period}} "
    "with {{T:lowest}}.",
    "Amount peaked in {{T:highest_period}} at {{T:highest}}.",
    "The average of the {{T:averaged}} months is {{T:average}}.",
    "{{H:top_label}} accounts for {{H:top_share}} of the total amount ({{H:top}} of {{H:total}}).",
    "Store pickup makes up the majority, {{H:top_share}}.",
    "{{H:top_label}} is first by amount, followed by {{H:second_label}} with {{H:second_share}}.",
    "The channel with the lowest amount is {{H:second_label}}.",
    "The data holds {{O:rows}} rows.",
    "Amount totals {{O:amount.total}} over {{O:rows|row|rows}}.",
    "Amount is {{O:amount.mean}} on average, with a median of {{O:amount.median}}.",
    "The highest single amount is {{O:amount.max}}.",
    "Quantity totals {{O:quantity.total}}, and amount comes to {{O:amount.total}}.",
    "Between {{T:first_period}} and {{T:last_period}}, amount grew by {{T:change_pct_size}}.",
    "Amount declined from {{T:previous}} in {{T:previous_period}} to {{T:last}} in "
    "{{T:last_period}}.",
)
WRONG_EN = (
    "South leads with {{R:top}}.",
    "East leads with {{R:top}}, ahead of {{R:top_label}}.",
    "North, with {{R:top}}, beats {{R:top_label}}.",
    "{{R:last_label}} leads with {{R:last}}.",
    "{{R:top_label}} has {{R:second}} and {{R:second_label}} has {{R:top}}.",
    "{{R:last_label}} has the highest amount, {{R:last}}, below {{R:top_label}}.",
    "{{R:second_label}} is ahead of {{R:top_label}}.",
    "{{W:top_label}} has the highest quantity, {{W:top}}.",
    "{{R:top_label}} has the highest quantity, {{R:top}}.",
    "Amount fell from {{T:first}} in {{T:first_period}} to {{T:last}} in {{T:last_period}}.",
    "From {{T:previous_period}} to {{T:last_period}}, amount rose by {{T:latest_pct_size}}.",
    "The highest month is {{T:lowest_period}} with {{T:lowest}}.",
    "The best month was {{T:highest_period}} with {{T:lowest}}.",
    "Amount peaked in March, as {{T:highest}} shows for {{T:highest_period}}.",
    "{{R:top_label}} rose by {{T:change_pct_size}}.",
    "Online makes up the majority, {{H:second_share}}.",
    "{{H:second_label}} comes to {{H:total}}.",
    "The average amount is {{O:amount.median}}.",
    "Quantity totals {{O:amount.total}}.",
    "Amount totals {{O:quantity.total}} and quantity {{O:amount.total}}.",
    "{{R:top_label}} is not the highest.",
    "The amount rose steadily by {{T:change_pct_size}}.",
    "Store pickup grew most, to {{H:top}}.",
    "In {{T:last_period}} {{R:top_label}} came to {{R:top}}.",
    "The lead of {{R:last_label}} is {{R:lead_pct}}.",
    "Amount reached its low in {{T:highest_period}}.",
    "The first month was {{T:last_period}}.",
    "The latest month, {{T:first_period}}, came to {{T:first}}.",
    "The amount of {{R:top_label}} exceeds those of all other stores combined.",
    "The total amount is {{O:amount.mean}}.",
    "{{R:top_label}} overtook {{R:second_label}}.",
    "{{H:second_label}} is the dominant channel.",
    "{{H:top_label}} was outsold by {{H:second_label}}.",
    "{{R:last_label}} ranks ahead.",
    "The amount of {{T:highest_period}} was lower than that of {{T:lowest_period}}.",
)
RIGHT_ZH = (
    "{{R:top_label}}以{{R:top}}领先，其次是{{R:second_label}}，为{{R:second}}。",
    "西门店居首，为{{R:top}}。",
    "{{R:top_label}}的金额最高，为{{R:top}}，比{{R:second_label}}高{{R:lead_pct}}。",
    "{{R:groups}}个门店中，{{R:last_label}}最低，为{{R:last}}。",
    "金额最少的是{{R:last_label}}，为{{R:last}}。",
    "{{W:top_label}}的数量最低，为{{W:top}}；{{W:last_label}}最高。",
    "金额由{{T:first_period}}的{{T:first}}升至{{T:last_period}}的{{T:last}}，"
    "增长{{T:change_pct_size}}。",
    "{{T:last_period}}环比下降{{T:latest_pct_size}}，{{T:previous_period}}为{{T:previous}}。",
    "最高的月份是{{T:highest_period}}（{{T:highest}}），最低的是{{T:lowest_period}}（{{T:lowest}}）。",
    "金额在{{T:highest_period}}达到峰值{{T:highest}}。",
    "{{T:averaged}}个月的平均值为{{T:average}}。",
    "{{H:top_label}}占金额合计的{{H:top_share}}（{{H:top}}，合计{{H:total}}）。",
    "线下占比过半，为{{H:top_share}}。",
    "金额第一的是{{H:top_label}}，占{{H:top_share}}。",
    "{{H:second_label}}的金额最低，为{{H:second}}。",
    "数据共{{O:rows}}条记录。",
    "金额合计{{O:amount.total}}，平均{{O:amount.mean}}。",
    "金额中位数为{{O:amount.median}}。",
    "单笔金额最高为{{O:amount.max}}。",
    "数量合计{{O:quantity.total}}，金额合计{{O:amount.total}}。",
    "{{T:first_period}}至{{T:last_period}}，金额增加{{T:change}}。",
    "{{R:second_label}}的金额高于{{R:last_label}}。",
)
WRONG_ZH = (
    "南门店以{{R:top}}领先。",
    "东门店以{{R:top}}领先，高于{{R:top_label}}。",
    "北门店为{{R:top}}，超过{{R:top_label}}。",
    "{{R:last_label}}居首，为{{R:last}}。",
    "{{R:top_label}}为{{R:second}}，{{R:second_label}}为{{R:top}}。",
    "{{R:last_label}}的金额最高，为{{R:last}}，其后是{{R:top_label}}。",
    "{{R:second_label}}比{{R:top_label}}高。",
    "{{W:top_label}}的数量最多，为{{W:top}}。",
    "{{R:top_label}}的数量最多，为{{R:top}}。",
    "金额由{{T:first_period}}的{{T:first}}降至{{T:last_period}}的{{T:last}}。",
    "{{T:last_period}}环比增长{{T:latest_pct_size}}。",
    "最高的月份是{{T:lowest_period}}，为{{T:lowest}}。",
    "{{T:highest_period}}金额最高，为{{T:lowest}}。",
    "金额在春季达到{{T:highest}}，即{{T:highest_period}}。",
    "{{R:top_label}}增长{{T:change_pct_size}}。",
    "线上占比过半，为{{H:second_share}}。",
    "{{H:second_label}}为{{H:total}}。",
    "平均金额为{{O:amount.median}}。",
    "数量合计{{O:amount.total}}。",
    "金额合计{{O:quantity.total}}，数量合计{{O:amount.total}}。",
    "{{R:top_label}}的金额不是最高。",
    "金额持续增长{{T:change_pct_size}}。",
    "线下增长最快，达到{{H:top}}。",
    "{{T:last_period}}{{R:top_label}}为{{R:top}}。",
    "{{R:last_label}}领先{{R:lead_pct}}。",
    "{{R:top_label}}落后{{R:second_label}}{{R:lead_pct}}。",
    "首月是{{T:last_period}}，为{{T:last}}。",
    "最近一个月{{T:first_period}}为{{T:first}}。",
    "金额在{{T:highest_period}}触底，为{{T:highest}}。",
    "总金额为{{O:amount.mean}}。",
    "线上是主力渠道，{{H:second_label}}占{{H:second_share}}。",
    "{{T:highest_period}}的金额低于{{T:lowest_period}}。",
)


@pytest.mark.parametrize("text", RIGHT_EN)
def test_right_sentences_pass(text: str):
    assert problems(text, "en") == []


@pytest.mark.parametrize("text", RIGHT_ZH)
def test_right_chinese_sentences_pass(text: str):
    assert problems(text, "zh") == []


@pytest.mark.parametrize("text", WRONG_EN)
def test_wrong_sentences_are_refused(text: str):
    assert problems(text, "en")


@pytest.mark.parametrize("text", WRONG_ZH)
def test_wrong_chinese_sentences_are_refused(text: str):
    assert problems(text, "zh")
