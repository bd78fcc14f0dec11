import duckdb

from planloom.analysis.report.note_facts import notes_table_sql, staged
from planloom.notes import Note

NOTES = (
    Note("Dropped {n|row|rows} of {c}.", "删除“{c}”的 {n} 行。", {"n": 14, "c": "a{{b}}"}),
    Note("Nothing.", "无。"),
    Note("{share} of {n}", "{n} 的 {share}", {"n": 3, "share": 0.5}),
)  # fmt: skip


def test_numbers_become_placeholders_and_words_stay_guarded():
    first = staged("cleaning", NOTES)[0]
    assert first.text("en").startswith("Dropped {{cleaning.1.n}} rows of ")
    assert "{{b}}" not in first.text("en")


def test_every_number_is_a_fact_whose_query_gives_it():
    notes = staged("cleaning", NOTES)
    connection = duckdb.connect()
    for statement in notes_table_sql(notes):
        connection.execute(statement)
    facts = [fact for note in notes for fact in note.facts()]
    assert [fact.value for fact in facts] == [14, 3, 0.5]
    for fact in facts:
        assert connection.execute(fact.query).fetchall() == [(fact.value,)]


def test_notes_without_numbers_make_an_empty_table():
    connection = duckdb.connect()
    for statement in notes_table_sql(staged("loading", NOTES[1:2])):
        connection.execute(statement)
    assert connection.execute("SELECT count(*) FROM notes").fetchall() == [(0,)]
