"""The units that stand with a number in English and Chinese: per cent, currencies, measures."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from planloom.notes import Lang

UnitKind = Literal["none", "percent", "points", "currency", "measure", "noun"]


@dataclass(frozen=True, slots=True)
class Currency:
    """How one currency is written."""

    code: str
    """ISO 4217."""
    sign: str
    """What English writes before the number."""
    zh: str
    """What Chinese writes after the number."""
    words: tuple[str, ...] = ()
    """Further spellings, in lower case."""


CURRENCIES = (
    Currency("CNY", "¥", "元", ("￥", "rmb", "人民币", "元人民币", "yuan", "cn¥", "块钱")),
    Currency("USD", "$", "美元", ("us$", "dollar", "dollars", "美金")),
    Currency("EUR", "€", "欧元", ("euro", "euros")),
    Currency("GBP", "£", "英镑", ("pound sterling", "pounds sterling")),
    Currency("JPY", "JP¥", "日元", ("yen", "円", "日圆")),
    Currency("HKD", "HK$", "港元", ("港币",)),
    Currency("TWD", "NT$", "新台币", ("台币",)),
    Currency("CHF", "CHF ", "瑞士法郎", ("sfr", "francs")),
    Currency("KRW", "₩", "韩元", ("won",)),
    Currency("INR", "₹", "卢比", ("rupee", "rupees", "rs")),
    Currency("RUB", "₽", "卢布", ("roubles", "rubles")),
    Currency("BRL", "R$", "雷亚尔", ("reais",)),
    Currency("AUD", "A$", "澳元", ("au$",)),
    Currency("CAD", "C$", "加元", ("ca$",)),
    Currency("SGD", "S$", "新加坡元", ("新元",)),
    Currency("SEK", "SEK ", "瑞典克朗", ()),
    Currency("NOK", "NOK ", "挪威克朗", ()),
    Currency("DKK", "DKK ", "丹麦克朗", ()),
    Currency("PLN", "PLN ", "兹罗提", ("zł",)),
)


@dataclass(frozen=True, slots=True)
class Measure:
    """One unit of measure."""

    en: str
    zh: str
    words: tuple[str, ...] = ()
    """Further spellings, in lower case; English plurals are understood by themselves."""
    pluralised: bool = False
    """English adds an s for other numbers than 1."""


MEASURES = (
    Measure("kg", "千克", ("kilogram", "公斤", "kgs", "kilo")),
    Measure("g", "克", ("gram",)),
    Measure("mg", "毫克", ("milligram",)),
    Measure("t", "吨", ("tonne", "ton", "metric ton")),
    Measure("lb", "磅", ("lbs",)),
    Measure("km", "千米", ("kilometre", "kilometer", "公里")),
    Measure("m", "米", ("metre", "meter")),
    Measure("cm", "厘米", ("centimetre", "centimeter")),
    Measure("mm", "毫米", ("millimetre", "millimeter")),
    Measure("mi", "英里", ("mile",)),
    Measure("m²", "平方米", ("m2", "sqm", "square metre", "square meter", "㎡")),
    Measure("km²", "平方千米", ("km2", "平方公里", "square kilometre", "square kilometer")),
    Measure("m³", "立方米", ("m3", "cubic metre", "cubic meter")),
    Measure("L", "升", ("litre", "liter", "l")),
    Measure("mL", "毫升", ("millilitre", "milliliter", "ml")),
    Measure("°C", "℃", ("摄氏度", "degrees celsius", "celsius")),
    Measure("°F", "℉", ("华氏度", "degrees fahrenheit", "fahrenheit")),
    Measure("km/h", "公里/小时", ("kph", "kmh")),
    Measure("kWh", "千瓦时", ("度电", "kwh")),
    Measure("MWh", "兆瓦时", ("mwh",)),
    Measure("kW", "千瓦", ("kilowatt", "kw")),
    Measure("MW", "兆瓦", ("megawatt",)),
    Measure("MB", "MB", ("megabyte",)),
    Measure("GB", "GB", ("gigabyte",)),
    Measure("ms", "毫秒", ("millisecond", "msec")),
    Measure("second", "秒", ("s", "sec", "秒钟"), pluralised=True),
    Measure("minute", "分钟", ("min",), pluralised=True),
    Measure("hour", "小时", ("h", "hr", "钟头"), pluralised=True),
    Measure("day", "天", (), pluralised=True),
    Measure("week", "周", ("星期",), pluralised=True),
    Measure("month", "个月", (), pluralised=True),
    Measure("quarter", "个季度", (), pluralised=True),
    Measure("year", "年", ("yr",), pluralised=True),
)

PERCENT_WORDS = frozenset({"%", "percent", "per cent", "pct", "百分比"})
POINT_WORDS = frozenset(
    {"pp", "ppt", "pps", "percentage point", "percentage points", "个百分点", "百分点"}
)
MULTIPLE_WORDS = frozenset({"x", "×", "times", "倍", "fold"})
MULTIPLE_UNITS = MULTIPLE_WORDS | {"", "ratio"}
RATIO_UNITS = frozenset({"ratio", "share", "fraction", "proportion", "比率", "比例", "占比"})
RANK_NOUNS = frozenset({"rank", "ordinal", "place", "position", "名次", "排名"})
RANK_UNITS = RANK_NOUNS | {"", "名", "位"}
GENERIC_NOUNS = frozenset(
    {
        "", "row", "record", "line", "value", "entry", "observation", "case", "item", "unit",
        "number", "count", "行", "条", "个", "笔", "件", "项", "次", "名", "位",
    }
)  # fmt: skip
"""Nouns that a sentence may replace by a more telling one: "1,234 orders" for 1,234 rows."""


def _currency_words() -> dict[str, Currency]:
    words: dict[str, Currency] = {}
    for currency in CURRENCIES:
        for word in (currency.code, currency.sign.strip(), currency.zh, *currency.words):
            words[word.lower()] = currency
    return words


def _measure_words() -> dict[str, Measure]:
    words: dict[str, Measure] = {}
    for measure in MEASURES:
        for word in (measure.en, measure.zh, *measure.words):
            words.setdefault(word.lower(), measure)
            if word.isascii() and len(word) > 2:
                words.setdefault(word.lower() + "s", measure)
    return words


_CURRENCY = _currency_words()
_MEASURE = _measure_words()
CJK = re.compile(r"[\u3400-\u9fff]")
_NOUN = re.compile(r"[a-z][a-z -]{2,}|[A-Z][a-z]+(?: [a-z]+)*|[\u3400-\u9fff]+")
_ACRONYM = re.compile(r"[A-Z]{3}")


def currency_of(unit: str) -> Currency | None:
    """Return the currency that a sign, code or word names; None when it names none.

    >>> currency_of("US$").code, currency_of("元").code, currency_of("kg")
    ('USD', 'CNY', None)
    """
    return _CURRENCY.get(unit.strip().lower())


def measure_of(unit: str) -> Measure | None:
    """Return the measure that a symbol or word names; None when it names none."""
    return _MEASURE.get(unit.strip().lower())


def unit_kind(unit: str) -> UnitKind:
    """Sort a fact's unit.

    A plain word that is no measure is a count noun: the sentence names it, not the number.

    >>> [unit_kind(unit) for unit in ("%", "pp", "CHF", "kg", "order", "")]
    ['percent', 'points', 'currency', 'measure', 'noun', 'none']
    """
    word = unit.strip().lower()
    if not word:
        return "none"
    if word in PERCENT_WORDS:
        return "percent"
    if word in POINT_WORDS:
        return "points"
    if word in _CURRENCY:
        return "currency"
    if word in _MEASURE:
        return "measure"
    return "noun" if _NOUN.fullmatch(unit.strip()) else "measure"


def canonical_unit(unit: str) -> str:
    """Return one name for all spellings of a unit, so that "$", "USD" and "美元" agree.

    Currencies give their code, measures their English symbol, nouns their singular.

    >>> canonical_unit("美元"), canonical_unit("hours"), canonical_unit("Orders")
    ('USD', 'hour', 'order')
    """
    if currency := currency_of(unit):
        return currency.code
    if measure := measure_of(unit):
        return measure.en
    return singular(unit.strip().lower())


def singular(noun: str) -> str:
    """Return an English noun without its plural ending; other words unchanged."""
    if noun.endswith("ies") and len(noun) > 4:
        return noun[:-3] + "y"
    if noun.endswith(("sses", "xes", "ches", "shes")):
        return noun[:-2]
    if noun.endswith("s") and not noun.endswith("ss") and len(noun) > 2:
        return noun[:-1]
    return noun


def measure_text(unit: str, lang: Lang, *, is_one: bool) -> str:
    """Return the unit as it is written after a number, with its leading space if it has one."""
    measure = measure_of(unit)
    if measure is None:
        return unit if CJK.match(unit) else f" {unit}"
    if measure.pluralised:
        plural = "" if is_one else "s"
        return f" {measure.en}{plural}" if lang == "en" else measure.zh
    if lang == "zh" and (CJK.match(unit) or unit in "℃℉"):
        return unit
    return f" {measure.en}"


def unit_word(unit: str, lang: Lang) -> str:
    """Return how a heading or subtitle names a unit; "" for nouns, which the measure's name holds.

    >>> unit_word("¥", "zh"), unit_word("$", "en"), unit_word("order", "en")
    ('元', '$', '')
    """
    currency, measure = currency_of(unit), measure_of(unit)
    if currency is not None:
        return unit.strip() if lang == "en" else currency.zh
    if measure is not None:
        return measure.en + "s" * measure.pluralised if lang == "en" else measure.zh.lstrip("个")
    if unit_kind(unit) == "points":
        return "percentage points" if lang == "en" else "百分点"
    return "" if unit_kind(unit) == "noun" else unit.strip()
