"""Tells whether the cells of a row are units, as they stand below the names of columns."""

from __future__ import annotations

import re
from collections.abc import Sequence


def _words(text: str) -> list[str]:
    return text.split()


_WORDS = frozenset(
    _words(
        "% ‰ ° °c °f ℃ ℉ k c f degc degf deg s sec min h hr hrs hour hours d day days wk week "
        "weeks mo month months yr year years ms us µs ns m km cm mm µm um nm ft in inch mi "
        "mile miles yd ha acre acres l ml dl µl g kg mg µg ug ng t lb lbs oz mol mmol µmol "
        "ppm ppb ppt psu n kn pa hpa kpa mpa bar mbar psi atm j kj mj gj cal kcal w kw mw gw "
        "wh kwh mwh gwh twh v mv kv a ma ah hz khz mhz ghz db dba rad bq sv gy lx lm cd b kb "
        "mb gb tb bit bits byte bytes rpm mph kph kmh kt kts knots pcs pc ea each unit units "
        "count no. # $ € £ ¥ usd eur gbp cny rmb jpy chf thousand million billion utc local "
        "yyyy-mm-dd dd/mm/yyyy mm/dd/yyyy hh:mm hh:mm:ss 元 万元 亿元 美元 千元 百万元 人 "
        "万人 个 件 台 吨 万吨 公斤 千克 克 米 公里 千米 厘米 毫米 平方米 平方公里 公顷 亩 "
        "立方米 升 毫升 小时 分钟 秒 天 日 月 年 岁 次 度 千瓦时 倍 户 家 辆"
    )
)
_BRACKETS = re.compile(r"\(.{1,20}\)|\[.{1,20}\]|（.{1,20}）|【.{1,20}】")
_EXPONENT = re.compile(r"[\^*]*[-−⁻]?[0-9²³¹]+$")


def is_units_row(row: Sequence[str]) -> bool:
    """Return whether every cell of a row is a known unit, one in brackets, or blank.

    >>> is_units_row(["s", "°C", "m/s"]), is_units_row(["", "(C)", "(mm)"])
    (True, True)
    >>> is_units_row(["Anna", "absent"])
    False
    """
    cells = [cell.strip() for cell in row]
    return any(cells) and all(not cell or _is_unit(cell) for cell in cells)


def _is_unit(text: str) -> bool:
    if _BRACKETS.fullmatch(text) or text.lower() in _WORDS or text in ("-", "--", "1"):
        return True
    parts = [part for part in re.split(r"[/·* ]| per ", text.lower()) if part]
    return len(parts) > 1 and all(_EXPONENT.sub("", part) in _WORDS for part in parts)
