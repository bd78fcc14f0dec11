"""Keeps how a model's reading of a goal differs from that of the rules: file and event of a run."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from planloom.agents.running import RunStage
from planloom.engine.artifacts import write_atomically

if TYPE_CHECKING:
    from planloom.planning.constrained.comparison import Comparison

COMPARISON_FILE = "comparison.json"
"""In the folder of a run with a model: its reading of the goal beside that of the rules."""


def comparison_keeper(stage: RunStage) -> Callable[[Comparison], None]:
    """Return what writes a comparison into the run's folder and its event stream."""

    def keep(comparison: Comparison) -> None:
        record = comparison.to_json()
        text = json.dumps(record, ensure_ascii=False, indent=1) + "\n"
        write_atomically(stage.folder.path / COMPARISON_FILE, text.encode("utf-8"))
        stage.events.emit("artifact", name=COMPARISON_FILE, comparison=record)

    return keep
