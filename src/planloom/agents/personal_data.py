"""The mask of personal data of one run, which tells the user on the run's stream of events."""

from __future__ import annotations

from planloom.agents.running import RunStage
from planloom.events import EventStream
from planloom.notes import Note
from planloom.planning.personal_mask import PersonalDataMask


def mask_of(stage: RunStage, *, said: str, sends: bool) -> PersonalDataMask:
    """Return the mask of a run; `said` is the user's goal, `sends` lets everything through."""
    return PersonalDataMask(
        sends=sends, said=said, on_notice=lambda note: tell_notice(stage.events, stage.run_id, note)
    )


def tell_notice(events: EventStream, run_id: str, note: Note) -> None:
    """Put on record, and show, what is done with personal data."""
    events.emit(
        "approval",
        asked=False,
        key=f"{run_id}/personal_data",
        text=note.text("en"),
        text_zh=note.text("zh"),
    )
