"""Reading numbers that are written in Chinese numerals, such as 二十三 or 三点五亿."""

from __future__ import annotations

import re

DIGITS = {
    "零": 0, "〇": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7,
    "八": 8, "九": 9,
}  # fmt: skip
PLACES = {"十": 10, "百": 100, "千": 1000}
SCALES = {"万": 10_000, "亿": 100_000_000}

NUMERAL = "[零〇一二两三四五六七八九十百千万亿]+(?:点[零〇一二三四五六七八九]+[万亿]*)?"
"""Pattern of a run of Chinese numerals; only `parse_chinese` knows whether it is a number."""

_LONGEST = 40
"""Longer runs of numerals are no number."""


def parse_chinese(text: str) -> float | None:
    """Return the number that Chinese numerals (or plain digits) write; None when they write none.

    >>> [parse_chinese(text) for text in ("二十三", "两千零五", "二〇二四", "三点五亿")]
    [23, 2005, 2024, 350000000.0]
    >>> parse_chinese("十百"), parse_chinese("万")
    (None, None)
    """
    if re.fullmatch(r"\d{1,15}", text):
        return int(text)
    if len(text) > _LONGEST:
        return None
    whole, point, rest = text.partition("点")
    if point:
        return _with_decimals(whole, rest)
    if len(text) > 1 and all(character in DIGITS for character in text):
        return int("".join(str(DIGITS[character]) for character in text))
    return _whole(text)


def last_place(text: str) -> float:
    """Return the worth of the last written digit: 10,000 for 三万, 1,000 for 三万五千.

    Numbers below ten thousand are exact: 二十 is twenty, not about twenty.
    """
    number = parse_chinese(text)
    if number is None or abs(number) < 10_000:
        return 10.0 ** -len(text.partition("点")[2])
    digits = re.search(r"[零〇一二两三四五六七八九]([十百千万亿]*)$", text)
    place = 1.0
    for character in digits[1] if digits else "":
        place *= (PLACES | SCALES)[character]
    decimals = re.search(r"点([零〇一二三四五六七八九]+)", text)
    return place / 10 ** len(decimals[1]) if decimals else place


def _with_decimals(whole: str, rest: str) -> float | None:
    match = re.fullmatch(r"([零〇一二三四五六七八九]+)([万亿]*)", rest)
    number = _whole(whole) if whole else None
    if match is None or number is None:
        return None
    value = float(f"{number}.{''.join(str(DIGITS[character]) for character in match[1])}")
    for character in match[2]:
        value *= SCALES[character]
    return value


def _whole(text: str) -> int | None:
    """Add up a number with places; None where the order of the places is impossible."""
    total, section, digit = 0, 0, None
    last = 10_000
    for character in text:
        if character in DIGITS:
            if digit:  # two digits side by side are no number with places
                return None
            digit = DIGITS[character]
        elif character in PLACES:
            place = PLACES[character]
            if place >= last or (digit is None and place != 10):
                return None
            section += (1 if digit is None else digit) * place
            digit, last = None, place
        else:
            section += digit or 0
            if not section and not total:
                return None
            # 万亿: the scale multiplies all that stands before it.
            if SCALES[character] > total > 0 and section == 0:
                total *= SCALES[character]
            elif SCALES[character] == 10**8:
                total = (total + section) * SCALES[character]
            else:
                total += section * SCALES[character]
            section, digit, last = 0, None, 10_000
    return total + section + (digit or 0)
