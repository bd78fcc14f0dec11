"""Where a run with a model is kept, which tools it has, and who watches it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from planloom.config import Settings
from planloom.events import EventSink
from planloom.tools.registry import ToolRegistry


@dataclass(frozen=True, kw_only=True)
class Workplace:
    """What runs have besides a goal and a model."""

    home: Path
    registry: ToolRegistry
    """Of one run alone: its own tools are added."""
    sinks: Sequence[EventSink] = ()
    max_output_chars: int = 10_000
    """Of a result that is shown to a model."""
    max_iterations: int = 10
    """Of a ReAct loop."""

    @classmethod
    def of(
        cls, settings: Settings, registry: ToolRegistry, sinks: Sequence[EventSink] = ()
    ) -> Workplace:
        """Return the workplace that the settings describe."""
        return cls(
            home=settings.home,
            registry=registry,
            sinks=sinks,
            max_output_chars=int(settings["max_output_chars"] or cls.max_output_chars),
            max_iterations=int(settings["max_iterations"] or cls.max_iterations),
        )
