"""Compares how a model read a goal with how the rules read it, the baseline of every report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from planloom.engine.json_value import JsonObject, JsonValue, json_copy
from planloom.notes import Lang, Note
from planloom.planning.goals.intent import AnalysisRequest, Filter, ToolRequest, Understanding
from planloom.planning.goals.remarks import filter_note, request_note
from planloom.tools.codec import encode

SCHEMA = 1
_Part = AnalysisRequest | ToolRequest | Filter


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Two readings of one goal over one table."""

    model: str
    """Name of the model."""
    by_model: Understanding | None
    """None when the model gave no usable answer."""
    by_rules: Understanding
    why: str = ""
    """Why the model's reading is missing."""

    @property
    def agree(self) -> tuple[_Part, ...]:
        """Analyses and restrictions of rows that both chose, with the same columns."""
        return tuple(part for part in _parts(self.by_model) if part in _parts(self.by_rules))

    @property
    def only_model(self) -> tuple[_Part, ...]:
        """What the model alone chose."""
        return tuple(part for part in _parts(self.by_model) if part not in _parts(self.by_rules))

    @property
    def only_rules(self) -> tuple[_Part, ...]:
        """What the rules alone would have chosen."""
        return tuple(part for part in _parts(self.by_rules) if part not in _parts(self.by_model))

    def to_json(self) -> JsonObject:
        """Return the record that is written as comparison.json."""
        note = self.note()
        record: dict[str, object] = {
            "schema": SCHEMA,
            "model": self.model,
            "used": "model" if self.by_model else "rules",
            "why": self.why,
            "by_model": _listed(_parts(self.by_model)),
            "by_rules": _listed(_parts(self.by_rules)),
            "agree": _listed(self.agree),
            "only_model": _listed(self.only_model),
            "only_rules": _listed(self.only_rules),
            "text": note.text("en"),
            "text_zh": note.text("zh"),
        }
        copied = json_copy(record)
        assert isinstance(copied, dict)  # noqa: S101 -- the copy of a dict is one
        return copied

    def note(self) -> Note:
        """Say in one sentence what the rules alone would have chosen."""
        if self.by_model is None:
            return Note(
                "The language model {model} gave no usable choice of analyses, so rules chose "
                "them ({why}).",
                "语言模型 {model} 没有给出可用的分析选择，改由规则选定（{why}）。",
                {"model": self.model, "why": self.why},
            )
        if not self.only_model and not self.only_rules:
            return Note(
                "The rules alone would have chosen the same analyses.",
                "仅凭规则也会选出同样的分析。",
            )
        if not _told(self.by_rules, "en"):
            return Note(
                "The rules alone would have chosen other analyses; comparison.json lists them.",
                "仅凭规则会选择不同的分析，详见 comparison.json。",
            )
        return Note(
            "The rules alone would have chosen: {rules}",
            "仅凭规则会选择：{rules_zh}",
            {"rules": _told(self.by_rules, "en"), "rules_zh": _told(self.by_rules, "zh")},
        )


def _parts(reading: Understanding | None) -> tuple[_Part, ...]:
    if reading is None:
        return ()
    return (*map(_comparable, reading.analyses), *reading.others, *reading.filters)


def _comparable(request: AnalysisRequest) -> AnalysisRequest:
    # An overview covers the same ground whatever measure it stresses.
    return replace(request, measure=None, how="count") if request.kind == "overview" else request


def _told(reading: Understanding, lang: Lang) -> str:
    notes = (*map(request_note, reading.analyses), *map(filter_note, reading.filters))
    return (" " if lang == "en" else "").join(note.text(lang) for note in notes)


def _listed(parts: Sequence[_Part]) -> list[JsonValue]:
    kinds = {AnalysisRequest: "analysis", ToolRequest: "tool", Filter: "rows"}
    found: list[JsonValue] = []
    for part in parts:
        fields = encode(part)
        assert isinstance(fields, dict)  # noqa: S101 -- dataclasses become objects
        found.append({"part": kinds[type(part)], **fields})
    return found
