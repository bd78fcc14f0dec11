"""The patterns by which numerals are found, and the words that change what they mean."""

from __future__ import annotations

import re
from typing import Literal

from planloom.analysis.numbers.chinese_numerals import NUMERAL
from planloom.analysis.numbers.units import CURRENCIES, MEASURES, PERCENT_WORDS

_FULL_WIDTH = (
    {ord(wide): narrow for wide, narrow in zip("．％－＋＄￥", ".%-+$¥", strict=True)}
    | {0xFF10 + digit: str(digit) for digit in range(10)}
    | {0xFF21 + index: chr(65 + index) for index in range(26)}
    | {0xFF41 + index: chr(97 + index) for index in range(26)}
)

Hedge = Literal["", "about", "over", "under", "nearly"]
_WIDE = re.compile("[０-９Ａ-Ｚａ-ｚ．％－＋＄￥]")


def half_width(text: str) -> str:
    """Return the text with full-width digits, letters and signs in ASCII, place by place."""
    if text.isascii() or _WIDE.search(text) is None:
        return text
    text = re.sub("(?<=[０-９])，(?=[０-９]{3}(?![０-９]))", ",", text)
    return text.translate(_FULL_WIDTH)


def _alternatives(words: set[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


_SIGNS = {currency.sign.strip() for currency in CURRENCIES} | {"US$", "CN¥", "￥", "RMB"}
_CODES = {currency.code for currency in CURRENCIES}
CURRENCY_BEFORE = (
    rf"(?:{_alternatives(_SIGNS)}|(?<![A-Za-z])(?:{_alternatives(_CODES)})(?=[\s\d−-]))"
)

ENGLISH_SCALES = {
    "hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12,
    "mn": 1e6, "bn": 1e9, "tn": 1e12, "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12,
}  # fmt: skip
CHINESE_PLACES = {"十": 10, "百": 100, "千": 1000}
PERCENT_UNITS = PERCENT_WORDS
_UNITS = (
    r"%|‰|-?\s?percentage[ -]points?\b|-?\s?basis\spoints?\b|bps\b|个?百分点|percent\b|per\scent\b|"
    r"pct\b|ppts?\b|pps?\b|-?fold\b|x(?![A-Za-z0-9])|×(?!\s?\d)|倍"
)
FIGURE = re.compile(
    rf"(?<![0-9A-Za-z_^])(?<!\^-)(?P<left>(?P<ordinal_before>第\s?)?"
    rf"(?P<sign>(?<![0-9A-Za-z%)°])[-−–+]|(?<=[0-9A-Za-z%)°])−(?!\d)|\b(?:minus|negative)\s|负)?"
    rf"(?:(?P<currency>{CURRENCY_BEFORE})\s?)?(?P<sign2>(?<=[^\s\d])[-−])?)"
    rf"(?P<digits>(?:\d{{1,3}}(?:[,\u00a0\u202f]\d{{3}})+(?![0-9])|\d+)(?:\.\d+)?|(?<![\d.])\.\d+)"
    rf"(?:(?P<ordinal_after>st|nd|rd|th)\b|(?P<exponent>[eE][+-]?\d{{1,4}}(?!\d))?"
    rf"(?:\s?-?(?P<scale>hundred|thousand|million|billion|trillion|mn|bn|tn|(?<![a-z])[十百千]?[万亿]+|[百千](?![米克瓦卡]))(?![A-Za-z])"
    rf"|(?P<glued>[kKMBTmbt])(?![A-Za-z0-9²³^/]))?"
    rf"(?:\s?(?P<unit>{_UNITS}))?)",
    re.IGNORECASE,
)

# Standards that a report names without measuring anything.
TECHNICAL = re.compile(
    r"(?<![A-Za-z0-9])(?:UTF[-_]?(?:8|16|32)(?:-(?:SIG|LE|BE))?|SHA-?(?:1|256|512)|MD5|Big5|base64|"
    r"GB\s?(?:18030|2312)|ISO[- ]?8859-\d{1,2}|ISO[- ]?(?:8601|4217|3166)|latin-?1|HTML5|"
    r"(?:windows|cp)-?(?:125\d|936|950|932|437|850)|RFC\s?(?:3339|4180)|Python\s3(?:\.\d+)?|"
    r"Excel\s97)(?![A-Za-z0-9])",
    re.IGNORECASE,
)

_GLUED_UNITS = (
    "kg|g|mg|t|lbs?|km|m|cm|mm|mi|m²|km²|l|ml|°c|°f|km/h|kwh|mwh|kw|mw|mb|gb|ms|s|sec|min|h|hr|hrs|"
    "k|m|b|bn|mn|tn|st|nd|rd|th|x|pp|pps|ppt|ppts|pct|percent|bps|am|pm|e"
)
NAME = re.compile(
    rf"(?<![A-Za-z0-9_])(?:"
    rf"[A-Za-z_][A-Za-z0-9_]*?\d[A-Za-z0-9_]*(?:[-.]\d[A-Za-z0-9_]*)*"  # X100, v2.0, sales_2024
    rf"|(?=[a-z-]{{0,20}}[A-Z])[A-Za-z]+(?:-[A-Za-z]+){{0,3}}-\d+[A-Za-z0-9]*"  # COVID-19
    rf"(?:-[A-Za-z0-9]+)*"
    rf"(?![.,]?\d)"
    rf"|\d+(?:\.\d+){{2,}}"  # 1.2.3
    rf"|(?!\d+(?i:{_GLUED_UNITS})(?![A-Za-z0-9]))(?!\d+[eE][+-]?\d+(?![A-Za-z0-9]))"
    rf"\d+[A-Za-z_][A-Za-z0-9_]*"  # 3D
    rf"|\d+-[A-Z][A-Za-z0-9]*(?:-\w+)*"  # 3-A
    rf")"
)

YEAR = re.compile(r"(?:1[5-9]|20|21)\d\d")
_COUNTERS = (
    "个|行|列|条|件|笔|单|人|名|位|家|种|类|次|天|日|月|年|周|季|小时|分钟|秒|元|块|美元|欧元|英镑|日元|"
    "港元|公斤|千克|克|吨|米|公里|千米|升|倍|个百分点|百分点|页|项|款|张|份|台|辆|座|组|级|层|岁|门|间|"
    "省|市|大|号|期|批|套|箱|瓶|店|户|场|轮|步|段|点|度|处|所|只|支|本|部|篇|幅|户|成"
)
COUNTED = re.compile(
    r"\s?(?:(?!年|月|日)(?:" + _COUNTERS + r"))|"
    r"[\s-](?:rows?|records?|orders?|lines?|values?|items?|units?|customers?|products?|entries|"
    r"times|pieces|people|users|columns?|cells?|cases|observations|transactions|visits|stores)\b",
    re.IGNORECASE,
)

_CHINESE_UNITS = {currency.zh for currency in CURRENCIES} | {"人民币", "￥", "港币", "美金"}
_CHINESE_MEASURES = {measure.zh for measure in MEASURES} | {"公斤", "公里", "星期"}
UNIT_AFTER = re.compile(
    rf"(?:\s?({_alternatives(_CHINESE_UNITS | _CHINESE_MEASURES)})|"
    r"[\s-]?([A-Za-z°µ][A-Za-z²³/]*|[℃℉]|[€£¥$](?!\s?\d)))"
)

_NUM = rf"(?:\d{{1,9}}(?:\.\d{{1,9}})?|{NUMERAL})"
CHINESE_PERCENT = re.compile(rf"(?P<sign>负)?(?P<base>[百千万])分之(?P<number>{_NUM})")
CHINESE_TENTHS = re.compile(
    r"(?<![\d一二三四五六七八九十百千万亿完收变])(?P<tenths>[一二两三四五六七八九十]|[1-9])成"
    r"(?P<half>[一二三四五六七八九半])?(?![不为员人交功果本绩立就语千上员效])"
)
CHINESE_COMPOUND = re.compile(
    r"(?<![\d.,])(?P<high>\d{1,9})(?P<high_scale>[亿万])零?(?P<low>\d{1,9})(?P<low_scale>[万千])(?![亿万])"
)
CHINESE_FRACTION = re.compile(
    rf"(?<![\d.零〇一二两三四五六七八九十百千万亿点])(?P<bottom>{_NUM})分之(?P<top>{_NUM})"
)
CHINESE_HALF = re.compile(r"(?<![第])(?:一半|半数|过半)(?!时间点)")
CHINESE_ORDINAL = re.compile(
    r"第\s?(?P<number>[二两三四五六七八九十百]+|一百[零一二三四五六七八九十]*|十[一二三四五六七八九])(?![方者产季周手])"
)
CHINESE_GROWTH = re.compile("翻(?:了)?(?:一)?[倍番](?!数)|减半|腰斩|成倍增长")
CHINESE_COUNT = re.compile(
    rf"(?<![第零〇一二两三四五六七八九十百千万亿])(?P<number>{NUMERAL})(?P<half>(?=个半))?\s?"
    rf"(?P<unit>个百分点|{_COUNTERS}|公顷|平方米|立方米|(?=[到至~–-]{NUMERAL}\s?(?:{_COUNTERS})))"
)
_COUNTED_BY = (
    rf"(?=\s?(?:{_alternatives(_CHINESE_UNITS | _CHINESE_MEASURES)}|{_COUNTERS}|个|[%‰]))(?!分)"
)
# 十几万元 and 数百家 give a size though no number; 几个 and 数个 are only words. Before 十, 数 may
# end a noun (订单数十个), while 百, 千 and 万 need a numeral before them.
CHINESE_VAGUE = re.compile(
    rf"百分之(?:[一二三四五六七八九]?十几|[几数]十)|"
    rf"(?<![第\d.,零〇一二两三四五六七八九十百千万亿])(?:"
    rf"(?:\d*0|[一二三四五六七八九]?十)几(?:[万亿]+|{_COUNTED_BY})|"
    rf"(?:几|(?<![单人指次个件行总户倍分参函系天页均位小整基录品家店例列条额票])数|数(?=[百千万亿]))"
    rf"(?:[十百千]*[万亿]+|[十百千]+{_COUNTED_BY}))"
)
# Words in which a numeral does not count, though a counter seems to follow.
IDIOM = re.compile(
    "万一|千万[别不要]|十分(?!钟)|一般|一些|一样|一起|一直|一定|统一|三明治|四川|五金|三亚|百度|两位数|"
    "一下|一致|一共|一切|一旦|一路|一向|一度|一时|一点|一面|一边|一部分|一方面|一系列|一本正经|"
    "十月革命|九牛一毛|百年老店|千家万户|百货|三省|七夕|八月瓜|一日|一年(?:一|来|中|内|间|四)|四大|三国|"
    "两级分化|万人空巷|千人千面|百分"
)


def is_counted_one(text: str, match: re.Match[str]) -> bool:
    """Say whether a lone 一 counts ("仅一行") and is no article ("一个问题")."""
    if match["unit"] in {"倍", "个百分点", "元", "万", "亿"}:
        return True
    return (
        re.search("(?:仅|只|共|只有|仅有|共有)$", text[max(0, match.start() - 3) : match.start()])
        is not None
    )


def is_tag(text: str, match: re.Match[str]) -> bool:
    """Say whether a whole number tells one thing from others: "No. 13", "#13", "13号"."""
    if not match["digits"].isdigit() or match["unit"] or match["scale"]:
        return False
    before = text[max(0, match.start() - 4) : match.start()]
    return text.startswith("号", match.end()) or re.search(r"#$|\bNo\.\s?$", before) is not None


SPELLED_UNIT = re.compile(r"[\s-](?:percentage\spoints?|percent\b|per\scent\b|%)", re.IGNORECASE)
RANGE = re.compile(r"\s?(?:[-–—−~～至到]|to|through)\s?", re.IGNORECASE)
BETWEEN = re.compile(r"\bbetween\s(?:about\s)?[$€£¥]?$|介于$", re.IGNORECASE)
LIST = re.compile(r"\s?(?:[、,]|[和与或]|,?\s?and|,?\s?or)\s?", re.IGNORECASE)
_SCALE_WORD = re.compile(
    r"(hundred|thousand|million|billion|trillion|mn|bn|tn|[kKMB])\b|([十百千万亿]+)", re.IGNORECASE
)


def scale_of(numeral: str) -> float:
    """Return the factor of the scale word in a numeral's text; 1 when it has none."""
    match = _SCALE_WORD.search(numeral) if re.search(r"\d", numeral) else None
    if match is None:
        return 1.0
    if match[1]:
        return ENGLISH_SCALES[match[1].lower()]
    factor = 1.0
    for character in match[2]:
        factor *= {"十": 1e1, "百": 1e2, "千": 1e3, "万": 1e4, "亿": 1e8}[character]
    return factor


_ABOUT = (
    r"\b(?:about|around|roughly|approximately|approx\.?|some|circa|ca\.)|"
    "[~≈约]|约为|大概|左右|近似"
)
_OVER = (
    r"\b(?:over|more than|above|exceed(?:s|ed|ing)?|at least|upwards of)|"
    "[>≥超逾]|超过|多于|高于|至少|突破"
)
_UNDER = (
    r"\b(?:under|less than|fewer than|below|at most|up to)|"
    "[<≤]|不到|不足|少于|低于|至多"
)
_NEARLY = r"\b(?:nearly|almost|close to)|近|接近"
_BEFORE = re.compile(
    rf"(?:(?P<about>{_ABOUT})|(?P<over>{_OVER})|(?P<under>{_UNDER})|(?P<nearly>{_NEARLY}))\s?(?:a\s|an\s|the\s|了)?$",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"\s?[\u4e00-\u9fff]{0,2}?(?:(?P<about>左右|上下)|(?P<over>以上|[多余](?=[个元行条件笔单人名]))|(?P<under>以下|以内))"
)


def hedge(text: str, start: int, end: int) -> Hedge:
    """Return how the words around a numeral loosen it, such as "about" or "超过"."""
    before = _BEFORE.search(text[max(0, start - 16) : start])
    match = before or _AFTER.match(text, end)
    if match is None:
        return ""
    kinds: tuple[Hedge, ...] = ("about", "over", "under", "nearly")
    found = match.groupdict()
    return next(kind for kind in kinds if found.get(kind))


_DIGIT = re.compile(r"\d")


def names_in(text: str) -> list[str]:
    """Return the tokens of a text that are names with digits, in lower case."""
    if _DIGIT.search(text) is None:
        return []
    return [match[0].lower() for match in NAME.finditer(half_width(text))]
