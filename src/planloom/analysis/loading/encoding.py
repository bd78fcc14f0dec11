"""Finds the encoding of a text: by its mark, else UTF-8, else the legacy one that reads best."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from planloom.analysis.loading.byte_scan import ByteScan, read_chunks
from planloom.notes import Note


@dataclass(frozen=True, kw_only=True)
class Encoding:
    """How the bytes of a file become text."""

    name: str
    """Python's name, in lower case."""
    errors: str = "strict"
    """"replace" when some bytes fit no character."""
    notes: tuple[Note, ...] = ()


_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
# Bytes that are no UTF-8, at most one in this many other characters: damage, not another encoding.
_GOOD_PER_BAD = 20


def detect_encoding(path: Path, scan: ByteScan) -> Encoding:
    """Return the encoding of a text file whose bytes were counted in `scan`."""
    for mark, name in _MARKS:
        if scan.head.startswith(mark):
            return _by_mark(name, scan)
    if wide := _wide_without_mark(scan):
        return Encoding(name=wide, errors="replace", notes=(_said(wide, "no mark"),))
    if scan.is_utf8:
        return Encoding(name="utf-8", notes=() if scan.is_ascii else (_said("utf-8", "valid"),))
    bad, good = _count_utf8_damage(path)
    if good >= bad * _GOOD_PER_BAD:
        return Encoding(name="utf-8", errors="replace", notes=(_damaged("UTF-8", bad),))
    return _legacy(bytes(scan.foreign))


def _by_mark(name: str, scan: ByteScan) -> Encoding:
    broken = name == "utf-8-sig" and not scan.is_utf8
    note = _said(name, "mark")
    if broken:
        lost = Note(
            "Bytes that are no valid UTF-8 were replaced by the sign U+FFFD.",
            "不是有效 UTF-8 的字节已用替换符 U+FFFD 代替。",
        )
        return Encoding(name=name, errors="replace", notes=(note, lost))
    return Encoding(name=name, errors="strict" if name == "utf-8-sig" else "replace", notes=(note,))


_REASONS: Mapping[str, tuple[str, str]] = {
    "mark": ("its byte order mark says so", "文件开头的字节顺序标记（BOM）如此标明"),
    "no mark": (
        "every other byte is zero, though there is no byte order mark",
        "虽无字节顺序标记（BOM），但每隔一个字节为零",
    ),
    "valid": ("all bytes are valid", "全部字节均有效"),
    "legacy": (
        "the bytes are no UTF-8, and this reading gives the most plausible text",
        "字节不是 UTF-8，按此编码读出的文字最合理",
    ),
}


def _said(name: str, reason: str) -> Note:
    english, chinese = _REASONS[reason]
    return Note(
        f"The text was read as {{encoding}}: {english}.",
        f"文本按 {{encoding}} 编码读取：{chinese}。",
        {"encoding": name},
    )


def _damaged(name: str, bad: int) -> Note:
    return Note(
        "The text is {encoding} but for {n|damaged place|damaged places}, "
        "shown as the sign U+FFFD.",
        "文本为 {encoding} 编码，但有 {n} 处字节损坏，已显示为替换符 U+FFFD。",
        {"encoding": name, "n": bad},
    )


def _wide_without_mark(scan: ByteScan) -> str:
    even, odd = scan.head[::2].count(0), scan.head[1::2].count(0)
    nuls, half = even + odd, len(scan.head) // 2
    if half < 2 or nuls < half * 0.3:
        return ""
    if odd > nuls * 0.9:
        return "utf-16-le"
    return "utf-16-be" if even > nuls * 0.9 else ""


def _count_utf8_damage(path: Path) -> tuple[int, int]:
    """Return how many places are no UTF-8, and how many characters outside of ASCII are."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    bad = good = 0
    for chunk in read_chunks(path):
        text = decoder.decode(chunk)
        if not text.isascii():
            lost = text.count("\ufffd")
            bad += lost
            good += len(text) - len(text.encode("ascii", "ignore")) - lost
    return bad + len(decoder.decode(b"", final=True)), good


# Legacy encodings. Each reading of the bytes gets a plausibility in [0, 1]: the share of its
# characters outside of ASCII that a text of that script would really use.

_COMMON_SIMPLIFIED = frozenset(
    "的一是不了在人有我他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可她里后小么心多天"
    "而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长知民样现分将外但身些与高"
    "意进把法此实回二理美点月明其种声全工己话儿者向情部正名定女问力机给等几很业最间新什打便位因重被走电四第门相次东政海"
    "口使教西再平真听世气信北少关并内加化由却代军产入先山五太水万市制度量数价格金额单编号区品销售型类城省份合计备注性别"
    "龄姓司话址州县街路期据均率总额支持项目收客户订商店京沪广苏浙江南河湖福建安徽辽吉林黑龙川渝云贵陕甘青蒙藏疆港澳台苹果"
)
_COMMON_TRADITIONAL = frozenset(
    "的一是不了在人有我他這中大來上國個到說們為子和你地出道也時年得就那要下以生會自著去之過家學對可她裡後小麼心多天"
    "而能好都然沒日於起還發成事只作當想看文無開手十用主行方又如前所本見經頭面公同三已老從動兩長知民樣現分將外但身些與高"
    "意進把法此實回二理美點月明其種聲全工己話兒者向情部正名定女問力機給等幾很業最間新什打便位因重被走電四第門相次東政海"
    "口使教西再平真聽世氣信北少關並內加化由卻代軍產入先山五太水萬市制度量數價格金額單編號區品銷售型類城省份合計備註性別"
    "齡姓司話址州縣街路期據均率總額支持項目收客戶訂商店臺灣測站豐原竹苗栗投彰雲嘉義屏宜蘭花蓮澎基隆桃園"
)
_COMMON_HANGUL = frozenset(
    "이다는의에가을를은고지하한사기로도서인자아리어대일시나스정부수전라상구그해제성원조보만주장동과있것게적여우러"
    "선소경트모무내면니안들공방오비신요국세계화미관년월명개실당산번호금액단위품목지역판매날짜름격량울천광"
)
_KANA = re.compile("[\u3040-\u30ff]")


@dataclass(frozen=True)
class _Wide:
    """An encoding of two bytes a character, with what its texts commonly hold."""

    name: str
    narrow: str
    """The smaller encoding whose first half holds the characters in common use."""
    leads: tuple[int, int]
    """First and last lead byte of that half."""
    frequent: frozenset[str]


_WIDE = (
    _Wide("gb18030", "gb2312", (0xB0, 0xD7), _COMMON_SIMPLIFIED),
    _Wide("big5", "big5", (0xA4, 0xC6), _COMMON_TRADITIONAL),
    _Wide("shift_jis", "shift_jis", (0x88, 0x97), frozenset()),
    _Wide("euc_jp", "euc_jp", (0xB0, 0xCF), frozenset()),
    _Wide("euc_kr", "euc_kr", (0xB0, 0xC8), _COMMON_HANGUL),
)
# A reading may use the larger set of Windows, but is called by the name that people know.
_CODECS = {"big5": "cp950", "shift_jis": "cp932", "euc_kr": "cp949"}
_ALPHABETS = {
    "cyrillic": "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё",
    "greek": "αοιετσνηυρπκμλςωάγίδόέήχθφύβώξζψϊ",
}
_NARROW = (
    ("cp1252", ""), ("cp1250", ""), ("cp1254", ""),
    ("cp1251", "cyrillic"), ("koi8-r", "cyrillic"), ("cp866", "cyrillic"),
    ("iso-8859-5", "cyrillic"), ("iso-8859-7", "greek"), ("cp1253", "greek"),
)  # fmt: skip
# Letters that texts of a European encoding use; its others are rare in them.
_EUROPEAN = {
    "cp1252": frozenset("éèêëàâäáãåæçîïíñôöóõøœùûüúßÉÈÊÀÂÄÁÃÅÆÇÎÍÑÔÖÓÕØŒÜÚº"),
    "cp1250": frozenset("ąćęłńóśźżčďěňřšťůžőűáéíýúăâîşäöüôßĄĆĘŁŃÓŚŹŻČĎĚŇŘŠŤŮŽŐŰÁÉÍÚĂÂÎŞÄÖÜ"),
    "cp1254": frozenset("şğıçöüâîûŞĞİÇÖÜÂÎ"),
}
# Common at the end of Italian words only.
_FINAL = "ìòù"
_INSIDE_WORDS = re.compile(r"[^\w\s“‘«¿¡–—•©\x00-\xa0](?=[^\W\d_])")
_WORD = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")
_PLAUSIBLE = 0.55


def _legacy(foreign: bytes) -> Encoding:
    scores = Counter(
        {wide.name: _wide_plausibility(foreign, wide) for wide in _WIDE}
        | {name: _narrow_plausibility(foreign, name, script) for name, script in _NARROW}
    )
    name, score = scores.most_common(1)[0]
    if score < _PLAUSIBLE:
        name = _second_opinion(foreign, name)
    if name == "cp1252" and not re.search(rb"[\x80-\x9f]", foreign):
        name = "latin-1"
    codec = _CODECS.get(name, name)
    broken = foreign.decode(codec, "replace").count("\ufffd")
    notes = (_said(name, "legacy"),) + ((_damaged(name, broken),) if broken else ())
    return Encoding(name=name, errors="replace", notes=notes)


def codec_of(encoding: Encoding) -> str:
    """Return the codec that reads the encoding, which may know more characters than its name."""
    return _CODECS.get(encoding.name, encoding.name)


def _second_opinion(foreign: bytes, best: str) -> str:
    import charset_normalizer

    match = charset_normalizer.from_bytes(foreign).best()
    return match.encoding.replace("_", "-") if match else best


def _decode_mostly(foreign: bytes, codec: str) -> str | None:
    """Return the text, or None when more than one byte in a hundred fits no character."""
    try:
        return foreign.decode(codec)
    except UnicodeDecodeError:
        text = foreign.decode(codec, "replace")
        outside = len(text) - len(text.encode("ascii", "ignore"))
        return text if text.count("\ufffd") * 50 <= outside else None


def _wide_plausibility(foreign: bytes, wide: _Wide) -> float:
    text = _decode_mostly(foreign, _CODECS.get(wide.name, wide.name))
    letters = [char for char in text or "" if ord(char) > 0x7F]
    if not letters:
        return 0.0
    japanese = wide.name in ("shift_jis", "euc_jp")
    points = sum(_wide_points(char, wide, japanese=japanese) for char in letters)
    if japanese and not any(_KANA.match(char) for char in letters):
        points *= 0.6
    return points / len(letters)


def _wide_points(char: str, wide: _Wide, *, japanese: bool) -> float:
    if char in wide.frequent:
        return 1.0
    if _KANA.match(char):
        return 0.95 if japanese else 0.1
    if 0xFF61 <= ord(char) <= 0xFF9F:
        return 0.1  # half-width kana: what Chinese and European bytes look like in Shift-JIS
    if "\u3000" <= char <= "\u303f" or "\uff00" <= char <= "\uff60":
        return 0.9
    try:
        lead = char.encode(wide.narrow)[0]
    except UnicodeEncodeError:
        return 0.0
    return 0.7 if wide.leads[0] <= lead <= wide.leads[1] else 0.25


def _narrow_plausibility(foreign: bytes, codec: str, script: str) -> float:
    text = _decode_mostly(foreign, codec)
    if text is None:
        return 0.0
    outside = [char for char in text if ord(char) > 0x7F]
    letters = sum(len(_foreign_part(word)) for word in _WORD.findall(text))
    points = sum(_word_points(word, codec, script) for word in _WORD.findall(text))
    points += sum(_sign_points(char) for char in outside if not char.isalpha())
    points -= 0.7 * len(_INSIDE_WORDS.findall(text))
    signs = sum(not char.isalpha() for char in outside)
    # The order of the list settles ties: Western European first.
    order = [name for name, _ in _NARROW].index(codec)
    return points / max(1, letters + signs) - order * 0.001


def _foreign_part(word: str) -> str:
    return "".join(char for char in word if ord(char) > 0x7F)


def _word_points(word: str, codec: str, script: str) -> float:
    foreign = _foreign_part(word)
    if not foreign:
        return 0.0
    if not (word.islower() or word.isupper() or word.istitle()):
        return 0.2 * len(foreign)
    if not script:
        # European words are mostly ASCII letters; a word of accents alone is another script.
        if len(foreign) > 0.75 * len(word) and len(word) > 1:
            return 0.15 * len(foreign)
        usual = sum(char in _EUROPEAN[codec] for char in foreign)
        usual += codec == "cp1252" and word[-1] in _FINAL
        return 0.6 * len(foreign) + 0.3 * usual
    alphabet = _ALPHABETS[script]
    places = [alphabet.find(char.lower()) for char in foreign]
    if len(foreign) < len(word) or len(word) == 1:
        return 0.2 * len(foreign)
    return sum(0.0 if place < 0 else 1.0 - 0.6 * place / len(alphabet) for place in places)


def _sign_points(char: str) -> float:
    if char in "\xa0€£¥©®°±²³½¼«»“”‘’–—…•·™§µ¿¡№":
        return 0.8
    return 0.0 if char == "\ufffd" or ord(char) < 0xA0 else 0.3
