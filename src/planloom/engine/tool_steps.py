"""Runs a step by calling its tool: references in, a recorded result and its artifacts out."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from planloom.engine.artifacts import Artifact, ArtifactStore, head_and_tail
from planloom.engine.json_value import JsonValue
from planloom.engine.masking import masked
from planloom.engine.plan import Step
from planloom.engine.protocols import StepCall, StepOutcome, StepRules
from planloom.engine.references import resolve
from planloom.engine.task import StepResult
from planloom.errors import ArgumentError, PlanError, ToolError, UnknownToolError
from planloom.events import EventStream
from planloom.notes import Lang
from planloom.tools import codec
from planloom.tools.context import ToolContext
from planloom.tools.registry import ToolRegistry
from planloom.tools.result import ToolResult
from planloom.tools.runner import ToolRunner
from planloom.tools.spelled_references import SpelledReference, spelled_references

MAX_INLINE_CHARS = 16_000
"""A longer encoded result is kept as a file, and the record names it."""

_LIGHT_CHARS = 10_000
_LIGHT_ITEMS = 50
_SHOWN_CHARS = 300
_SHOWN_ITEMS = 20
_FILE = "(kept as a file)"
_TRANSIENT = frozenset({"tool", "timeout", "crash"})


@dataclass(frozen=True, kw_only=True)
class ToolAccess:
    """What the tools of a run may touch, and the language they speak; see `ToolContext`."""

    lang: Lang = "en"
    readable: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    workspace: Path | None = None
    """None: the current folder."""


class ToolStepRunner:
    """The `StepRunner` of tool calls."""

    def __init__(
        self,
        registry: ToolRegistry,
        runner: ToolRunner,
        store: ArtifactStore,
        events: EventStream,
        *,
        access: ToolAccess | None = None,
    ):
        self._registry = registry
        self._runner = runner
        self._store = store
        self._events = events
        self._access = access or ToolAccess()
        self._used: set[str] = set()
        """Tools that were called: their modules and schemas are there."""

    def rules(self, step: Step, /) -> StepRules:
        """Return the rules of the step's tool; UnknownToolError when there is none."""
        tool = self._registry.get(step.tool)
        return StepRules(
            effect=tool.effect,
            repeatable=tool.effect in {"pure", "read"} or tool.idempotent,
            retries=tool.retries,
            approval=tool.approval,
            can_be_undone=tool.compensation is not None,
        )

    def shown_arguments(self, call: StepCall, /) -> dict[str, JsonValue]:
        """Return the arguments as the tool will get them, shortened, without secrets."""
        try:
            arguments = codec.encode(self._arguments(call))
        except (ToolError, PlanError):
            # The call will fail and say why; a person may still see what was planned.
            arguments = call.step.input
        return cast("dict[str, JsonValue]", _shortened(masked(arguments)))

    async def run(self, call: StepCall, /) -> StepOutcome:
        """Call the tool once."""
        try:
            arguments = (
                self._checked_arguments(call)
                if self._is_at_hand(call)
                else await asyncio.to_thread(self._checked_arguments, call)
            )
        except (ToolError, PlanError) as error:
            return StepOutcome(error=str(error), error_kind="arguments", attempts=0)
        result = await self._call(call, call.step.tool, arguments, call.key)
        if not result.ok:
            return _failure(result)
        try:
            # Hashing a large file takes seconds; for a number the way to a thread is what costs.
            kept, artifacts = (
                self._keep(call, result.value)
                if _is_light(result.value)
                else await asyncio.to_thread(self._keep, call, result.value)
            )
        except ToolError as error:
            return StepOutcome(error=str(error), error_kind="crash")
        for artifact in artifacts:
            self._emit(artifact)
        return StepOutcome(result=kept)

    async def undo(self, call: StepCall, result: StepResult, /) -> StepOutcome:
        """Call the tool that undoes the step's.

        It gets those of the step's own arguments that it has a parameter for, and the step's
        result where it has a parameter `result`.
        """
        undoing = self._registry.get(self._registry.get(call.step.tool).compensation or "")
        wanted = {parameter.name for parameter in undoing.inputs}
        try:
            own = await asyncio.to_thread(self._arguments, call)
            known = own | {"result": await asyncio.to_thread(self.value, result)}
            arguments = {name: value for name, value in known.items() if name in wanted}
            _refuse_spelled(spelled_references(undoing, arguments, resolved=True))
        except (ToolError, PlanError) as error:
            return StepOutcome(error=str(error), error_kind="arguments", attempts=0)
        undone = await self._call(call, undoing.name, arguments, f"undo/{call.key}")
        if not undone.ok:
            return _failure(undone)
        return StepOutcome(result=StepResult(tool=undoing.name))

    def value(self, result: StepResult, /) -> object:
        """Return a recorded result as the typed value that the tool gave.

        Raises:
            ToolError: it does not fit the tool's type any more, or a file of it is gone or altered.
        """
        encoded = self._store.read_json(result.artifact) if result.artifact else result.value
        annotation = cast("type[object]", self._registry.get(result.tool).result_type)
        value = codec.decode(cast("codec.JsonValue", encoded), annotation)
        self._store.check_files(value)
        return value

    def preview(self, result: StepResult, /) -> str:
        """Return a recorded result in at most about `PREVIEW_CHARS` characters.

        Its artifacts come first, each with shape and schema, then what else the value says.
        """
        kept = [self._store.get(artifact_id) for artifact_id in result.artifacts]
        lines = [f"{artifact.kind}: {artifact.preview}" for artifact in kept]
        said = None if result.artifact else _shortened(_without_files(masked(result.value)))
        if said not in (None, _FILE):
            lines.append(json.dumps(said, ensure_ascii=False))
        return head_and_tail("\n".join(lines))

    def _arguments(self, call: StepCall) -> dict[str, object]:
        values: dict[str, object] = {}

        def lookup(step_id: str) -> object:
            if step_id not in values:
                values[step_id] = self.value(call.results[step_id])
            return values[step_id]

        return cast("dict[str, object]", resolve(call.step.input, lookup))

    def _checked_arguments(self, call: StepCall) -> dict[str, object]:
        """Return the arguments for the step's tool; reads files and the tool's schema.

        Raises:
            ArgumentError: one spells out what only an earlier step may give.
            PlanError, ToolError: as for `resolve` and `value`.
        """
        tool = self._registry.get(call.step.tool)
        _refuse_spelled(spelled_references(tool, call.step.input))
        arguments = self._arguments(call)
        _refuse_spelled(spelled_references(tool, arguments, resolved=True))
        return arguments

    def _is_at_hand(self, call: StepCall) -> bool:
        """Whether the arguments can be had without reading a file or importing a toolset."""
        tools = {call.step.tool, *(result.tool for result in call.results.values())}
        kept = any(result.artifact or result.artifacts for result in call.results.values())
        return tools <= self._used and not kept

    def _takes_context(self, tool: str) -> bool:
        try:
            return bool(self._registry.get(tool).context_parameter)
        except UnknownToolError:
            return False

    async def _call(
        self, call: StepCall, tool: str, arguments: Mapping[str, object], key: str
    ) -> ToolResult:
        context = ToolContext(
            key=key,
            # A tool that takes no context does not know its folder.
            folder=self._store.step_folder(call.key, make=self._takes_context(tool)),
            lang=self._access.lang,
            readable=self._access.readable,
            writable=self._access.writable,
            workspace=self._access.workspace or Path.cwd(),
        )
        result = await self._runner.call(tool, arguments, context)
        self._used.add(tool)
        self._events.emit(
            "tool_call",
            key=key,
            tool=tool,
            arguments=_shortened(masked(call.step.input)),
            ok=result.ok,
            error=result.error,
            error_kind=result.error_kind,
            seconds=round(result.seconds, 6),
            **({"raised_at": result.raised_at} if result.raised_at else {}),
        )
        return result

    def _keep(self, call: StepCall, value: object) -> tuple[StepResult, list[Artifact]]:
        encoded = codec.encode(value)
        kept = self._store.keep_files(value, call.key)
        large = len(json.dumps(encoded, ensure_ascii=False)) > MAX_INLINE_CHARS
        if large:
            kept.append(self._store.keep_json(encoded, call.key, number=len(kept) + 1))
        result = StepResult(
            tool=call.step.tool,
            value=None if large else encoded,
            artifact=kept[-1].id if large else "",
            artifacts=tuple(artifact.id for artifact in kept),
        )
        return result, kept

    def _emit(self, artifact: Artifact) -> None:
        record = artifact.to_json()
        del record["schema"]
        self._events.emit("artifact", artifact=record)


def _refuse_spelled(found: Sequence[SpelledReference]) -> None:
    if found:
        listed = "\n".join(f"- {reference}" for reference in found)
        raise ArgumentError(
            f"The tool was not called:\n{listed}\nName the step that makes it, such as '$chart'."
        )


def _is_light(value: object) -> bool:
    """Whether a value is a short text, a number or a few of them: no file, nothing deep."""
    if isinstance(value, dict):
        parts = list(cast("dict[object, object]", value).values())
    else:
        parts = cast("Sequence[object]", value) if isinstance(value, list | tuple) else [value]
    return len(parts) <= _LIGHT_ITEMS and sum(map(_weight, parts)) <= _LIGHT_CHARS


def _weight(value: object) -> float:
    """Return about how many characters a plain value has; endless for any other."""
    if isinstance(value, str):
        return len(value)
    return 1 if value is None or isinstance(value, bool | int | float) else math.inf


def _failure(result: ToolResult) -> StepOutcome:
    return StepOutcome(
        error=result.error,
        error_kind=result.error_kind,
        may_help_to_retry=result.error_kind in _TRANSIENT,
    )


def _without_files(value: JsonValue) -> JsonValue:
    """Return a value without its references to files, which the artifacts show better."""
    if isinstance(value, Mapping):
        if {"path", "sha256"} <= value.keys():
            return _FILE
        return {key: _without_files(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_without_files(item) for item in value]
    return value


def _shortened(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return head_and_tail(value, _SHOWN_CHARS)
    if isinstance(value, Mapping):
        shown = {key: _shortened(item) for key, item in list(value.items())[:_SHOWN_ITEMS]}
        left = len(value) - len(shown)
        return {**shown, "...": f"[... {left} more ...]"} if left else shown
    if isinstance(value, Sequence):
        items = [_shortened(item) for item in value[:_SHOWN_ITEMS]]
        left = len(value) - len(items)
        return [*items, f"[... {left} more ...]"] if left else items
    return value
