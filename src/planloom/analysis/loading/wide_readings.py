"""How plausible a text is when its bytes are read in an East Asian encoding."""

from __future__ import annotations

import re
from dataclasses import dataclass

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
_COMMON_KANJI = frozenset(
    "日一国会人年大十二本中長出三同時政事自行社見月分議後前民生連五発間対上部東者党地合市業内相方四定今回新場金員九入選"
    "立開手米力学問高代明実円関決子動京全目表戦経通外最言氏現理調体化田当八六約主題下首意法不来作性的要用制治度務強気小"
    "七成期公野協取都和統以機平総加山思家話世受区領多県続進正安設保改数記院女初北午指権心界支第産結百派点教報済書府活原"
    "先共得解名交資予川向際査勝面委告軍文反元重近千考判認画海参売利組知案道信策集在件団別物側任引使求所次水半品昨論計死"
    "官増係感特情投示変打男基私各始島直両朝革価式確村提運終挙果西勢減台広容必応演電歳住争談能無再位置企真流格有疑口過局"
    "少放税検藤町常校料沢裁状工建語球営空職証土与急止送援供可役構木割聞身費付施切由説転食比難防補車優夫研収断井何南石足"
    "違消境神番規術護展態導備宅害配副算視条幹独警宮究育席輸訪楽起万着乗店述残想線率病農州武声質念待試族象銀域助労例衛然"
    "早張映限親額監環験追審商葉義伝働形景落好退準賞訴辺造英被株頭技低毎医復仕去姿味負閣韓渡失移差衆個門写評課末守若脳極"
    "種美岡影命含福蔵量望松非撃佐核観察整段横融型白深字答夜製票況音申様財港識注呼渉達号仙阪札幌住所氏郵便備考単位林橋"
)
_KANA = re.compile("[\u3040-\u30ff]")


@dataclass(frozen=True)
class WideEncoding:
    """An encoding of two bytes a character, with what its texts commonly hold."""

    name: str
    narrow: str
    """The smaller encoding whose first half holds the characters in common use."""
    leads: tuple[int, int]
    """First and last lead byte of that half."""
    frequent: frozenset[str]


WIDE = (
    WideEncoding("gb18030", "gb2312", (0xB0, 0xD7), _COMMON_SIMPLIFIED),
    WideEncoding("big5", "big5", (0xA4, 0xC6), _COMMON_TRADITIONAL),
    WideEncoding("shift_jis", "shift_jis", (0x88, 0x97), _COMMON_KANJI),
    WideEncoding("euc_jp", "euc_jp", (0xB0, 0xCF), _COMMON_KANJI),
    WideEncoding("euc_kr", "euc_kr", (0xB0, 0xC8), _COMMON_HANGUL),
)
_HALF_KANA = re.compile("[\uff61-\uff9f]")
# A word of half-width kana alone: voice marks follow kana that can be voiced, and neither small
# kana nor the long mark begin a word.
_HALF_WORD = re.compile(
    "(?<![^\\W\\d_])[\uff66\uff71-\uff9d](?:[\uff66-\uff9d]|(?<=[\uff73\uff76-\uff84\uff8a-\uff8e])\uff9e"
    "|(?<=[\uff8a-\uff8e])\uff9f)+(?![^\\W\\d_])"
)


def wide_plausibility(text: str | None, wide: WideEncoding) -> float:
    """Return how much of a reading is in common use, in [0, 1]; 0 for no reading at all."""
    letters = [char for char in text or "" if ord(char) > 0x7F]
    if not text or not letters:
        return 0.0
    if wide.name not in ("shift_jis", "euc_jp"):
        return sum(_points(char, wide, japanese=False) for char in letters) / len(letters)
    points = sum(_points(char, wide, japanese=True) for char in letters)
    full = [char for char in letters if not _HALF_KANA.match(char)]
    known = sum(char in wide.frequent or bool(_KANA.match(char)) for char in full)
    if full and known >= 0.6 * len(full):
        # Each of these characters was given 0.1 before.
        points += 0.7 * sum(len(word) for word in _HALF_WORD.findall(text))
    if not any(_KANA.match(char) for char in letters) and known < 0.6 * len(full):
        points *= 0.6
    return points / len(letters)


def _points(char: str, wide: WideEncoding, *, japanese: bool) -> float:
    if char in wide.frequent:
        return 1.0
    if _KANA.match(char):
        return 0.95 if japanese else 0.1
    if _HALF_KANA.match(char):
        return 0.1  # what Chinese and European bytes look like in Shift-JIS
    if "\u3000" <= char <= "\u303f" or "\uff00" <= char <= "\uff60":
        return 0.9
    try:
        lead = char.encode(wide.narrow)[0]
    except UnicodeEncodeError:
        return 0.0
    return 0.7 if wide.leads[0] <= lead <= wide.leads[1] else 0.25
