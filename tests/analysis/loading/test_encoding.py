"""Texts in old encodings are read with their own letters, or the doubt is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from planloom.analysis.loading.byte_scan import scan_bytes
from planloom.analysis.loading.encoding import Encoding, codec_of, detect_encoding
from planloom.analysis.loading.load import load_file

TEXTS = {
    "pl": "nr,miasto\n1,Łódź\n2,Świdnica\n3,Gdańsk\n4,Częstochowa\n",
    "cs": "č,město\n1,Plzeň\n2,Děčín\n3,Šumperk\n4,Žďár\n",
    "hu": "sz,város\n1,Győr\n2,Érd\n3,Hódmezővásárhely\n4,Fertőd\n",
    "ro": "nr,oraş\n1,Iaşi\n2,Constanţa\n3,Timişoara\n",
    "fr": "nº,ville,prix\n1,Besançon,3 €\n2,Nîmes,4 €\n3,Évreux,5 €\n",
    "fr-cœur": "mot,suite\ncœur,œuvre\nsœur,été\n",
    "de": "Nr;Straße;Größe\n1;Königsallee;3\n2;Müllerweg;4\n",
    "es": "id,ciudad\n1,Málaga\n2,Logroño\n3,León\n",
    "da": "id,by\n1,Ålborg\n2,Sønderborg\n3,Næstved\n",
    "pt": "id,cidade\n1,São Paulo\n2,Brasília\n3,posições\n",
    "tr": "id,şehir\n1,İstanbul\n2,Diyarbakır\n3,Muğla\n4,Gümüşhane\n",
    "lt": "id,miestas\n1,Šiauliai\n2,Panevėžys\n3,Mažeikiai\n",
    "ru": "ид,город\n1,Москва\n2,Санкт-Петербург\n3,Казань\n",
    "uk": "ід,місто\n1,Київ\n2,Львів\n3,Чернігів\n",
    "el": "κωδικός,πόλη\n1,Αθήνα\n2,Πάτρα\n",
    "he": "id,עיר\n1,ירושלים\n2,חיפה\n3,תל אביב\n",
    "ar": "id,مدينة\n1,القاهرة\n2,الرياض\n",
    "zh": "日期,产品,城市\n1,苹果,北京\n2,香蕉,上海\n",
    "zh-TW": "日期,產品,縣市\n1,蘋果,臺北市\n2,香蕉,高雄市\n",
    "ja": "日付,商品名,数量\n1,りんご,東京都\n",
    "ja-kanji": "日付,商品,数量\n1,林檎,東京\n2,葡萄,大阪\n",
    "ja-half": "日付,品名,数量\n1,ﾘﾝｺﾞ,2\n2,ﾊﾞﾅﾅ,3\n",
    "ko": "날짜,상품,지역\n1,사과,서울\n2,바나나,부산\n",
}
ENCODINGS = {
    "pl": ("iso-8859-2", "cp1250", "cp852"), "cs": ("iso-8859-2", "cp1250", "cp852"),
    "hu": ("cp1250",), "ro": ("cp1250",), "fr": ("iso-8859-15", "cp1252", "mac_roman", "cp858"),
    "fr-cœur": ("cp1252", "iso-8859-15"), "de": ("latin-1", "mac_roman", "cp850"),
    "es": ("latin-1", "mac_roman", "cp850"), "da": ("latin-1", "cp850"),
    "pt": ("latin-1", "mac_roman", "cp850"), "tr": ("iso-8859-9",), "lt": ("cp1257",),
    "ru": ("cp1251", "koi8-r", "cp866", "iso-8859-5", "utf-16-le", "utf-16-be"),
    "uk": ("cp1251", "koi8-u"), "el": ("iso-8859-7",), "he": ("cp1255",),
    "ar": ("cp1256", "iso-8859-6"), "zh": ("gb18030", "utf-16-le", "utf-16-be"),
    "zh-TW": ("big5", "utf-16-le"), "ja": ("shift_jis", "euc_jp", "iso2022_jp"),
    "ja-kanji": ("shift_jis", "euc_jp"), "ja-half": ("shift_jis",), "ko": ("euc_kr", "utf-16-le"),
}  # fmt: skip


def detected(folder: Path, content: bytes) -> Encoding:
    path = folder / "text.csv"
    path.write_bytes(content)
    return detect_encoding(path, scan_bytes(path))


@pytest.mark.parametrize(
    ("language", "name"), [(key, name) for key, names in ENCODINGS.items() for name in names]
)
def test_letters_of_a_language_show_the_encoding(tmp_path: Path, language: str, name: str) -> None:
    text = TEXTS[language]
    found = detected(tmp_path, text.encode(name))
    assert (found.name, text.encode(name).decode(codec_of(found))) == (name, text)


@pytest.mark.parametrize("language", ["hu", "ro"])
def test_twin_encodings_give_the_same_letters(tmp_path: Path, language: str) -> None:
    content = TEXTS[language].encode("iso-8859-2")
    assert content.decode(codec_of(detected(tmp_path, content))) == TEXTS[language]


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_utf8_comes_before_all_others(tmp_path: Path, text: str) -> None:
    assert detected(tmp_path, text.encode()).name == "utf-8"


def test_doubt_between_two_encodings_is_said(tmp_path: Path) -> None:
    # One sign alone: a closing quote in Windows, an accented letter on a Macintosh.
    found = detected(tmp_path, "id,q\n1,“fine” – it’s\n2,naïve\n".encode("cp1252"))
    assert found.name == "cp1252"
    assert "some letters may be wrong" in found.notes[1].text("en")
    assert "可能有误" in found.notes[1].text("zh")


def test_hard_blank_after_a_word_is_no_letter(tmp_path: Path) -> None:
    text = "Bank Name\xa0,City\xa0,Cert\xa0\nFirst Bank\xa0,Ulm,1\n"
    assert detected(tmp_path, text.encode("latin-1")).name == "latin-1"


def test_plain_texts_raise_no_doubt(tmp_path: Path) -> None:
    for language, name in (("de", "latin-1"), ("zh", "gb18030"), ("ru", "cp1251")):
        assert len(detected(tmp_path, TEXTS[language].encode(name)).notes) == 1


@pytest.mark.parametrize("name", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", ["город,цена\nМосква,3\n", "城市,价格\n北京,3\n"])
def test_utf16_without_a_mark_is_a_table(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode(name))
    loaded = load_file(path, out=tmp_path / "out")
    assert (loaded.encoding, loaded.tables[0].header[0]) == (name, text.partition(",")[0])


def test_utf16_json_without_a_mark_is_json(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_bytes('[{"город": "Москва"},\n {"город": "Казань"}]'.encode("utf-16-le"))
    loaded = load_file(path, out=tmp_path / "out")
    assert (loaded.format, loaded.tables[0].header) == ("json", ("город",))
