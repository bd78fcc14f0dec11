"""How numbers, periods and other values of facts are written in English and Chinese prose.

The rules, which `numerals.read_numerals` reads back:

- Thousands marks in both languages. Whole numbers are written in full below ten million.
- Money and measures from a million on read "1.23 million" in English, from 10,000 on "1.23万"
  and "1.23亿" in Chinese: two decimals below ten, else one, without needless zeros.
- Money below 1,000 has two decimals unless whole; above, none. English writes "$1,234" and
  "CHF 1,234", Chinese "1,234元" and "1,234美元".
- Other numbers keep about four significant digits. Halves are rounded up, away from zero; float
  noise never shows.
- Multiples (unit "times", "x" or "倍") have one decimal from 2 on.
- Per cent has one decimal, two below 1, none when whole; it gets more where it would otherwise
  round to 0% or 100% without being that.
- Below zero stands a real minus (U+2212): screen readers say it, and it is no hyphen of a range.
- Measures follow the number ("12.5 kg", "3 hours", "3小时"). Count nouns ("order") are left to the
  sentence, which has them as `{{id|order|orders}}`.
- Periods: "9 March 2024", "March 2024", "Q1 2024", "week 5 of 2024"; "2024年3月9日", "2024年3月",
  "2024年第一季度", "2024年第5周".
- Nothing (None, NaN) is "–"; other text stays as it is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Context, Decimal

from planloom.analysis.numbers.units import MULTIPLE_WORDS, currency_of, measure_text, unit_kind
from planloom.notes import Lang, Scalar
from planloom.values import Fact

MINUS = "−"
MISSING = "–"
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
PERIOD_UNITS = frozenset({"day", "week", "month", "quarter", "year"})

_FULL_BELOW = 1e7
_SCALES: dict[Lang, tuple[tuple[float, str], ...]] = {
    "en": ((1e6, " million"), (1e9, " billion"), (1e12, " trillion")),
    "zh": ((1e4, "万"), (1e8, "亿"), (1e12, "万亿")),
}
_SCIENTIFIC_FROM = 1e15
_SCIENTIFIC_BELOW = 1e-6
_BOOLEANS: dict[Lang, tuple[str, str]] = {"en": ("no", "yes"), "zh": ("否", "是")}
_PERIOD = re.compile(
    r"(?P<year>\d{4})(?:-?W(?P<week>\d{1,2})|-?Q(?P<quarter>[1-4])|-(?P<month>\d{2})"
    r"(?:-(?P<day>\d{2})(?:[T ]00:00(?::00(?:\.0+)?)?Z?)?)?)?"
)


def show_fact(fact: Fact, lang: Lang) -> str:
    """Return the value of a fact as prose writes it."""
    return show(fact.value, fact.unit, lang)


_WIDE = Context(prec=350)
"""Enough digits for any float in full."""


def show(value: Scalar, unit: str, lang: Lang, *, precision: int | None = None) -> str:
    """Return a value with its unit as prose writes it, by the rules of this module.

    `precision` asks for that many decimals of the full number instead.

    >>> show(1234567, "row", "en"), show(1234567.891, "$", "en"), show(4.5e9, "", "en")
    ('1,234,567', '$1.23 million', '4.5 billion')
    >>> show(1234567.891, "¥", "zh"), show(1234.0, "¥", "zh"), show(123456789, "$", "zh")
    ('123.5万元', '1,234元', '1.23亿美元')
    >>> show(-1234.5, "CHF", "en"), show(12.5, "€", "en"), show(0.1 + 0.2, "", "en")
    ('−CHF 1,235', '€12.50', '0.3')
    >>> show(23.456, "%", "en"), show(0.456, "%", "en"), show(99.97, "%", "en"), show(50, "%", "en")
    ('23.5%', '0.46%', '99.97%', '50%')
    >>> show(5.04, "pp", "en"), show(1, "pp", "en"), show(-5.04, "pp", "zh")
    ('5.0 percentage points', '1 percentage point', '−5.0个百分点')
    >>> show(12.5, "kg", "en"), show(3, "hours", "zh"), show(1, "hour", "en")
    ('12.5 kg', '3小时', '1 hour')
    >>> show(20.75, "times", "en"), show(1.234, "times", "zh"), show(3.04, "x", "en")
    ('20.8', '1.23', '3 x')
    >>> show("2024-03-09", "day", "en"), show("2024-Q1", "quarter", "zh"), show(None, "kg", "en")
    ('9 March 2024', '2024年第一季度', '–')
    >>> show(45.678, "", "en", precision=1), show(True, "", "zh"), show("X100", "", "en")
    ('45.7', '是', 'X100')
    """
    if isinstance(value, str):
        return show_period(value, lang) if unit in PERIOD_UNITS else value
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return MISSING
    if isinstance(value, bool):
        return _BOOLEANS[lang][value]
    if unit == "year" and 1000 <= value <= 9999 and float(value).is_integer():
        return show_period(str(int(value)), lang)
    digits = _prose_digits(abs(value), unit, lang, precision)
    return _signed(value, _with_unit(digits, unit, lang), digits)


def show_number(value: float, unit: str, lang: Lang) -> str:
    """Return a number without its unit, as it stands before a noun of the sentence."""
    digits = _prose_digits(abs(value), unit, lang, None)
    return _signed(value, digits, digits)


def show_period(value: str, lang: Lang) -> str:
    """Return an ISO label of a day, week, month, quarter or year in words; other text as it is.

    >>> [show_period(text, "en") for text in ("2024-03", "2024-W05", "2024", "spring")]
    ['March 2024', 'week 5 of 2024', '2024', 'spring']
    >>> [show_period(text, "zh") for text in ("2024-03-09", "2024-03", "2024-W05", "2024")]
    ['2024年3月9日', '2024年3月', '2024年第5周', '2024年']
    """
    match = _PERIOD.fullmatch(value.strip())
    if match is None or not 1 <= int(match["month"] or 1) <= 12:
        return value
    year, parts = match["year"], {key: int(part) for key, part in match.groupdict("0").items()}
    return _english(year, parts) if lang == "en" else _chinese(year, parts)


def _english(year: str, parts: dict[str, int]) -> str:
    if parts["week"]:
        return f"week {parts['week']} of {year}"
    if parts["quarter"]:
        return f"Q{parts['quarter']} {year}"
    month = f"{MONTHS[parts['month'] - 1]} " if parts["month"] else ""
    day = f"{parts['day']} " if parts["day"] else ""
    return f"{day}{month}{year}"


def _chinese(year: str, parts: dict[str, int]) -> str:
    if parts["week"]:
        return f"{year}年第{parts['week']}周"
    if parts["quarter"]:
        return f"{year}年第{'一二三四'[parts['quarter'] - 1]}季度"
    month = f"{parts['month']}月" if parts["month"] else ""
    day = f"{parts['day']}日" if parts["day"] else ""
    return f"{year}年{month}{day}"


def show_cell(value: Scalar, unit: str, lang: Lang, *, decimals: int | None = None) -> str:
    """Return a value as a table cell writes it: in full, with no unit but "%" and "pp".

    Money and measures have their unit in the heading. Give `decimals` from `column_decimals`, so
    that the decimal points of a column stand below each other.

    >>> show_cell(1234567.5, "$", "en"), show_cell(23.456, "%", "zh"), show_cell(None, "", "en")
    ('1,234,567.50', '23.5%', '–')
    >>> show_cell(7, "", "en", decimals=2), show_cell("2024-03", "month", "en")
    ('7.00', 'March 2024')
    """
    if isinstance(value, (str, bool)) or value is None or not math.isfinite(value):
        return show(value, unit, lang)
    if unit == "year" and 1000 <= value <= 9999 and float(value).is_integer():
        return str(int(value))
    if decimals is None:
        decimals = column_decimals([value], unit)
    digits = _fixed(abs(value), decimals)
    suffix = {"percent": "%", "points": " pp"}.get(unit_kind(unit), "")
    return _signed(value, digits + suffix, digits)


def show_column(values: Iterable[Scalar], unit: str, lang: Lang) -> list[str]:
    """Return the cells of a column, numbers with the same count of decimals.

    >>> show_column([1, 2.25, None], "", "en"), show_column([1200.0, 3.5], "$", "en")
    (['1.00', '2.25', '–'], ['1,200.00', '3.50'])
    """
    cells = list(values)
    decimals = column_decimals(cells, unit)
    return [show_cell(cell, unit, lang, decimals=decimals) for cell in cells]


def column_decimals(values: Iterable[Scalar], unit: str) -> int:
    """Return how many decimals all numbers of a column need, at most 6.

    Whole numbers need none, money two, per cent one (two when all are below 1); other columns
    enough for three significant digits of the smallest, but no more than the values have.

    >>> [column_decimals(*column) for column in (([1, 2], ""), ([0.5, 12.25], "kg"), ([9.5], "$"))]
    [0, 2, 2]
    """
    numbers = [
        abs(value)
        for value in values
        if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    ]
    broken = [number for number in numbers if not float(number).is_integer()]
    if not broken:
        return 0
    kind = unit_kind(unit)
    if kind == "currency" and max(numbers) >= 0.01:
        return 2
    if kind in {"percent", "points"}:
        return 1 if max(numbers) >= 1 else 2
    return min(max(map(_own_decimals, broken)), max(map(_wanted_decimals, broken)), 6)


def _own_decimals(number: float) -> int:
    """Count the decimals that a number has, noise of binary fractions left out."""
    text = f"{number:.10f}".rstrip("0")
    return len(text.partition(".")[2])


def _wanted_decimals(number: float) -> int:
    """Count the decimals that give a number three significant digits, at least one."""
    return max(1, 2 - math.floor(math.log10(number)))


def _prose_digits(magnitude: float, unit: str, lang: Lang, precision: int | None) -> str:
    if precision is not None:
        return _fixed(magnitude, precision)
    kind = unit_kind(unit)
    if kind in {"percent", "points"}:
        return _percent_digits(magnitude)
    if unit.strip().lower() in MULTIPLE_WORDS and 2 <= magnitude < 1000:
        return _fixed(magnitude, 1).removesuffix(".0")
    if magnitude and not _SCIENTIFIC_BELOW <= magnitude < _SCIENTIFIC_FROM:
        return f"{Decimal(magnitude):.2e}"
    compact_from = _SCALES[lang][0][0] if kind in {"currency", "measure"} else _FULL_BELOW
    if magnitude + 0.5 >= compact_from:
        return _compact_digits(magnitude, lang)
    if float(magnitude).is_integer() or magnitude >= 1000:
        return _fixed(magnitude, 0)
    if kind == "currency" and magnitude >= 0.01:
        return _fixed(magnitude, 2)
    return _four_digits(magnitude)


def _fixed(magnitude: float, decimals: int) -> str:
    """Write a number with thousands marks, rounded half up in decimal as people and SQL do it."""
    step = Decimal(1).scaleb(-decimals)
    return f"{Decimal(repr(magnitude)).quantize(step, ROUND_HALF_UP, _WIDE):,f}"


def _percent_digits(magnitude: float) -> str:
    if float(magnitude).is_integer():
        return _fixed(magnitude, 0)
    decimals = 1 if magnitude >= 1 else 2
    # "0.00%" and "100.0%" would say none and all.
    while decimals < 10 and float(_fixed(magnitude, decimals).replace(",", "")) in {0, 100}:
        decimals += 1
    return _fixed(magnitude, decimals)


def _compact_digits(magnitude: float, lang: Lang) -> str:
    scales = _SCALES[lang]
    index = 0
    # Compared after rounding: 999.96 million is 1 billion, not 1000 million.
    while index + 1 < len(scales) and _scaled(magnitude, scales[index][0]) >= Decimal(
        scales[index + 1][0] / scales[index][0]
    ):
        index += 1
    scale, word = scales[index]
    digits = f"{_scaled(magnitude, scale):f}"
    return (digits.rstrip("0").rstrip(".") if "." in digits else digits) + word


def _scaled(magnitude: float, scale: float) -> Decimal:
    scaled = Decimal(repr(magnitude)) / Decimal(scale)
    step = Decimal("0.01") if scaled < 10 else Decimal("0.1")
    return scaled.quantize(step, ROUND_HALF_UP, _WIDE)


def _four_digits(magnitude: float) -> str:
    """Write a broken number below 1,000 with about four significant digits."""
    if magnitude >= 100:
        decimals = 1
    elif magnitude >= 1:
        decimals = 2
    else:
        decimals = 2 - math.floor(math.log10(magnitude))
    text = _fixed(magnitude, decimals).rstrip("0")
    return text + "0" if text.endswith(".") else text


def _with_unit(digits: str, unit: str, lang: Lang) -> str:
    kind = unit_kind(unit)
    if kind == "percent":
        return f"{digits}%"
    if kind == "points":
        english = "percentage point" if digits == "1" else "percentage points"
        return f"{digits} {english}" if lang == "en" else f"{digits}个百分点"
    if kind == "measure":
        return digits + measure_text(unit, lang, is_one=digits == "1")
    currency = currency_of(unit)
    if currency is None:
        return digits
    if lang == "zh":
        return f"{digits}{currency.zh}"
    # A code that the data uses is kept: "$" could be the sign of several.
    is_code = unit.strip().upper() == currency.code
    return f"{currency.code} {digits}" if is_code else f"{currency.sign}{digits}"


def _signed(value: float, shown: str, digits: str) -> str:
    # What rounds to zero has no sign.
    return MINUS + shown if value < 0 and re.search("[1-9]", digits) else shown
