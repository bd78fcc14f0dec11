"""Answers a question with the ReAct loop, as a run of the engine with its record and evidence."""

from __future__ import annotations

import asyncio
import json
import mimetypes
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from planloom.agents.data_first import DATA_ENDINGS
from planloom.agents.model_setup import ModelSetup
from planloom.agents.personal_data import mask_of
from planloom.agents.running import FinishedRun, RunSetup, RunStage, run_prepared
from planloom.agents.workplace import Workplace
from planloom.budget import Bill
from planloom.engine.approval import ApprovalPolicy
from planloom.engine.artifacts import head_and_tail, write_atomically
from planloom.engine.execution import RunOptions
from planloom.engine.plan import Plan, Step
from planloom.engine.protocols import Approver, TaskView
from planloom.engine.references import escape_dollars
from planloom.engine.task import RunStatus
from planloom.engine.tool_steps import ToolAccess
from planloom.errors import InputError, ToolError
from planloom.models.chat_model import ChatModel
from planloom.models.messages import ImagePart
from planloom.models.metered import MeteredModel
from planloom.notes import Lang, Note
from planloom.planning.checked_answers import answer_doubt
from planloom.planning.personal_mask import PersonalDataMask
from planloom.planning.react.finding import FindingToolbox
from planloom.planning.react.loop import ReactLoop
from planloom.planning.react.record import outcome_json
from planloom.planning.react.recorded_toolbox import RecordedToolbox, RunTools
from planloom.planning.react.toolbox import FIND, Toolbox
from planloom.planning.react.trajectory import ReactOutcome, StopReason
from planloom.planning.tool_offer import (
    LIMIT,
    SMALL_LIMIT,
    SMALL_SCHEMA_CHARS,
    offer_tools,
)
from planloom.tools.tool import AnyTool, tool

EVIDENCE_FILE = "evidence.json"
FILES = "Files that belong to the question:"
_STEP, _TOOL = "answer", "answer_question"
_TIMEOUT_S = 86_400.0
"""The budget and the number of iterations end the loop, not the clock of one tool."""
_GRACE_S = 5.0
"""The loop keeps the time limit itself, with what it found; the engine ends it that much later."""
_OBSERVATION_CHARS = 4_000
_ERROR_CHARS = 300
_MAX_IMAGE_BYTES = 8_000_000


@dataclass(frozen=True, kw_only=True)
class QuestionRequest:
    """A question, and what may be done to answer it."""

    question: str
    files: tuple[Path, ...] = ()
    """Absolute paths."""
    lang: Lang = "en"
    """Language of messages; the answer is in that of the question."""
    readable: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    answer_form: str = ""
    """How the answer has to be written, for the model; "" leaves it free."""
    policy: ApprovalPolicy = field(default_factory=ApprovalPolicy)
    approver: Approver | None = None
    send_personal_data: bool = False
    """Whether values that look like those of persons may go to the model; else it sees stand-ins,
    and the answer has the values."""
    run_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class LoopResult:
    """What the loop gave, as the step records it."""

    text: str
    stop_reason: StopReason
    is_answered: bool
    problem: str = ""
    """Why this is no answer that the model gave of its own accord; "" when it is."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The answer to a question, and how it came about."""

    text: str
    """"" when the model gave none."""
    stop_reason: StopReason | None
    """None when the loop was never begun."""
    found: str
    """The last result, where no answer was given."""
    problem: str
    """Why the run is no whole success; "" when it is."""
    bill: Bill
    finished: FinishedRun

    @property
    def status(self) -> RunStatus:
        """`succeeded` only when the model answered of its own accord."""
        return self.finished.task.status

    @property
    def run(self) -> str:
        """Id of the run."""
        return self.finished.task.id

    @property
    def evidence(self) -> Path:
        """The file with thoughts, calls and sources."""
        return self.finished.folder / EVIDENCE_FILE


async def answer_question(request: QuestionRequest, model: ModelSetup, place: Workplace) -> Answer:
    """Answer a question and return how that ended.

    Raises:
        InputError: the question is empty, or the run's folder cannot be written.
        ConfigError: a setting of the model does not work.
        Exception: a bug that the loop met; the record of the run names it too.
        CancelledError: the run was cancelled; its folder holds the record.
    """
    if not request.question.strip():
        raise InputError("The question is empty.", zh="问题为空。")

    ending = _Ending()

    def prepare(stage: RunStage) -> _OneStep:
        metered = model.metered(stage.events).for_step(_STEP, purpose="react")
        mask = mask_of(stage, said=request.question, sends=request.send_personal_data)
        tools = replace(stage.run_tools(request.policy, request.approver), mask=mask)
        # Made before the step's own tool is there, which it must not call.
        toolbox = _toolbox(request, metered, tools, f"{stage.run_id}/1.{_STEP}")
        loop = ReactLoop(
            metered,
            toolbox,
            max_iterations=place.max_iterations,
            answer_form=request.answer_form,
            max_output_chars=place.max_output_chars,
        )
        keep = _Keeper(request, stage.folder.path, mask, ending)
        stage.registry.register(_answer_tool(request, metered, loop, keep))
        return _OneStep(request)

    try:
        finished = await run_prepared(request.question, prepare, _setup(request, model, place))
    finally:
        await model.close()
    if ending.bug:
        raise ending.bug
    return _answer(finished, model.budget.bill(), ending)


@dataclass(slots=True)
class _Ending:
    """How the loop ended, also where its step gave no result."""

    stop_reason: StopReason | None = None
    bug: Exception | None = None
    """What the loop raised: no failure of a tool or a model."""


@dataclass(frozen=True, slots=True)
class _Keeper:
    """Writes down what a loop gave, as far as it came."""

    request: QuestionRequest
    folder: Path
    mask: PersonalDataMask
    ending: _Ending

    def __call__(self, outcome: ReactOutcome) -> None:
        """Keep an outcome."""
        self.ending.stop_reason = outcome.stop_reason
        answer = self.mask.restored(outcome.answer)
        _write_evidence(self.request, replace(outcome, answer=answer), self.folder)


def _setup(request: QuestionRequest, model: ModelSetup, place: Workplace) -> RunSetup:
    left = model.budget.seconds_left()
    return RunSetup(
        registry=place.registry,
        home=place.home,
        access=ToolAccess(
            lang=request.lang,
            readable=(*request.files, *request.readable),
            writable=request.writable,
        ),
        options=RunOptions(
            policy=request.policy,
            time_limit_s=None if left is None else left + _GRACE_S,
            lang=request.lang,
        ),
        sinks=place.sinks,
        approver=request.approver,
        run_id=request.run_id,
        bill=model.budget.bill,
    )


class _OneStep:
    """Plans the one step that answers, and says afterwards how far it came."""

    def __init__(self, request: QuestionRequest):
        self._request = request

    async def plan(self, view: TaskView, /) -> Plan | None:
        """Return the plan; a second one only where the first gave less than an answer."""
        step = Step(
            id=_STEP,
            tool=_TOOL,
            input={"question": escape_dollars(self._request.question)},
            description=_DESCRIPTION.text(self._request.lang),
            on_failure="fail",
        )
        if view.epoch == 1:
            return None if view.problems else Plan(steps=(step,), outputs=(_STEP,))
        if view.epoch > 2 or _STEP not in view.results:
            return None
        result = cast("LoopResult", view.value(_STEP))
        if not result.problem:
            return None
        # The same call counts as done; giving up its rest makes the run `partial`.
        return Plan(steps=(step,), outputs=(_STEP,), given_up={_STEP: result.problem})


def _answer_tool(
    request: QuestionRequest, model: MeteredModel, loop: ReactLoop, keep: _Keeper
) -> AnyTool:
    @tool(name=_TOOL, effect="read", retries=0, timeout_s=_TIMEOUT_S, isolation="async")
    async def answer_question(question: str) -> LoopResult:
        """Answer a question with the other tools.

        Args:
            question: The question.
        """
        try:
            outcome = await loop.run(
                question,
                parts=_pictures(request, model),
                pinned=_files_text(request.files),
                must_look=any(not _image_type(path) for path in request.files),
                time_limit_s=model.budget.seconds_left(),
                on_broken=keep,
            )
        except Exception as error:
            # A failed step for the record; who called gets the error itself, with its traceback.
            keep.ending.bug = error
            raise ToolError(f"The loop could not go on: {_said(error)}") from error
        doubt = await asyncio.to_thread(_numbers_doubt, request, outcome)
        outcome = replace(outcome, problem=outcome.problem or doubt)
        keep(outcome)
        return _result(replace(outcome, answer=keep.mask.restored(outcome.answer)), request.lang)

    return answer_question


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:_ERROR_CHARS]


_NAME_OF_RESULT = re.compile(r"^\$\w+:\s")
"""What the loop puts before a result, so that it can be passed on."""


def _numbers_doubt(request: QuestionRequest, outcome: ReactOutcome) -> Note | None:
    """Return which numbers of an answer nothing gave that the model has seen."""
    if not outcome.is_answered or any(map(_image_type, request.files)):
        return None  # what a picture shows is not known here
    actions = (action for turn in outcome.trajectory for action in turn.actions)
    seen = [_NAME_OF_RESULT.sub("", a.observation.text) for a in actions if a.observation.ok]
    return answer_doubt(outcome.answer, seen, said=request.question, has_files=bool(request.files))


def _result(outcome: ReactOutcome, lang: Lang) -> LoopResult:
    problem = outcome.problem.text(lang) if outcome.problem else ""
    if outcome.stop_reason != "answered" and not problem:
        problem = f"The loop ended early: {outcome.stop_reason}."
    if not outcome.is_answered and not outcome.answer:
        raise ToolError(problem or "The model gave no answer.")
    return LoopResult(
        text=outcome.answer,
        stop_reason=outcome.stop_reason,
        is_answered=outcome.is_answered,
        problem=problem,
    )


def _answer(finished: FinishedRun, bill: Bill, ending: _Ending) -> Answer:
    result = cast("LoopResult | None", finished.results.get(_STEP))
    missing = " ".join(dict.fromkeys(missing.why for missing in finished.task.missing))
    answered = result is not None and result.is_answered
    return Answer(
        text=result.text.strip() if result and answered else "",
        stop_reason=result.stop_reason if result else ending.stop_reason,
        found=result.text if result and not answered else "",
        problem=missing,
        bill=bill,
        finished=finished,
    )


# -- what the model is given


def _toolbox(request: QuestionRequest, model: ChatModel, tools: RunTools, key: str) -> Toolbox:
    """Return the tools that the question is likely to need, and a way to find the others."""
    # A question is no order for a report: that is what `planloom report` is for.
    usable = [tool for tool in tools.registry.tools() if tool.toolset != "reports"]
    is_small = model.traits.is_small
    data = [path for path in request.files if path.suffix.lower() in DATA_ENDINGS]
    offer = offer_tools(
        usable,
        request.question,
        with_table=bool(data),
        with_text=any(path not in data and not _image_type(path) for path in request.files),
        limit=SMALL_LIMIT if is_small else LIMIT,
        max_schema_chars=SMALL_SCHEMA_CHARS if is_small else None,
    )
    box = RecordedToolbox(tools, key, names=[tool.name for tool in offer.shown])
    if not offer.more or any(tool.name == FIND for tool in usable):
        return box
    return FindingToolbox(box, offer.more, spells_arguments=not model.traits.tools)


def _files_text(files: Sequence[Path]) -> str:
    if not files:
        return ""
    return "\n".join([FILES, *(_file_line(path) for path in files)])


def _file_line(path: Path) -> str:
    reader = "read_csv_file" if path.suffix.lower() in DATA_ENDINGS else "read_file"
    if _image_type(path):
        return f'- "{path}" (a picture, {path.stat().st_size:,} bytes)'
    return f'- "{path}" ({path.stat().st_size:,} bytes), opened with {reader}'


def _pictures(request: QuestionRequest, model: ChatModel) -> tuple[ImagePart, ...]:
    if not model.traits.images:
        return ()
    return tuple(
        ImagePart(path.read_bytes(), media_type)
        for path in request.files
        if (media_type := _image_type(path)) and path.stat().st_size <= _MAX_IMAGE_BYTES
    )


def _image_type(path: Path) -> str:
    media_type = mimetypes.guess_type(path.name)[0] or ""
    return (
        media_type if media_type in {"image/png", "image/jpeg", "image/gif", "image/webp"} else ""
    )


# -- the record


def _write_evidence(request: QuestionRequest, outcome: ReactOutcome, folder: Path) -> None:
    record = outcome_json(outcome)
    iterations = cast("list[dict[str, object]]", record.pop("trajectory"))
    evidence: Mapping[str, object] = {
        "schema": record.pop("schema"),
        "question": request.question,
        **record,
        "sources": list(dict.fromkeys((*map(str, request.files), *_sources(outcome)))),
        "trajectory": [_bounded(iteration) for iteration in iterations],
    }
    text = json.dumps(evidence, ensure_ascii=False, indent=1)
    write_atomically(folder / EVIDENCE_FILE, text.encode("utf-8", "replace"))


def _bounded(iteration: dict[str, object]) -> dict[str, object]:
    actions = cast("list[dict[str, object]]", iteration["actions"])
    short = [
        {**action, "observation": head_and_tail(str(action["observation"]), _OBSERVATION_CHARS)}
        for action in actions
    ]
    return {**iteration, "actions": short}


def _sources(outcome: ReactOutcome) -> Iterator[str]:
    """Yield the files and addresses that succeeded calls have read."""
    for iteration in outcome.trajectory:
        for action in iteration.actions:
            if action.observation.ok:
                yield from _named_in(action.arguments)


def _named_in(arguments: str) -> Iterator[str]:
    try:
        values = cast("object", json.loads(arguments))
    except ValueError:
        return
    if isinstance(values, dict):
        named = cast("Mapping[str, object]", values)
        found = (named.get(name) for name in ("path", "url", "file"))
        yield from (value for value in found if isinstance(value, str))


_DESCRIPTION = Note("Answer the question", "回答问题")
