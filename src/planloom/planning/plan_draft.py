"""The plan that a conversation is about: its drafts, and what goes on of earlier ones."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

from planloom.engine.plan import Plan, Step, unused_steps
from planloom.engine.protocols import TaskView
from planloom.engine.task import StepRecord, latest_complete
from planloom.errors import PlanError
from planloom.models.history import History
from planloom.planning.reply_lines import ReadReply, merged_steps
from planloom.planning.tool_text import ToolChoice

_ERROR_CHARS = 400


@dataclass(kw_only=True)
class Talk:
    """The conversation about one run, and the plan that is being written in it."""

    history: History
    choice: ToolChoice
    draft: ReadReply = field(default_factory=ReadReply)
    """What has been read of the plan that is not accepted yet."""
    problems: tuple[str, ...] = ()
    """What the planner itself found wrong with its last reply."""
    was_cut: bool = False
    """Whether that reply ended too early."""
    may_go_on: bool = False
    """Whether what came before the cut is sound, and the rest can be asked for."""
    faulty: frozenset[str] = frozenset()
    """Steps of the draft with which the check found something wrong."""
    told: dict[str, Step] = field(default_factory=dict[str, Step])
    """Steps that the engine may have started before the plan was whole."""

    def forget_reply(self) -> None:
        """Forget what was wrong with the last reply: the model has been told."""
        self.problems, self.was_cut, self.may_go_on = (), False, False


def to_plan(reply: ReadReply, talk: Talk, view: TaskView) -> Plan | None:
    """Return the plan that a reply makes of the draft before it.

    Raises:
        PlanError: lines of it cannot be read, it was cut off, or there are none.
    """
    before = talk.draft
    take_in(reply, talk)
    steps, outputs = tuple(talk.draft.steps), talk.draft.outputs
    if talk.problems:
        raise PlanError("\n".join(talk.problems))
    if reply.is_done and view.failures and not steps:
        return None
    steps = (*steps, *_carried(view, steps, outputs))
    if not steps or (before.steps and not _changes(reply)):
        talk.problems = (_no_plan(reply),)
        raise PlanError(talk.problems[0])
    return Plan(thought=talk.draft.thought, steps=steps, outputs=_outputs(steps, outputs))


def take_in(reply: ReadReply, talk: Talk) -> None:
    """Put the lines of a reply into the draft, in place of those with the same ids."""
    before = talk.draft
    new = [_as_told(step, talk) for step in reply.steps]
    dropped = (*reply.dropped, *_left_out(reply, talk))
    steps = merged_steps(before.steps, new, dropped)
    outputs = _without(before.outputs, dropped) if reply.outputs is None else reply.outputs
    thought = before.thought or reply.thought
    talk.draft = ReadReply(thought=thought, steps=list(steps), outputs=outputs)
    talk.faulty -= {step.id for step in new}
    talk.problems = (*talk.problems, *reply.problems)


def brings_lines(reply: ReadReply, talk: Talk) -> bool:
    """Return whether a reply has a step that the draft lacks, or has otherwise."""
    return any(_as_told(step, talk) not in talk.draft.steps for step in reply.steps)


def failed_early(view: TaskView, talk: Talk) -> Iterable[str]:
    """Yield how steps of the draft failed that were started before the plan was whole."""
    drafted = {step.id for step in talk.draft.steps}
    for record in view.failures:
        if record.epoch > latest_complete(view.plans) and record.step in drafted:
            yield f"Step '{record.step}' was started and failed: {record.error[:_ERROR_CHARS]}"


def draft_of(plan: Plan) -> ReadReply:
    named = None if plan.outputs == unused_steps(plan.steps) else plan.outputs
    return ReadReply(thought=plan.thought, steps=list(plan.steps), outputs=named)


def as_part(reply: ReadReply, before: ReadReply) -> ReadReply:
    """Return a JSON reply with the outputs of the whole plan where it holds only a part of it."""
    if not before.steps:
        return reply
    ids = {step.id for step in (*before.steps, *reply.steps)}
    named = (*(before.outputs or ()), *(reply.outputs or ()))
    return replace(reply, outputs=tuple(name for name in named if name in ids) or None)


def _left_out(reply: ReadReply, talk: Talk) -> set[str]:
    """Return faulty steps that are no longer wanted: every sound one was written again, they not.

    Models that are asked to mend a line often write the whole plan instead.
    """
    new = {step.id for step in reply.steps}
    sound = {step.id for step in talk.draft.steps} - talk.faulty
    if not new or not sound <= new:
        return set()
    needed = {name for step in reply.steps for name in step.depends_on}
    return set(talk.faulty - new - needed)


def _without(outputs: tuple[str, ...] | None, dropped: Collection[str]) -> tuple[str, ...] | None:
    if not outputs:
        return outputs
    return tuple(name for name in outputs if name not in dropped) or None


def _changes(reply: ReadReply) -> bool:
    return bool(reply.steps or reply.dropped or reply.outputs is not None)


def _no_plan(reply: ReadReply) -> str:
    said = f" It says: {reply.thought[:200]}" if reply.thought else ""
    return (
        f"The reply holds no line of a plan.{said} "
        'Write one call a line and nothing else: a = tool("text").'
    )


def _as_told(step: Step, talk: Talk) -> Step:
    """Return the step as it was told before where only its comment differs: it may be running."""
    told = talk.told.get(step.id)
    if told and replace(step, description=told.description) == told:
        return told
    return step


def _outputs(steps: tuple[Step, ...], named: tuple[str, ...] | None) -> tuple[str, ...]:
    return unused_steps(steps) if named is None else tuple(dict.fromkeys(named))


def _carried(
    view: TaskView, steps: tuple[Step, ...], outputs: tuple[str, ...] | None
) -> tuple[Step, ...]:
    """Return steps of earlier plans that go on with a new one without being written again.

    Those are finished ones that it names as outputs, and those that waited for a failed step
    which a new line replaces.
    """
    own = {step.id for step in steps}
    earlier = {step.id: step for plan in view.plans for step in plan.steps}
    finished = [earlier[name] for name in outputs or ()
                if name not in own and name in view.results and name in earlier]  # fmt: skip
    carried = {step.id: step for step in finished}
    waiting = [earlier[r.step] for r in _blocked(view) if r.step not in own]
    while ready := [s for s in waiting if _may_go_on(s, view, own | carried.keys())]:
        carried |= {step.id: step for step in ready}
        waiting = [step for step in waiting if step not in ready]
    return tuple(carried.values())


def _blocked(view: TaskView) -> list[StepRecord]:
    number = latest_complete(view.plans)
    return [record for record in view.records
            if record.epoch >= number and record.state == "blocked"]  # fmt: skip


def _may_go_on(step: Step, view: TaskView, there: set[str]) -> bool:
    return all(name in there or name in view.results for name in step.depends_on)
