"""Reads the text of one cell as a number, in a given style."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


MISSING_MARKERS = frozenset(
    _words(
        "- -- --- — – —— . .. ... ? * / \\n n/a na n.a. n.a nan nr nd n.d. null none nil missing "
        "unknown #n/a #na #n/d #div/0! #value! #ref! #name? #num! #null! <na> tbd "
        "无 無 暂无 缺失 未知 空 不详 无数据"
    )
) | {"not available"}
"""What stands for "no value" in columns of numbers and dates, in lower case."""

_UNITS = {
    "￥": "¥", "人民币": "¥", "us$": "$", "rmb": "CNY", "圆": "元", "％": "%", "euro": "€",
}  # fmt: skip
_SYMBOLS = _words("US$ HK$ NT$ R$ A$ C$ S$ $ € £ ¥ ￥ ₩ ₹ ₽ ₺ ฿ ₫ ₪ ₴ kr zł CHF Fr. Kč")
_CODES = _words("USD EUR GBP CNY RMB JPY CHF AUD CAD HKD TWD KRW INR SGD SEK NOK DKK PLN BRL RUB")
_MONEY_WORDS = _words("元 美元 欧元 日元 港元 円 圆 euro")
_MEASURES = _words(
    "% ％ ‰ kg g mg t lb oz km cm mm m ml l L kWh kW MW GB MB °C ℃ 件 个 個 人 台 箱 吨 噸 "
    "岁 歲 天 次 套 只 公斤 千克 克 斤 米 公里 平方米 ㎡ m² m2 小时 分钟"
)
CURRENCIES = frozenset(
    _UNITS.get(word.lower(), word) for word in (*_SYMBOLS, *_CODES, *_MONEY_WORDS)
)
"""Units of money, in the spelling of `NumberText.unit`."""


def _any_of(*words: str) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


_NUMBER = re.compile(
    rf"(?P<open>\()?\s*(?P<sign>[+-])?\s*(?P<prefix>{_any_of(*_SYMBOLS, *_CODES)})?\s*"
    r"(?P<inner>[+-])?\s*(?P<body>\d[\d.,' ]*|[.,]\d+)(?P<exponent>[eE][+-]?\d{1,3})?\s*"
    r"(?P<scale>万亿|百万|千万|[千万萬亿億])?\s*"
    rf"(?P<suffix>{_any_of(*_SYMBOLS, *_CODES, *_MONEY_WORDS, *_MEASURES)})?\s*(?P<close>\))?"
)
_SCALES = {
    "千": 10**3, "万": 10**4, "萬": 10**4, "百万": 10**6, "千万": 10**7, "亿": 10**8, "億": 10**8,
    "万亿": 10**12,
}  # fmt: skip
_PLAIN_NUMBER = re.compile(r"[+-]?\d{1,15}(\.\d+)?")
# Typographic forms of the marks that NFKC leaves alone.
_MARKS = str.maketrans({
    "−": "-", "–": "-", "﹣": "-", "’": "'", "\u2009": " ", "\u202f": " ", "\xa0": " ",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class NumberText:
    """A cell that looks like a number, taken apart; separators are not interpreted yet."""

    negative: bool
    body: str
    """Digits with their separators, such as "1.234,50"."""
    exponent: str
    scale: int
    """Factor of a suffix such as 万."""
    unit: str
    """Sign or word beside the number, in its usual spelling; "" for none."""


@dataclass(frozen=True, slots=True)
class NumberStyle:
    """How a column writes its numbers."""

    decimal: str = "."
    """"." or ","."""
    thousands: str = ""
    """"," "." " " "'" or "" for none."""
    unit: str = ""
    """The unit that cells may carry; cells with another one are not read."""
    unit_required: bool = False
    """Cells without the unit are not read: a bare 0.5 among percentages could mean anything."""


def split_number(text: str) -> NumberText | None:
    """Return the parts of a cell that looks like a number, or None.

    >>> split_number("(US$ 1,234.50)")
    NumberText(negative=True, body='1,234.50', exponent='', scale=1, unit='$')
    """
    match = _NUMBER.fullmatch(plain_text(text))
    if match is None or bool(match["open"]) != bool(match["close"]):
        return None
    signs = [sign for sign in (match["sign"], match["inner"]) if sign]
    units = [unit for unit in (match["prefix"], match["suffix"]) if unit]
    if len(signs) > 1 or len(units) > 1 or (signs and match["open"]):
        return None
    unit = units[0] if units else ""
    return NumberText(
        negative="-" in signs or bool(match["open"]),
        body=match["body"].strip(),
        exponent=match["exponent"] or "",
        scale=_SCALES[match["scale"]] if match["scale"] else 1,
        unit=_UNITS.get(unit.lower(), unit),
    )


def read_number(text: str, style: NumberStyle) -> int | float | None:
    """Return the number that a cell holds when it is written in `style`, or None.

    >>> read_number("1.234.567,5 €", NumberStyle(decimal=",", thousands=".", unit="€"))
    1234567.5
    >>> read_number("3.5万", NumberStyle())
    35000
    """
    parts = split_number(text)
    if parts is None or parts.unit not in ("", style.unit):
        return None
    if style.unit_required and not parts.unit:
        return None
    digits = plain_digits(parts.body, style.decimal, style.thousands)
    if digits is None:
        return None
    value = _value(digits, parts)
    return -value if parts.negative else value


def _value(digits: str, parts: NumberText) -> int | float:
    if "." not in digits and not parts.exponent:
        return int(digits) * parts.scale
    value = float(digits + parts.exponent) * parts.scale
    return round(value) if parts.scale > 1 and abs(value - round(value)) < 1e-6 else value


def plain_digits(body: str, decimal: str, thousands: str) -> str | None:
    """Return digits with a decimal point, or None when the separators stand in odd places.

    >>> plain_digits("1.234,5", ",", "."), plain_digits("12.34,5", ",", ".")
    ('1234.5', None)
    """
    whole, mark, fraction = body.partition(decimal)
    if mark and not (fraction.isdigit() or (not fraction and whole)):
        return None
    if whole and not whole.isdigit():
        if not thousands or not _is_grouped(whole, thousands):
            return None
        whole = whole.replace(thousands, "")
    return f"{whole or '0'}.{fraction}" if fraction else whole or None


def _is_grouped(whole: str, mark: str) -> bool:
    groups = whole.split(mark)
    if not all(group.isdigit() for group in groups) or len(groups[-1]) != 3:
        return False
    sizes = {len(group) for group in groups[1:-1]}
    # 12,34,567 is the Indian way of grouping.
    return len(groups[0]) <= 3 and (sizes <= {3} or (sizes == {2} and mark == ","))


def looks_like_number(text: str) -> bool:
    """Return whether some style reads the cell as a number."""
    text = text.strip()
    if _PLAIN_NUMBER.fullmatch(text):
        return True
    parts = split_number(text)
    if parts is None:
        return False
    return any(
        plain_digits(parts.body, decimal, thousands) is not None
        for decimal, thousands in ((".", ","), (",", "."), (".", " "), (",", " "), (".", "'"))
    )


def is_missing(text: str) -> bool:
    """Return whether the cell is blank or a common sign for "no value".

    >>> is_missing(" N/A "), is_missing("0")
    (True, False)
    """
    text = text.strip()
    return not text or text.lower() in MISSING_MARKERS


def plain_text(text: str) -> str:
    """Return the cell without full-width forms, odd spaces and dashes, and outer blanks."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.translate(_MARKS)).translate(_MARKS)
    return text.strip()
