"""How plausible a text is when its bytes are read in an encoding of one byte a character."""

from __future__ import annotations

import re

NARROW: tuple[tuple[str, str], ...] = (
    ("cp1252", ""), ("iso-8859-15", ""), ("cp1250", ""), ("iso-8859-2", ""), ("cp1254", ""),
    ("cp1257", ""), ("cp1251", "cyrillic"), ("koi8-r", "cyrillic"), ("koi8-u", "cyrillic"),
    ("cp866", "cyrillic"), ("iso-8859-5", "cyrillic"), ("iso-8859-7", "greek"),
    ("cp1253", "greek"), ("cp1255", "hebrew"), ("cp1256", "arabic"), ("iso-8859-6", "arabic"),
    ("mac_roman", ""), ("cp850", ""), ("cp858", ""), ("cp852", ""), ("cp857", ""),
    ("mac_cyrillic", "cyrillic"), ("mac_greek", "greek"),
)  # fmt: skip
"""Encodings with their script, "" for Latin; earlier ones win ties."""
_RARE = frozenset({"mac_roman", "cp850", "cp858", "cp852", "cp857", "mac_cyrillic", "mac_greek"})
# Letters by frequency.
_ALPHABETS = {
    "cyrillic": "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъёіїєґ",
    "greek": "αοιετσνηυρπκμλςωάγίδόέήχθφύβώξζψϊ",
    "hebrew": "יוהלאתרבםשמנחדקעפכטגצסזןךףץ",
    "arabic": "اليمنوترعبدهسفحقكجشةصطخذىزغءأإضثظؤئآ",
}
# Letters outside of ASCII by frequency, of one language each: those of a text fit together.
_LANGUAGES = {
    "fr": "éèàêçôîûâùëïœüæÿ", "de": "üäößéà", "es": "óíáéñúüºª", "pt": "ãçáéíóõêâúôàü",
    "it": "àèùòìéóî", "nl": "ëéïèöüó", "da": "øåæéöüä", "sv": "äöåéüà", "fi": "äöåé",
    "is": "áíðóöéúæþý", "pl": "łąężćśóńź", "cs": "íáéěřýžčšůúťňďó", "sk": "áíčýžéšúľťôňďäóĺŕ",
    "hu": "áéóöőíüúű", "ro": "ăşţîâșț", "hr": "čžšćđ", "tr": "ışüöğçâîû", "et": "äõüöšž",
    "lt": "ėšžįąūčęų", "lv": "āīēšūņļžķčģ",
}  # fmt: skip
# Texts of many languages, such as lists of cities, hold letters of all of them.
_MIXED = (
    frozenset("éèêëàâäáãåæçîïíñôöóõøœùûüúßº"),
    frozenset("ąćęłńóśźżčďěňřšťůžőűáéíýúăâîşţäöüôß"),
)
_MIXED_WORTH = 0.72
# Letters where the language does not have them: misread Hungarian, Polish and French.
_ODD_PAIRS = {
    "pt": re.compile("õ(?!e)|ã(?=[abcdfghjklpqrtuvwxz])"),
    "pl": re.compile("ś(?=u)"),
}
_FINAL_HEBREW = re.compile("[םןךףץ](?=[א-ת])|(?<=[א-ת])[כמנפצ](?![א-ת\"״'׳])")
_SIGNS = frozenset("\xa0€£¥®©°±²³½¼«»“”‘’–—…•·™§µ¿¡№")
_INSIDE_WORDS = re.compile(r"[^\w\s“‘«¿¡–—•©\x00-\x9f\xa0](?=[^\W\d_])")
# Dashes join whole words, so one beside a single letter was a letter itself.
_TORN_WORDS = re.compile(
    r"(?<![^\W_])[^\W\d_]{1,2}[–—\xa0](?=[^\W\d_])|[^\W\d_][–—](?=[^\W\d_]{1,2}(?![^\W_]))"
    r"|[a-z][‚ƒ„†‡ˆ‰‹‘“”•˜™›\xa0¤¢](?=[a-z]{2})"
)
_WORD = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")


def narrow_plausibility(text: str | None, codec: str, script: str) -> float:
    """Return how well the letters of a reading go together, at most 1; 0 for no reading at all."""
    if text is None:
        return 0.0
    words = [word for word in _WORD.findall(text) if not word.isascii()]
    signs = [char for char in text if ord(char) > 0x7F and not char.isalpha()]
    letters = sum(len(_foreign_part(word)) for word in words)
    if script:
        points = sum(_script_points(word, _ALPHABETS[script]) for word in words)
        points -= 0.5 * len(_FINAL_HEBREW.findall(text)) if script == "hebrew" else 0
    else:
        points = _latin_points(words)
    points += sum(map(_sign_points, signs))
    points -= 0.7 * (len(_INSIDE_WORDS.findall(text)) + len(_TORN_WORDS.findall(text)))
    order = [name for name, _ in NARROW].index(codec)
    prior = order * 0.001 + (0.05 if codec in _RARE else 0.0)
    return points / max(1, letters + len(signs)) - prior


def _foreign_part(word: str) -> str:
    return "".join(char for char in word if ord(char) > 0x7F)


def _is_cased(word: str) -> bool:
    return word.islower() or word.isupper() or word.istitle() or not word.upper().isupper()


def _script_points(word: str, alphabet: str) -> float:
    foreign = _foreign_part(word)
    if len(foreign) < len(word) or len(word) == 1 or not _is_cased(word):
        return 0.2 * len(foreign)
    places = [alphabet.find(char.lower()) for char in foreign]
    return sum(0.0 if place < 0 else 1.0 - 0.6 * place / len(alphabet) for place in places)


def _latin_points(words: list[str]) -> float:
    """Return the points of the language that suits the words best."""
    sound: list[str] = []
    points = 0.0
    for word in words:
        foreign = _foreign_part(word)
        # European words are mostly ASCII letters; a word of accents alone is another script.
        if not _is_cased(word):
            points += 0.2 * len(foreign)
        elif len(foreign) > 0.75 * len(word) and len(word) > 1:
            points += 0.15 * len(foreign)
        else:
            sound.append(word.replace("İ", "i").lower())
    letters = _foreign_part("".join(sound))
    found = [_MIXED_WORTH * sum(char in mixed for char in letters) for mixed in _MIXED]
    for language, alphabet in _LANGUAGES.items():
        odd = _ODD_PAIRS.get(language)
        places = [alphabet.find(char) for char in letters]
        worth = sum(0.1 if place < 0 else 1.0 - 0.3 * place / len(alphabet) for place in places)
        found.append(worth - (len(odd.findall(" ".join(sound))) if odd else 0))
    return points + max(found)


def _sign_points(char: str) -> float:
    if char == "\xa0":
        return 1.0  # stands at the end of many cells that were copied from web pages
    if char in _SIGNS:
        return 0.8
    return 0.0 if char == "\ufffd" or ord(char) < 0xA0 else 0.3
