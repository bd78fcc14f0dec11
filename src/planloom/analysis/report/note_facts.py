"""Counts that remarks state (rows set aside, cells changed) as facts, like any other number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from planloom.analysis.report.text import guard
from planloom.notes import Lang, Note
from planloom.values import Fact

NOTES_TABLE = "notes"
_LABEL_CHARS = 90


@dataclass(frozen=True, slots=True)
class StagedNote:
    """A remark and where it was made; (stage, number) is the same each time the data is read."""

    stage: str
    """"loading", "cleaning", "profile"."""
    number: int
    """From 1 within the stage."""
    note: Note

    def text(self, lang: Lang) -> str:
        """Return the remark with its numbers as fact placeholders."""

        def show(name: str, value: str | float) -> str:
            return guard(value) if isinstance(value, str) else "{{" + self._fact_id(name) + "}}"

        return self.note.text(lang, show=show)

    def facts(self) -> list[Fact]:
        """Return one fact for each number of the remark."""
        label = Note("{en}", "{zh}", {"en": _short(self.note, "en"), "zh": _short(self.note, "zh")})
        return [
            Fact(
                id=self._fact_id(name), label=label, value=value, rows=1, table=NOTES_TABLE,
                query=f"SELECT value FROM {NOTES_TABLE} WHERE stage = '{self.stage}' "
                f"AND number = {self.number} AND name = '{name}'",
            )
            for name, value in self.note.args.items()
            if not isinstance(value, str)
        ]  # fmt: skip

    def texts(self) -> list[str]:
        """Return the words of the data in the remark: names and cells that it quotes."""
        return [value for value in self.note.args.values() if isinstance(value, str)]

    def rows(self) -> list[tuple[str, int, str, float]]:
        """Return the rows of the table "notes": stage, number, name, value."""
        return [
            (self.stage, self.number, name, float(value))
            for name, value in self.note.args.items()
            if not isinstance(value, str)
        ]

    def _fact_id(self, name: str) -> str:
        return f"{self.stage}.{self.number}.{name}"


def staged(stage: str, notes: Iterable[Note]) -> tuple[StagedNote, ...]:
    """Return the remarks of one stage, numbered in their order."""
    return tuple(StagedNote(stage, number, note) for number, note in enumerate(notes, 1))


def notes_table_sql(notes: Sequence[StagedNote]) -> tuple[str, ...]:
    """Return the SQL statements that make the table "notes" from the remarks' numbers."""
    rows = ", ".join(
        f"('{stage}', {number}, '{name}', {value!r}::DOUBLE)"
        for note in notes
        for stage, number, name, value in note.rows()
    )
    columns = "(stage VARCHAR, number INTEGER, name VARCHAR, value DOUBLE)"
    create = f"CREATE TEMP TABLE {NOTES_TABLE} {columns}"
    return (create, f"INSERT INTO {NOTES_TABLE} VALUES {rows}") if rows else (create,)


def _short(note: Note, lang: Lang) -> str:
    text = note.text(lang)
    return text if len(text) <= _LABEL_CHARS else text[: _LABEL_CHARS - 1] + "…"
