"""Tells which columns and texts hold personal data: names, mail, phone, identity, card numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from planloom.analysis.meanings import split_words
from planloom.planning.mask import Kind

_ENOUGH = 0.5
"""Share of the cells of a column that have to look the part."""


_NEARLY_ALL = 0.8
_FEW = 3


@dataclass(frozen=True, slots=True)
class Cells:
    """A column with some of its values as text."""

    name: str
    type: str
    """As in `values.Column`; "text" where it is not known."""
    values: Sequence[str]


def personal_kinds(columns: Sequence[Cells]) -> dict[str, Kind]:
    """Return the columns that hold personal data, with what they hold.

    Names alone do not suffice where the cells say something else: `mobile_sales` is no phone
    number, a product `name` no person's.

    >>> personal_kinds([Cells("name", "text", ["Ann Li"]), Cells("age", "integer", ["30"])])
    {'name': 'name'}
    """
    words = {column.name: split_words(column.name).lower() for column in columns}
    found: dict[str, Kind] = {}
    for column in columns:
        around = " , ".join(word for name, word in words.items() if name != column.name)
        kind = _kind(column, words[column.name], around)
        if kind:
            found[column.name] = kind
    return found


def _kind(column: Cells, words: str, around: str) -> Kind | None:
    if column.type in {"boolean", "time"}:
        return None
    if _BIRTHDAY.search(words):
        return "birthday"
    if column.type in {"date", "datetime"}:
        return None
    cells = [text for value in column.values if (text := value.strip())]
    kind = _kind_by_cells(words, cells) or _kind_by_name(words, cells)
    if kind or column.type != "text":
        return kind
    if _ADDRESS.search(words) and not _NO_HOME.search(words) and _mostly(_is_place, cells):
        return "address"
    return "name" if _holds_persons(words, cells, around) else None


def _kind_by_cells(words: str, cells: Sequence[str]) -> Kind | None:
    is_code = holds_codes(words)
    for kind, fits in _WHOLE:
        if is_code and kind in {"phone", "card"}:
            continue
        if cells and _mostly(fits, cells):
            return kind
    return None


def _kind_by_name(words: str, cells: Sequence[str]) -> Kind | None:
    if _AMOUNTS.search(words):
        return None
    for kind, named, fits in _BY_NAME:
        if named.search(words) and _mostly(fits, cells):
            return kind
    return None


def _mostly(fits: Callable[[str], object], cells: Sequence[str], share: float = _ENOUGH) -> bool:
    """Whether most cells fit; also where there are none, of which nothing is known."""
    return sum(bool(fits(cell)) for cell in cells) >= share * len(cells)


# -- persons' names


def _holds_persons(words: str, cells: Sequence[str], around: str) -> bool:
    words = words.strip()
    if _NO_PERSON.search(words):
        return False
    if _NAMED_PERSON.search(words):
        return _mostly(_may_be_name, cells)
    if _ROLE.fullmatch(words):
        return bool(cells) and _mostly(_is_like_name, cells)
    if not _BARE_NAME.fullmatch(words) or not cells:
        return False
    is_of_things = _OF_THINGS.search(around) is not None
    if _OF_PERSONS.search(around) and not is_of_things:
        return _mostly(_may_be_name, cells)
    if _mostly(_has_given_name, cells, 0.3):
        return True
    # Many a short word for a thing begins like a name (毛巾, 黄瓜); a few prove nothing.
    is_open = words != "名称" and not is_of_things and len(set(cells)) >= _FEW
    return is_open and _mostly(_is_chinese_name, cells, _NEARLY_ALL)


def _may_be_name(cell: str) -> bool:
    has_letters = any(char.isalpha() for char in cell)
    is_plain = not any(char.isdigit() for char in cell) and not _COMPANY.search(cell)
    return has_letters and is_plain and 2 <= len(cell) <= 40 and len(cell.split()) <= 5


def _is_like_name(cell: str) -> bool:
    if not _may_be_name(cell):
        return False
    return bool(_is_chinese_name(cell) or _has_given_name(cell) or _TITLE_WORDS.fullmatch(cell))


def _is_chinese_name(cell: str) -> bool:
    return _CHINESE_NAME.fullmatch(cell) is not None


def _has_given_name(cell: str) -> bool:
    return any(word.lower() in _GIVEN for word in re.findall(r"[^\W\d_]+", cell)) and (
        _may_be_name(cell)
    )


_NAMED_PERSON = re.compile(
    r"(?<![a-z])(?:first|last|full|given|family|middle|maiden|customer|client|employee|person|"
    r"user|student|patient|contact|staff|teacher|member|author|passenger|guest|driver|seller|"
    r"buyer|recipient|manager|doctor|owner|applicant|candidate|cardholder|sales ?rep)s?[ -]*"
    r"(?:full ?)?names?(?![a-z])|(?<![a-z])(?:sur|fore)name(?![a-z])|姓名|名字|^姓$|联系人|"
    r"收货人|收件人|寄件人|持卡人|申请人|紧急联系",
)
_ROLE = re.compile(
    r"(?:customer|client|employee|user|student|patient|contact|staff|teacher|member|author|"
    r"passenger|guest|driver|seller|buyer|recipient|manager|doctor|owner|applicant|candidate|"
    r"sales ?person|sales ?rep(?:resentative)?|agent|assignee|person|account manager)s?(?: name)?|"
    r"(?:客户|顾客|员工|销售员|业务员|学生|患者|病人|作者|会员|用户|教师|老师|司机|负责人|经理|医生|"
    r"法人|买家|卖家|乘客|业主)(?:名称|名)?"
)
_BARE_NAME = re.compile(r"names?|名称|称呼|人员")
_NO_PERSON = re.compile(
    r"(?<![a-z])(?:product|item|goods|brand|file|company|store|shop|city|country|category|"
    r"department|project|species|event|school|game|movie|song|user ?agent|nick|table|column)"
    r"(?![a-z])|产品|商品|品名|品牌|公司|门店|店铺|部门|项目|类别|学校|城市",
)
_OF_PERSONS = re.compile(
    r"(?<![a-z])(?:age|gender|sex|salary|wage|e-?mail|phone|mobile|birth ?day|birth|dob|hire|"
    r"hired|position|job|nationality|marital|grade|passport|ssn)(?![a-z])|"
    r"年龄|性别|工资|薪|手机|电话|邮箱|部门|职位|职务|入职|学号|工号|出生|身份证|班级|学历"
)
_OF_THINGS = re.compile(
    r"(?<![a-z])(?:price|sku|brand|product|stock|population|calories|vendor|barcode|isbn|model|"
    r"weight kg|capacity|country code|latitude)(?![a-z])|"
    r"单价|价格|售价|品牌|库存|规格|产品|商品|货号|人口"
)
_COMPANY = re.compile(
    r"(?<![a-z])(?:ltd|inc|llc|gmbh|corp|corporation|company|co|plc|group|holdings?|s\.?a|ag|bv|"
    r"store|shop|market|bank|university|hospital|school|hotel)\b|公司|集团|有限|银行|大学|医院|学校|"
    r"商店|超市|酒店|工厂|中心|店$|厂$|局$",
    re.IGNORECASE,
)
_TITLE_WORDS = re.compile(
    r"(?:(?:Mr|Mrs|Ms|Dr|Prof)\.? )?[A-ZÀ-Þ][\w'’-]+(?: [A-ZÀ-Þ]\.?| (?:de|da|van|von|der|la|el))*"
    r"(?: [A-ZÀ-Þ][\w'’-]+){1,2}"
)
_SURNAMES = (
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴"
    "夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文庞樊兰殷施陶"
    "洪翟安颜倪严牛温芦季俞章鲁葛伍韦申尤毕聂焦向柳邢路岳齐沿梅莫庄辛管祝左涂谷祁时舒耿牟卜詹关苗凌费纪靳"
    "盛童欧甄项曲成游阳裴席卫查屈鲍位覃霍翁隋植甘景薄单包司柏宁柯阮桂闵解强柴华车冉房边"
)
_CHINESE_NAME = re.compile(
    rf"(?:[{_SURNAMES}][一-鿿]{{1,2}}|(?:欧阳|司马|上官|诸葛|司徒|东方|独孤|南宫|夏侯|皇甫|令狐|端木)[一-鿿]{{1,2}}"
    rf"|[{_SURNAMES}](?:某|先生|女士|小姐|某某))"
)
_GIVEN = frozenset(
    """
    james john robert michael william david richard joseph thomas charles christopher daniel
    matthew anthony donald steven paul andrew joshua kenneth kevin brian george edward ronald
    timothy jason jeffrey ryan jacob gary nicholas eric jonathan stephen larry justin scott
    brandon benjamin samuel frank gregory raymond alexander alex patrick jack dennis jerry tyler
    aaron jose adam henry nathan peter zachary kyle walter harold noah ethan liam oliver lucas
    mason logan luca leo hugo max felix mary patricia jennifer linda elizabeth barbara susan
    jessica sarah karen nancy lisa betty margaret sandra ashley kimberly emily donna michelle
    carol amanda melissa deborah stephanie rebecca laura sharon cynthia kathleen amy angela
    shirley anna ann anne brenda pamela emma nicole helen samantha katherine christine debra
    rachel carolyn janet catherine maria heather diane julie joyce victoria olivia sophia
    isabella mia charlotte amelia harper evelyn abigail ella chloe hannah zoe alice bob carlos
    juan luis pedro ana sofia lucia marie pierre jean hans klaus ingrid yuki hiroshi priya raj
    mohammed muhammad ahmed ali fatima omar wei ming xin tom tim sam ben dan jim joe mike nick
    kate jane erin ivan olga elena dmitri sergei anita rosa diego javier miguel bruno giulia
    marco paolo
    """.split()  # noqa: SIM905 -- a hundred quoted names would be harder to read
)

# -- numbers and addresses

_BIRTHDAY = re.compile(
    r"(?<![a-z])(?:birth ?day|birth ?date|date of birth|dob)(?![a-z])|生日|出生日期|出生年月"
)
_ADDRESS = re.compile(
    r"(?<![a-z])(?:home address|street|address(?: line)?|residence)(?![a-z])|"
    r"住址|家庭地址|详细地址|收货地址|通讯地址|^地址$"
)
_NO_HOME = re.compile(
    r"(?<![a-z])(?:ip|mac|web|url|store|shop|office|company|branch|site|warehouse|network|wallet)"
    r"(?![a-z])|门店|店铺|公司|网|仓库|网点"
)
_CODES = re.compile(
    r"(?<![a-z])(?:orders?|sku|invoice|serial|tracking|barcode|ean|isbn|ticket|transaction|batch|"
    r"shipment|product|item|timestamp)(?![a-z])|订单|单号|编号|流水|运单|条码|货号|批次"
)
_AMOUNTS = re.compile(
    r"(?<![a-z])(?:amount|total|sales|revenue|quantity|count|population|cost|value)(?![a-z])|"
    r"金额|数量|人口|销量|销售额|次数"
)
_MAIL = r"[A-Za-z0-9_.+-]+@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}"
_MOBILE = r"(?:\+?86[- ]?)?1[3-9]\d(?:[- ]?\d{4}){2}"
_OTHER_PHONES = (
    r"\+\d{1,3}(?:[ .-]?\(?\d{1,4}\)?){2,5}|\(\d{3}\) ?\d{3}[ .-]\d{4}|"
    r"(?:1[-. ])?[2-9]\d{2}(?P<dash>[-. ])\d{3}(?P=dash)\d{4}|0\d{2,3}-\d{7,8}(?:-\d{1,5})?"
)
_CHINESE_ID = r"[1-9]\d{5}(?:18|19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dXx]"
_SSN = r"(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}"
_CARD = r"[3-6]\d{3}(?:[ -]?\d{4}){2,3}(?:[ -]?\d{1,3})?|3[47]\d{2}[ -]?\d{6}[ -]?\d{5}"
_IBAN = r"[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?"


def _whole(*patterns: str) -> Callable[[str], object]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns)).fullmatch


def _is_card(text: str) -> bool:
    """Whether it is a number of a payment card, by its check digit (ISO/IEC 7812, Luhn)."""
    digits = [int(char) for char in text if char.isdigit()]
    if not 15 <= len(digits) <= 19 or not re.fullmatch(_CARD, text):
        return False
    doubled = [digit * 2 - 9 * (digit > 4) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _is_iban(text: str) -> bool:
    """Whether it is a bank account's number, by its check digits (ISO 13616, modulo 97)."""
    plain = text.replace(" ", "")
    if not 15 <= len(plain) <= 34 or not re.fullmatch(_IBAN, text):
        return False
    return int("".join(str(int(char, 36)) for char in plain[4:] + plain[:4])) % 97 == 1


def _has_digits(least: int, most: int = 40) -> Callable[[str], bool]:
    return lambda cell: least <= sum(char.isdigit() for char in cell) and len(cell) <= most


def _is_place(cell: str) -> bool:
    return len(cell) >= 6 and (" " in cell or not cell.isascii())


_WHOLE: tuple[tuple[Kind, Callable[[str], object]], ...] = (
    ("mail", _whole(_MAIL)),
    ("id", _whole(_CHINESE_ID, _SSN)),
    ("phone", _whole(_MOBILE, r"\+\d{1,3}(?:[ .-]?\(?\d{1,4}\)?){2,5}", r"\(\d{3}\) ?\d{3}-\d{4}")),
    ("card", lambda cell: _is_card(cell) or _is_iban(cell)),
)
_BY_NAME: tuple[tuple[Kind, re.Pattern[str], Callable[[str], object]], ...] = (
    ("mail", re.compile(r"(?<![a-z])e-?mails?(?![a-z])|邮箱|邮件"), lambda cell: "@" in cell),
    (
        "phone",
        re.compile(
            r"(?<![a-z])(?:phones?|mobile|cell|tel|telephone|fax)(?![a-z])|手机|电话|联系方式|传真"
        ),
        _has_digits(7, 24),
    ),
    (
        "id",
        re.compile(
            r"(?<![a-z])(?:ssn|social security|passport|id card|national id|tax id|license plate|"
            r"driver'?s? licen[cs]e)(?![a-z])|身份证|护照|社保|证件号|车牌|驾照|驾驶证"
        ),
        _has_digits(3, 30),
    ),
    (
        "card",
        re.compile(
            r"(?<![a-z])(?:iban|credit ?card|card ?(?:no|number)|bank ?account|cvv)(?![a-z])|"
            r"银行卡|银行账[号户]|信用卡|^卡号$"
        ),
        _has_digits(8, 42),
    ),
)

# -- free text

# Chinese characters stand beside numbers without a space.
_START, _END = r"(?<![A-Za-z0-9_.@/+-])", r"(?![A-Za-z0-9_@]|[.-]\d)"
_IN_TEXT = re.compile(
    rf"(?P<mail>(?<![A-Za-z0-9_.+-]){_MAIL}(?![A-Za-z0-9_@]))|"
    rf"{_START}(?:(?P<iban>{_IBAN})|(?P<id>{_CHINESE_ID}|{_SSN})|(?P<card>{_CARD})|"
    rf"(?P<phone>{_MOBILE}|{_OTHER_PHONES})){_END}"
)
_BEFORE_CODE = re.compile(
    r"(?:order|invoice|tracking|serial|sku|ticket|transaction|订单|单号|编号|流水|运单)\W{0,3}"
    r"(?:(?:no|number|id|号|号码)\W{0,4})?\Z",
    re.IGNORECASE,
)


def holds_codes(column: str) -> bool:
    """Whether a column's name says that its long numbers are those of orders, amounts, goods.

    >>> holds_codes("order_id"), holds_codes("contact")
    (True, False)
    """
    words = split_words(column).lower()
    return bool(_CODES.search(words) or _AMOUNTS.search(words))


def personal_in(text: str) -> Iterator[tuple[int, int, Kind]]:
    """Yield where a text holds mail addresses, phone, identity or card numbers: start, end, kind.

    >>> text = "Mail bo@x.org, order 15012345678"
    >>> [text[start:end] for start, end, _ in personal_in(text)]
    ['bo@x.org']
    """
    for found in _IN_TEXT.finditer(text):
        groups: Mapping[str, str | None] = found.groupdict()
        if groups["mail"]:
            yield found.start(), found.end(), "mail"
        elif groups["id"]:
            yield found.start(), found.end(), "id"
        elif groups["iban"]:
            if _is_iban(found[0]):
                yield found.start(), found.end(), "card"
        elif groups["card"]:
            if _is_card(found[0]):
                yield found.start(), found.end(), "card"
        elif not _BEFORE_CODE.search(text, max(0, found.start() - 24), found.start()):
            yield found.start(), found.end(), "phone"
