"""What a column is about: decided from its name in English or Chinese, its type and its values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from planloom.notes import Scalar
from planloom.values import Column

Meaning = Literal[
    "id", "date", "time", "year", "category", "place", "flag", "name", "email", "phone", "url",
    "measure", "money", "percent", "text", "empty",
]  # fmt: skip
MEASURES: frozenset[Meaning] = frozenset({"measure", "money", "percent"})
"""Meanings whose values are quantities."""

CURRENCIES = frozenset("$¥€£₹₩₽฿₫₺￥") | {"元", "USD", "CNY", "RMB", "EUR", "GBP", "JPY", "HKD"}
_LEAST_COUNTED = 10  # "1, 2, 3" may well be a measure
_JUDGED = 200  # values that a pattern is tried on
_UNIT_MEANINGS: dict[str, Meaning] = {"%": "percent", **dict.fromkeys(CURRENCIES, "money")}
_FLAGS = (
    {"yes", "no"}, {"y", "n"}, {"true", "false"}, {"t", "f"}, {"是", "否"}, {"有", "无"},
    {"0", "1"}, {"on", "off"}, {"已", "未"},
)  # fmt: skip


def _words(english: str, chinese: str) -> re.Pattern[str]:
    """Match whole English words (`_` and camel case end a word) or Chinese parts of a name."""
    return re.compile(rf"(?:(?<![a-z])(?:{english})(?![a-z]))|(?:{chinese})", re.IGNORECASE)


_NAMES: dict[str, re.Pattern[str]] = {
    "id": _words(
        r"ids?|uuid|guid|key|no|nr|num|number|code|sku|isbn|index|serial|invoice|ticket|zip|"
        r"postcode|postal|unnamed",
        r"编号|序号|单号|号码|代码|编码|学号|工号|卡号|账号|流水号|订单号|邮编|身份证|货号|条码",
    ),
    "phone": _words(r"phones?|tel|telephone|mobile|cell|fax", r"电话|手机|联系方式|传真"),
    "email": _words(r"e-?mails?", r"邮箱|邮件|电子邮件"),
    "year": _words(r"years?|yr", r"年份|年度|^年$"),
    "percent": _words(
        r"percent|percentage|pct|rate|ratio|share|margin", r"率|占比|百分比|比例|比重|%|％"
    ),
    "money": _words(
        r"amounts?|price|prices|cost|costs|revenue|sales|profit|income|expenses?|salary|wage|"
        r"fees?|pay|payment|budget|value|turnover|gmv|fare|tax|discount|spend|spending|balance",
        r"金额|价格|单价|售价|成本|收入|销售额|营业额|营收|利润|费用|工资|薪|支出|预算|税|价|额|余额",
    ),
    "place": _words(
        r"city|cities|country|province|state|region|district|area|address|location|county|"
        r"continent|territory",
        r"城市|国家|省|市|区域|地区|地址|区县|大区|产地|籍贯|地点",
    ),
    "name": _words(
        r"(?:customer|client|employee|person|full|first|last|user|student|patient|contact|"
        r"sales|staff|teacher|member|author|family|given|passenger)[ _-]*names?|customer|client|"
        r"employee|salesperson|name",
        r"姓名|名字|客户|顾客|员工|销售员|业务员|联系人|学生|患者|作者|会员",
    ),
    "flag": _words(r"is|has|flag", r"^是否|^有无"),
}  # fmt: skip
_NOT_PERSON = _words(
    r"product|item|goods|brand|file|company|store|shop|city|country|category|department|"
    r"project|species|event|school|game|movie|song",
    r"产品|商品|品名|品牌|公司|门店|店铺|部门|项目|类别|学校",
)
_NOT_MONEY = _words(r"units?|quantity|qty|count|volume|people|reps?|rep", r"量|人数|件数|份额|额度")
_NOT_ADDITIVE = _words(
    r"price|rate|avg|average|mean|median|ratio|percent|percentage|pct|share|margin|age|score|"
    r"rating|temperature|temp|unit[ _]?cost|unit[ _]?price|lat|lon|latitude|longitude|index|rank",
    r"单价|均|率|占比|比例|百分比|年龄|得分|评分|分数|温度|排名|名次|纬度|经度|指数|价格|售价",
)
_CODES = _words(
    r"month|quarter|week|weekday|day|hour|grade|level|class|type|status|stage|group|cluster|"
    r"category|rank|rating|stars?",
    r"月份?|季度|周|星期|日|小时|等级|级别|班级|类型|状态|阶段|组|类别|评分|星级",
)

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}")
_URL = re.compile(r"(?:https?|ftp)://\S+|www\.\S+\.\S+", re.IGNORECASE)
_CHINESE_MOBILE = re.compile(r"(?:\+?86[- ]?)?1[3-9]\d[- ]?\d{4}[- ]?\d{4}")
_PHONE = re.compile(r"\+?[\d() .-]{7,20}(?:\s*(?:x|ext\.?|转)\s*\d+)?", re.IGNORECASE)
_CODE = re.compile(r"(?=.*\d)[A-Za-z0-9][A-Za-z0-9._/#-]*")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of a column's values."""

    rows: int
    present: int
    """Values that are not missing."""
    distinct: int
    low: float | None
    """Least number; None for other types."""
    high: float | None
    """Greatest number; None for other types."""
    sample: Sequence[Scalar]
    """Values that are not missing, from all over the table."""

    @property
    def share_distinct(self) -> float:
        """Distinct values for each value, in [0, 1]."""
        return self.distinct / self.present if self.present else 0.0


def is_additive(name: str, meaning: Meaning) -> bool:
    """Say whether sums of a column tell something: amounts do, prices and rates do not.

    >>> is_additive("amount", "money"), is_additive("unit_price", "money")
    (True, False)
    """
    return meaning in {"measure", "money"} and not _NOT_ADDITIVE.search(split_words(name))


def meaning_of(column: Column, evidence: Evidence) -> Meaning:
    """Return what a column is about.

    >>> meaning_of(Column(name="销售额", type="number"), Evidence(9, 9, 9, 1.5, 80.0, (1.5,)))
    'money'
    """
    if evidence.present == 0:
        return "empty"
    match column.type:
        case "boolean":
            return "flag"
        case "date" | "datetime":
            return "date"
        case "time":
            return "time"
        case "integer" | "number":
            return _number_meaning(column, evidence)
        case "text":
            return _text_meaning(column, evidence)


def split_words(name: str) -> str:
    """Return a name with its camel case and underscores split into words.

    >>> split_words("OrderID"), split_words("unit_price2")
    ('Order ID', 'unit price2')
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("_", " ")


def _named(kind: str, name: str) -> bool:
    return bool(_NAMES[kind].search(split_words(name)))


def _number_meaning(column: Column, evidence: Evidence) -> Meaning:
    name, whole = column.name, column.type == "integer"
    low, high = evidence.low or 0.0, evidence.high or 0.0
    if column.unit:
        return _UNIT_MEANINGS.get(column.unit, "measure")
    if _named("percent", name) and not _named("id", name):
        return "percent"
    if whole and _named("year", name) and 1000 <= low <= high <= 2200:
        return "year"
    if whole and _is_number_id(name, evidence):
        return "phone" if _named("phone", name) and low >= 1_000_000 else "id"
    if whole and evidence.distinct == 2 and (low, high) == (0, 1):
        return "flag"
    if whole and _CODES.search(split_words(name)) and evidence.distinct <= 60:
        return "category"
    if _named("money", name) and not _NOT_MONEY.search(split_words(name)):
        return "money"
    return "measure"


def _is_number_id(name: str, evidence: Evidence) -> bool:
    words = split_words(name).strip().casefold()
    if _named("phone", name) and (evidence.low or 0) >= 1_000_000:
        return True
    # "number of visits" and "no. of rooms" count things; "number" alone may do either.
    if re.search(r"\b(?:number|num|no)\b\W*of\b", words):
        return False
    if re.search(r"\b(?:number|num|index|key|value)\b", words):
        return evidence.share_distinct > 0.9
    if _named("id", name):
        return True
    if words in {"", "#"} and evidence.share_distinct == 1:
        return True
    return _counts_rows(evidence) and not _named("money", name)


def _counts_rows(evidence: Evidence) -> bool:
    """Whether whole numbers run from 0 or 1 through all rows, as no measure does."""
    if evidence.low is None or evidence.high is None or evidence.rows < _LEAST_COUNTED:
        return False
    return (
        evidence.low in (0, 1)
        and evidence.present == evidence.rows == evidence.distinct
        and evidence.high - evidence.low == evidence.rows - 1
    )


def _text_meaning(column: Column, evidence: Evidence) -> Meaning:
    name = column.name
    sample = [str(value).strip() for value in evidence.sample[:_JUDGED]]
    pattern = _pattern_meaning(name, sample)
    if pattern is not None:
        return pattern
    if {value.casefold() for value in sample} in _FLAGS:
        return "flag"
    if _named("place", name):
        return "place" if _repeats(evidence) or evidence.rows < 50 else "text"
    if _named("id", name) and _share(_CODE, sample) >= 0.8:
        return "id"
    if _named("name", name) and not _NOT_PERSON.search(split_words(name)):
        return "name"
    if evidence.share_distinct == 1 and evidence.present > 20 and _share(_CODE, sample) >= 0.95:
        return "id"
    return "category" if _is_category(evidence, sample) else "text"


def _pattern_meaning(name: str, sample: Sequence[str]) -> Meaning | None:
    if _share(_EMAIL, sample) >= 0.8:
        return "email"
    if _share(_URL, sample) >= 0.8:
        return "url"
    if _share(_CHINESE_MOBILE, sample) >= 0.8:
        return "phone"
    if _named("phone", name) and _share(_PHONE, sample) >= 0.8:
        return "phone"
    return None


def _repeats(evidence: Evidence) -> bool:
    return evidence.share_distinct <= 0.5


def _is_category(evidence: Evidence, sample: Sequence[str]) -> bool:
    long = sum(len(value) > 60 for value in sample) > len(sample) / 2
    few = evidence.distinct <= 12 and (_repeats(evidence) or evidence.rows <= 24)
    return not long and (few or (_repeats(evidence) and evidence.distinct <= 2_000))


def _share(pattern: re.Pattern[str], sample: Sequence[str]) -> float:
    """Return the share of values that match as a whole, in [0, 1]."""
    return sum(bool(pattern.fullmatch(value)) for value in sample) / max(len(sample), 1)
