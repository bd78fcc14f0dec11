"""Text of goals and names of columns, cut into tokens that compare alike in English and Chinese."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

# Only characters that the vocabulary or everyday column names use; the rest stays as written.
_TRADITIONAL = (
    "銷销額额營营業业數数據据產产類类別别區区域域門门國国總总體体價价單单訂订戶户會会員员經经濟济費费趨趋勢势"
    "變变長长環环較较對对華华東东關关聯联係系測测預预報报導导統统計计圖图錶表佔占構构級级間间時时週周歲岁"
    "齡龄資资薪薪淨净潤润潛潜貨货庫库倉仓應应廠厂廣广專专學学績绩師师醫医療疗診诊斷断傷伤藥药險险養养頁页"
    "訪访問问瀏浏覽览點点擊击設设備备機机溫温濕湿壓压氣气電电風风雲云電电網网絡络頻频繁繁階阶層层實实現现"
    "際际項项優优劣劣獎奖罰罚務务職职鎮镇鄉乡縣县灣湾濱滨蘇苏漢汉廈厦遼辽寧宁龍龙陝陕甘甘肅肃滬沪閩闽贛赣"
    "個个為为與与並并還还請请幫帮給给讓让這这裡里從从來来說说話话嗎吗麼么樣样後后過过無无沒没僅仅隻只選选"
    "擇择過过濾滤除除異异進进開开結结標标題题稱称號号碼码記记錄录帳账戰战畫画寫写處处獲获減减增增該该約约"
    "佈布渠渠徑径係系歷历屆届內内極极種种條条檔档熱热銀银賣卖買买購购貴贵賤贱贏赢虧亏損损債债權权稅税貢贡"
    "獻献評评級级滿满調调試试試试驗验課课語语數数億亿萬万圓圆幣币兩两參参陸陆聖圣達达運运輸输車车輛辆"
    "線线連连續续終终極极節节紐纽紙纸組组織织細细緩缓緊紧緒绪維维綜综總总績绩繪绘離离難难雙双響响順顺須须"
)
_SIMPLIFIED = dict(zip(_TRADITIONAL[::2], _TRADITIONAL[1::2], strict=True))

_TOKEN = re.compile(
    r"(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d])|\d+(?:\.\d+)?)"
    r"|(?P<han>[\u3400-\u9fff\uf900-\ufaff])"
    r"|(?P<word>(?:(?![\d_\u3400-\u9fff\uf900-\ufaff])\w)+)"
    r"|(?P<break>\n+)"
    r"|(?P<hyphen>(?<=\w)[-‐‑'’](?=\w))"
    r"|(?P<mark>[^\w\s])"
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_POSSESSIVE = re.compile(r"['’]s\b")


@dataclass(frozen=True, slots=True)
class Token:
    """One word, number, Chinese character or mark of a text."""

    text: str
    """As written."""
    norm: str
    """For comparing: lower case, simplified characters, singular."""
    start: int
    """Offset in the text."""
    end: int

    @property
    def is_han(self) -> bool:
        """Whether the token is one Chinese character."""
        return len(self.norm) == 1 and "\u3400" <= self.norm <= "\ufaff"

    @property
    def is_number(self) -> bool:
        """Whether the token is a number in digits."""
        return self.norm[:1].isdecimal()

    @property
    def is_word(self) -> bool:
        """Whether the token is a word of an alphabet."""
        return self.norm[:1].isalpha() and not self.is_han


def fold(text: str) -> str:
    """Return `text` in lower case, half width and simplified characters, of the same length.

    >>> fold("ＴＯＰ５ 銷售額")
    'top5 销售额'
    """
    return "".join(map(_fold_character, text))


@cache
def _fold_character(character: str) -> str:
    folded = unicodedata.normalize("NFKC", character).lower()
    if len(folded) != 1:  # offsets must stay those of the original
        folded = character
    return _SIMPLIFIED.get(folded, folded)


def tokenize(text: str) -> tuple[Token, ...]:
    """Return the tokens of a goal or a name; blanks and underscores only separate.

    >>> [token.norm for token in tokenize("AnnualSalaries by 地區, TOP5")]
    ['annual', 'salary', 'by', '地', '区', ',', 'top', '5']
    """
    folded = _POSSESSIVE.sub(lambda match: " " * len(match.group()), fold(text))
    tokens: list[Token] = []
    for match in _TOKEN.finditer(folded):
        start, end = match.span()
        if match.lastgroup == "hyphen":
            continue
        if match.lastgroup == "word":
            tokens += _split_camel(text, folded, start, end)
        else:
            norm = match.group().replace(",", "") if match.lastgroup == "number" else match.group()
            tokens.append(Token(text[start:end], norm, start, end))
    return tuple(tokens)


def _split_camel(text: str, folded: str, start: int, end: int) -> list[Token]:
    cuts = [start, *(start + m.start() for m in _CAMEL.finditer(text[start:end])), end]
    return [Token(text[a:b], singular(folded[a:b]), a, b) for a, b in pairwise(cuts) if a < b]


@lru_cache(maxsize=32_768)  # the names of a wide table are asked for again and again
def norms(text: str) -> tuple[str, ...]:
    """Return the comparable tokens of `text`, without marks.

    >>> norms("费用金额(元)")
    ('费', '用', '金', '额', '元')
    """
    return tuple(token.norm for token in tokenize(text) if token.norm[0].isalnum() or token.is_han)


def singular(word: str) -> str:
    """Return an English word without its plural ending; other words as they are.

    Both sides of every comparison pass through here, so that odd results do no harm.

    >>> [singular(word) for word in ("cities", "boxes", "sales", "status", "class")]
    ['city', 'box', 'sale', 'status', 'class']
    """
    if len(word) < 4 or word.endswith(("ss", "us", "is")) or not word.endswith("s"):
        return word
    if word.endswith(("gnoses", "lyses")):
        return word[:-2] + "is"
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("xes", "ches", "shes", "sses")):
        return word[:-2]
    return word[:-1]


def typing_distance(left: str, right: str) -> int:
    """Return how many letters were mistyped: added, left out, changed or swapped with the next.

    Source: optimal string alignment distance (Damerau 1964).

    >>> typing_distance("amuont", "amount")
    1
    """
    rows = [list(range(len(right) + 1))]
    for i, a in enumerate(left, 1):
        row = [i]
        for j, b in enumerate(right, 1):
            best = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                best = min(best, rows[-2][j - 2] + 1)
            row.append(best)
        rows.append(row)
    return rows[-1][-1]
