"""Chooses the ticks of a value axis, and writes values short enough for a picture."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from planloom.notes import Lang

MINUS: Final = "\N{MINUS SIGN}"
_SCALES: Final[dict[Lang, tuple[tuple[float, str], ...]]] = {
    "en": ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K")),
    "zh": ((1e12, "万亿"), (1e8, "亿"), (1e4, "万")),
}
# Below ten thousand a number is as short in full.
_FULL_BELOW: Final = 1e4


@dataclass(frozen=True, slots=True)
class ValueAxis:
    """The range of a value axis and its ticks."""

    low: float
    high: float
    ticks: tuple[float, ...]
    labels: tuple[str, ...]


def value_axis(
    low: float, high: float, *, unit: str, lang: Lang, from_zero: bool, parts: int = 5
) -> ValueAxis:
    """Return an axis over [low, high] with about `parts` steps of 1, 2, 2.5 or 5 times ten^n."""
    if from_zero:
        low, high = min(low, 0.0), max(high, 0.0)
    if low == high:
        low, high = (low, low + 1.0) if low == 0 else (low - abs(low) / 2, high + abs(high) / 2)
    step = _nice_step((high - low) / parts)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(count * step for count in range(first, last + 1))
    return ValueAxis(ticks[0], ticks[-1], ticks, tick_texts(ticks, unit=unit, lang=lang))


def _nice_step(rough: float) -> float:
    size = 10.0 ** math.floor(math.log10(rough))
    return next(
        (nice * size for nice in (1, 2, 2.5, 5) if nice * size >= rough * (1 - 1e-9)), 10 * size
    )


def starts_at_zero(low: float, high: float) -> bool:
    """Return whether a line's axis should show zero: unless its values lie far from it."""
    if low == high:
        return True
    return low <= 0.6 * high if low >= 0 else high >= 0.6 * low


def tick_texts(ticks: Sequence[float], *, unit: str, lang: Lang) -> tuple[str, ...]:
    """Return the labels of ticks: one scale for all, no more decimals than tell them apart.

    >>> tick_texts([0, 500_000, 1_000_000], unit="$", lang="en")
    ('0', '$0.5M', '$1.0M')
    >>> tick_texts([0, 500_000, 1_000_000], unit="", lang="zh")
    ('0', '50万', '100万')
    """
    size, word = _tick_scale(ticks, lang)
    scaled = [tick / size for tick in ticks]
    decimals = _decimals(scaled)
    return tuple(
        "0" if value == 0 and unit != "%" else with_unit(_number(value, decimals) + word, unit)
        for value in scaled
    )


def short_value(
    value: float, *, unit: str, lang: Lang, largest: float = 0.0, even: bool = False
) -> str:
    """Return a value with about three telling digits, and with its unit when that is a sign.

    `largest` is the size of the greatest value shown beside it: where that is written in
    thousands, this one is too. `even` keeps zeros, so that "16.0K" stands by "12.2K".

    >>> short_value(-1_234_567, unit="$", lang="en"), short_value(1_234_567, unit="¥", lang="zh")
    ('−$1.23M', '¥123万')
    >>> short_value(8765, unit="", lang="en"), short_value(8765, unit="", lang="en", largest=2e4)
    ('8,765', '8.77K')
    >>> short_value(45.5, unit="$", lang="en"), short_value(23.44, unit="%", lang="en")
    ('$45.50', '23.4%')
    """
    if unit == "%" and 0.1 <= abs(value) < 100:
        return with_unit(_number(value, 1), unit)
    size, word = _scale(abs(value), lang, full_below=1e3 if largest >= _FULL_BELOW else _FULL_BELOW)
    scaled = value / size
    decimals = _decimals_for(abs(scaled), 3)
    # 999,960 rounds to 1,000K: say 1M.
    if word and abs(round(scaled, decimals)) * size >= _next_size(size, lang):
        return short_value(math.copysign(_next_size(size, lang), value), unit=unit, lang=lang)
    text = _number(scaled, decimals)
    if is_currency_sign(unit) and not word and 0.01 <= abs(value) < 100:
        # Nobody writes $4.5 for four dollars fifty.
        text = _number(value, 0 if value == round(value) else 2)
    elif "." in text and "e" not in text and not (even and word):
        text = text.rstrip("0").rstrip(".")
    return with_unit(text + word, unit)


def _decimals_for(size: float, digits: int) -> int:
    """Return how many decimals give a number so many telling digits."""
    if size == 0 or size >= 10 ** (digits - 1):
        return 0
    return min(8, digits - 1 - math.floor(math.log10(size)))


def with_unit(text: str, unit: str) -> str:
    """Return a number's text with its unit, when the unit is a sign that numbers carry.

    >>> with_unit("−5", "$"), with_unit("5", "%"), with_unit("5", "kg")
    ('−$5', '5%', '5')
    """
    if unit == "%":
        return text + "%"
    if not is_currency_sign(unit):
        return text
    return MINUS + unit + text[1:] if text.startswith(MINUS) else unit + text


def is_currency_sign(unit: str) -> bool:
    """Return whether a unit is written before its number.

    >>> is_currency_sign("HK$"), is_currency_sign("元")
    (True, False)
    """
    return bool(unit) and len(unit) <= 4 and unicodedata.category(unit[-1]) == "Sc"


def extent(values: Iterable[float | None]) -> tuple[float, float]:
    """Return the least and the greatest of the values that are known."""
    known = [value for value in values if value is not None]
    return min(known), max(known)


def _scale(size: float, lang: Lang, *, full_below: float = _FULL_BELOW) -> tuple[float, str]:
    if size < full_below:
        return 1.0, ""
    return next((scale for scale in _SCALES[lang] if size >= scale[0]), (1.0, ""))


def _tick_scale(ticks: Sequence[float], lang: Lang) -> tuple[float, str]:
    """Return the scale that suits all ticks: 0.2M is usual, but 0.2万 is not."""
    largest = max(abs(tick) for tick in ticks)
    step = (max(ticks) - min(ticks)) / max(1, len(ticks) - 1)
    least = 0.1 if lang == "en" else 0.5
    fitting = [
        (size, word) for size, word in _SCALES[lang] if size <= largest and step >= least * size
    ]
    return fitting[0] if fitting and largest >= _FULL_BELOW else (1.0, "")


def _next_size(size: float, lang: Lang) -> float:
    larger = [scale for scale, _ in _SCALES[lang] if scale > size]
    return min(larger, default=math.inf)


def _decimals(values: Sequence[float]) -> int:
    """Return how many decimals tell the values apart; all are multiples of one nice step."""
    for decimals in range(9):
        if all(math.isclose(round(v, decimals), v, rel_tol=1e-9, abs_tol=1e-12) for v in values):
            return decimals
    return 9


def _number(value: float, decimals: int) -> str:
    if abs(value) >= 1e15 or 0 < abs(value) < 1e-6:
        return f"{value:.2g}".replace("-", MINUS)
    text = f"{abs(value):,.{decimals}f}"
    return MINUS + text if value < 0 and text.strip("0.,") else text
