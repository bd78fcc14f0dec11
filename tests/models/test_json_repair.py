"""JSON of models is read strictly, repaired where the meaning is plain, and refused elsewhere."""

from __future__ import annotations

import contextlib
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planloom.models.json_repair import MAX_REPAIRED_CHARS, parse_json, read_json
from planloom.models.json_text import MAX_DEPTH, UnreadableJsonError

REPAIRED: dict[str, tuple[str, object, tuple[str, ...]]] = {
    "byte order mark": ('\ufeff{"a": 1}', {"a": 1}, ("byte order mark",)),
    "fence": ('```json\n{"a": 1}\n```', {"a": 1}, ("code fence",)),
    "fence on one line": ('```json {"a": 1}```', {"a": 1}, ("code fence",)),
    "fence left open": ('```\n{"a": 1}', {"a": 1}, ("code fence",)),
    "single quotes": ("{'a': 'b'}", {"a": "b"}, ("single quotes",)),
    "apostrophe in single quotes": (
        "{'a': 'what's new', 'b': 'rock 'n' roll'}",
        {"a": "what's new", "b": "rock 'n' roll"},
        ("single quotes",),
    ),
    "double quotes in single quotes": ("{'a': 'say \"x\"'}", {"a": 'say "x"'}, ("single quotes",)),
    "Python escapes": (r"{'a': 'it\'s\x41\n'}", {"a": "it'sA\n"}, ("single quotes",)),
    "both quotes": ("{'a': \"what's\"}", {"a": "what's"}, ("single quotes",)),
    "Python literals": ("[True, None, False]", [True, None, False], ("Python literal",)),
    "literals inside texts": ('["None", "True",]', ["None", "True"], ("trailing comma",)),
    "comments": (
        '{"a": /* x */ 1, // y\n# z\n"b": "//"}',
        {"a": 1, "b": "//"},
        ("comment",),
    ),
    "comment directly after a number": ('{"a": 1// x\n}', {"a": 1}, ("comment",)),
    "raw control characters": (
        '{"a": "1\n\t2"}',
        {"a": "1\n\t2"},
        ("control character in a text",),
    ),
    "regular expression": (r'{"a": "\d+\.\w"}', {"a": r"\d+\.\w"}, ("invalid escape",)),
    "half an escape": (r'{"a": "C:\users\x"}', {"a": r"C:\users\x"}, ("invalid escape",)),
    "escaped apostrophe": (r'{"a": "it\'s"}', {"a": "it's"}, ("invalid escape",)),
    "emoji beside a bad escape": (
        r'{"a": "\ud83d\ude00\d"}',
        {"a": "😀\\d"},
        ("invalid escape",),
    ),
    "breaks spelled out": (
        r'{\n"a":\n3\n,"b": 4\n}\n',
        {"a": 3, "b": 4},
        ("line break spelled out",),
    ),
    "escaped as a whole": (r"{\"a\": \"x\\ny\"}", {"a": "x\ny"}, ("escaped as a whole",)),
    "bracket missing": ('{"a": {"b": [1, 2', {"a": {"b": [1, 2]}}, ("missing bracket",)),
    "bracket missing inside": ('{"a": [1, 2}', {"a": [1, 2]}, ("missing bracket",)),
    "bracket too many": ('{"a": 1}}', {"a": 1}, ("extra bracket",)),
    "missing commas": (
        '{"a": "x" "b": [1\n2]\n"c": {"d": 1} "e": 2}',
        {"a": "x", "b": [1, 2], "c": {"d": 1}, "e": 2},
        ("missing comma",),
    ),
    "missing comma between objects": (
        '[{"a": 1}{"a": 2}]',
        [{"a": 1}, {"a": 2}],
        ("missing comma",),
    ),
    "trailing commas": ('{"a": [1, 2,],}', {"a": [1, 2]}, ("trailing comma",)),
    "curly quotes outside": ("{“a”: “b”}", {"a": "b"}, ("curly quotes",)),
    "curly quotes inside curly quotes": (
        "{“a”: “the “blue” whale”}",
        {"a": "the “blue” whale"},
        ("curly quotes",),
    ),
    "full-width marks outside": (
        '{"a"："b，c"，"d"：1}',
        {"a": "b，c", "d": 1},
        ("full-width punctuation",),
    ),
    "unquoted keys": ("{a: 1, b_2: {c-d: 2}}", {"a": 1, "b_2": {"c-d": 2}}, ("unquoted key",)),
    "twice the same": ('{"a": 1, "a": 1,}', {"a": 1}, ("trailing comma",)),
}

REFUSED = {
    "empty": ("", "missing"),
    "blank": (" \n", "missing"),
    "prose": ("Paris has 2 million people {as of 2020}.", "no JSON value"),
    "cut in a text": ('{"path": "a", "content": "first half of', "not closed"),
    "cut in a text after an escape": ('{"a": "x\\', "not closed"),
    "cut in a single-quoted text": ("{'a': 'first half", "not closed"),
    "cut in a key": ('{"a": 1, "conte', "not closed"),
    "cut after a key": ('{"a": 1, "b"', "colon"),
    "cut after a colon": ('{"a": 1, "b":', "missing"),
    "cut after a comma": ('{"a": 1,', "comma"),
    "cut in a number": ('{"a": 12.', "no JSON number"),
    "cut after a sign": ('{"a": -', "no JSON number"),
    "cut in a literal": ('{"a": tru', "no JSON value"),
    "cut in a comment": ('{"a": 1 /* x', "stands where"),
    "NaN": ('{"a": NaN}', "no NaN"),
    "NaN in a list to repair": ("[NaN,]", "no NaN"),
    "Infinity": ("[-Infinity]", "no -Infinity"),
    "number too large": ("[1e999]", "too large"),
    "integer too long": ("[" + "9" * 5000 + "]", "too large"),
    "lone surrogate": (r'{"a": "\ud83d"}', "half a character"),
    "lone surrogate in a text to repair": (r'{"a": "\ud83d",}', "half a character"),
    "raw lone surrogate": ('{"a": "\ud83d"}', "half a character"),
    "twin keys": ('{"a": 1, "a": 2}', '"a" is given twice'),
    "twin keys that only look equal": ('{"a": 1, "a": true}', '"a" is given twice'),
    "twin keys in a text to repair": ("{'a': 1, 'a': 2}", '"a" is given twice'),
    "deep": ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), "deep"),
    "very deep": ("[" * 100_000, "deep"),
    "very deep objects": ('{"a":' * 100_000, "deep"),
    "missing colon": ('{"a" {"b": 1}}', "colon"),
    "unescaped quotation marks": ('{"q": "what is "AI" today"}', "Escape"),
    "unescaped empty quotation marks": ('["say "" twice"]', "Escape"),
    "bare words": ("{'a': hello world}", '"hello" is no JSON value'),
    "bare address": ('{"a": https://example.com}', "no JSON value"),
    "ellipsis": ("[1, 2, ...]", "no JSON number"),
    "digits in groups": ("[1 000, 2]", "digits in groups"),
    "leading zero": ("[010]", '"010" is no JSON number'),
    "underscore": ("[1_000]", '"1_000" is no JSON number'),
    "plus sign": ("[+1]", "no JSON number"),
    "comma too many": ("[1,,2]", '"," is no value'),
    "comma first": ("[,1]", "no value"),
    "wrong bracket": ("[1}", "belongs"),
    "closed too early": ('{"a": {"b": 1}}, "c": 2}', "more follows"),
    "two values": ('{"a": 1} {"b": 2}', "more follows"),
    "brackets missing and left over": ('{"a": [[1, 2}]}', "more follows"),
    "Python call": ("dict(a=1)", "no JSON value"),
}


@pytest.mark.parametrize(("text", "value", "repairs"), REPAIRED.values(), ids=REPAIRED)
def test_plain_meaning_is_repaired(text: str, value: object, repairs: tuple[str, ...]):
    read = parse_json(text)
    assert read.value == value
    assert read.repairs == repairs


@pytest.mark.parametrize(("text", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_would_have_to_be_guessed_is_refused(text: str, reason: str):
    with pytest.raises(UnreadableJsonError) as caught:
        parse_json(text)
    assert reason in str(caught.value)
    assert len(str(caught.value)) < 400
    str(caught.value).encode()


def test_the_error_shows_the_place():
    with pytest.raises(UnreadableJsonError, match=r'line 2, column 3 .*near "\{\\n  b c') as caught:
        parse_json("{\n  b c\n}")
    assert caught.value.position == 4


def test_a_value_is_read_from_the_midst_of_a_text():
    text = "Here: {'a': [1,]} and so on {"
    read = read_json(text, 6)
    assert (read.value, text[read.end :]) == ({"a": [1]}, " and so on {")


DATA = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(DATA, st.booleans(), st.sampled_from([None, 2]))
def test_valid_json_passes_unchanged(value: object, ascii_only: bool, indent: int | None):
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    read = parse_json(text)
    assert read.repairs == ()
    assert json.dumps(read.value) == json.dumps(json.loads(text))


@given(DATA)
def test_repairing_valid_json_changes_nothing(value: object):
    """The comment sends the text through the repairing reader."""
    read = parse_json("/**/" + json.dumps(value))
    assert read.repairs == ("comment",)
    assert json.dumps(read.value) == json.dumps(value)


@given(DATA)
def test_a_python_literal_is_the_same_as_json(value: object):
    text = repr(value)
    try:
        read = parse_json(text)
    except UnreadableJsonError:
        # Quotes that seem to end a text, and escapes that JSON does not have: refused, not guessed.
        assert "'" in text or "\\" in text
    else:
        if "\\" not in text:
            assert read.value == value


@given(st.dictionaries(st.text(min_size=1), DATA, min_size=1, max_size=4), st.data())
def test_cut_off_json_gives_no_text_or_key_that_was_not_whole(
    value: dict[str, object], data: st.DataObject
):
    text = json.dumps(value)
    cut = data.draw(st.integers(1, len(text) - 1))
    try:
        read = parse_json(text[:cut])
    except UnreadableJsonError:
        return
    assert set(_texts(read.value)) <= set(_texts(value))


JSON_LIKE = st.text(alphabet="{}[]:,'\"\\/#ab1.0-nutTF \n*“”，：", max_size=40)


@given(JSON_LIKE)
def test_every_text_that_comes_out_went_in(text: str):
    try:
        read = parse_json(text)
    except UnreadableJsonError:
        return
    for found in _texts(read.value):
        # Escapes are the only thing by which a text differs from its spelling.
        assert found in text or "\\" in text
    for number in _numbers(read.value):
        assert str(number)[:1] in text or "e" in text


@pytest.mark.parametrize(
    "text",
    [
        "{'a': '" + "' " * 200_000,
        '["' + '" "' * 100_000,
        "[" + "/**/" * 100_000,
        '{"a": "' + "\\d" * 200_000 + '",}',
        "['" + "x' " * 100_000 + "']",
        "[" + " " * 400_000 + "'",
        "{" + "a" * 400_000,
        "```" * 100_000,
    ],
    ids=lambda text: text[:12],
)
def test_hostile_texts_take_linear_time(text: str):
    started = time.process_time()
    with contextlib.suppress(UnreadableJsonError):
        parse_json(text)
    assert time.process_time() - started < 3


def test_huge_texts_are_read_strictly_only():
    text = json.dumps({"a": "x" * MAX_REPAIRED_CHARS})
    assert parse_json(text).repairs == ()
    with pytest.raises(UnreadableJsonError, match="not JSON"):
        parse_json(text[:-1] + ",}")


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for key, part in value.items() for text in (key, *_texts(part))]
    return [text for part in value for text in _texts(part)] if isinstance(value, list) else []


def _numbers(value: object) -> list[float]:
    if isinstance(value, dict):
        return [number for part in value.values() for number in _numbers(part)]
    if isinstance(value, list):
        return [number for part in value for number in _numbers(part)]
    return [value] if type(value) in (int, float) else []
