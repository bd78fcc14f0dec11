from planloom.notes import Note


def test_argument_is_shown_with_thousands_marks():
    assert Note("{n} of it", "{n} 个", {"n": 1234567}).text("en") == "1,234,567 of it"


def test_english_plural_follows_the_count():
    note = Note("{n|row|rows}", "{n} 行", {"n": 2})
    assert note.text("en") == "2 rows"
    assert note.text("zh") == "2 行"


def test_fact_placeholders_are_left_alone():
    note = Note("{what}: {{trend.total}}", "{what}：{{trend.total}}", {"what": "Sales"})
    assert note.text("en") == "Sales: {{trend.total}}"
    assert note.text("zh") == "Sales：{{trend.total}}"


def test_braces_inside_an_argument_are_not_expanded():
    note = Note("column {name}", "列 {name}", {"name": "{name} {{x}}"})
    assert note.text("en") == "column {name} {{x}}"


def test_same_reads_alike_in_both_languages():
    assert Note.same("金额").text("en") == Note.same("金额").text("zh") == "金额"
