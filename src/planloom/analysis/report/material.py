"""Everything a data report is composed from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from planloom.analysis.cleaning import Cleaned
from planloom.analysis.loading.results import LoadedFile, LoadedTable
from planloom.analysis.recipe import Recipe
from planloom.analysis.report.note_facts import StagedNote, staged
from planloom.analysis.report.prose import Wording
from planloom.analysis.results import Analysis
from planloom.analysis.selection import Selection
from planloom.analysis.traps import Trap
from planloom.notes import Lang, Note
from planloom.values import ImageRef


@dataclass(frozen=True, kw_only=True)
class Finding:
    """An analysis and its picture."""

    analysis: Analysis
    image: ImageRef | None = None


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How the goal was understood."""

    understood: tuple[Note, ...] = ()
    """What will be done, in words."""
    assumptions: tuple[Note, ...] = ()
    """What the goal left open and was chosen, with the reason."""
    unknown: tuple[Note, ...] = ()
    """What the goal asks for and the data does not hold."""


@dataclass(frozen=True, kw_only=True)
class Material:
    """What a report is made of; `table` is the one analysed among those of `loaded`."""

    goal: str
    lang: Lang
    loaded: LoadedFile
    table: LoadedTable
    traps: tuple[Trap, ...]
    """What is suspicious in the table as loaded, before cleaning."""
    cleaned: Cleaned
    findings: tuple[Finding, ...]
    reading: Reading
    recipe: Recipe
    selection: Selection | None = None
    """The rows that the analyses look at, when the goal asks for some only."""
    wording: Wording = field(default_factory=Wording)
    """What a model says in the report; empty when templates word all of it."""
    missing: tuple[Note, ...] = ()
    """What was planned and could not be made, with the reason."""

    @property
    def other_sheets(self) -> tuple[str, ...]:
        """Titles of the file's further tables, which are not part of the analyses."""
        return tuple(t.title for t in self.loaded.tables if t is not self.table)

    @cached_property
    def notes(self) -> tuple[StagedNote, ...]:
        """All remarks on the data that hold numbers, staged so that they can be found again."""
        return data_notes(self.loaded, self.table, self.traps, self.cleaned)

    def stage(self, stage: str) -> Iterator[StagedNote]:
        """Yield the remarks of one stage."""
        return (note for note in self.notes if note.stage == stage)


def data_notes(
    loaded: LoadedFile, table: LoadedTable, traps: Sequence[Trap], cleaned: Cleaned
) -> tuple[StagedNote, ...]:
    """Return the remarks of loading, profiling and cleaning in their fixed order."""
    return (
        *staged("rows", (_account(table),)),
        *staged("loading", (*loaded.decisions, *table.decisions)),
        *staged("profile", (trap.text for trap in traps)),
        *staged("cleaning", (step.text for step in cleaned.log)),
    )


def _account(table: LoadedTable) -> Note:
    read, rejected = table.rows_in, table.rows_rejected
    if not rejected:
        return Note(
            "The file holds {read|record|records}.", "文件共有 {read} 条记录。", {"read": read}
        )
    return Note(
        "The file holds {read|record|records}, of which {rejected} could not be read and "
        + ("was" if rejected == 1 else "were")
        + " set aside.",
        "文件共有 {read} 条记录，其中 {rejected} 条无法识别，已搁置。",
        {"read": read, "rejected": rejected},
    )
