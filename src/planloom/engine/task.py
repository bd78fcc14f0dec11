"""A task: one goal being executed, with the record of every step and a verdict made from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from planloom.engine.json_value import JsonReader, JsonValue, one_of
from planloom.engine.plan import Plan, Step

SCHEMA = 1

StepState = Literal[
    "pending", "running", "waiting_approval", "succeeded", "failed", "skipped", "blocked",
    "cancelled", "unknown", "compensated",
]  # fmt: skip
RunStatus = Literal[
    "queued", "running", "waiting", "paused", "succeeded", "partial", "failed", "cancelled",
    "rolled_back",
]  # fmt: skip
StopKind = Literal[
    "cancelled", "time_limit", "planning", "step", "rollback", "epochs", "crash", "budget", "model",
    "declined", "plan_only", "unapproved",
]  # fmt: skip

_KEEPS_WHAT_WAS_MADE: frozenset[StopKind] = frozenset(
    {"budget", "time_limit", "epochs", "model", "planning"}
)
"""Stops after which what finished steps made counts, also where no output was reached."""

_MAY_STILL_ROLL_BACK: frozenset[StopKind] = frozenset({"step", "budget", "model", "planning"})
"""Stops after which steps that run may end, and fail."""

OPEN_STATES: frozenset[StepState] = frozenset({"pending", "running", "waiting_approval"})
"""A step in any other state is not touched again."""


@dataclass(frozen=True, kw_only=True)
class StepResult:
    """What a step gave, as it is recorded."""

    tool: str
    """The tool that gave it; its result type says how to read the value."""
    value: JsonValue = None
    """The encoded value; None when `artifact` holds it."""
    artifact: str = ""
    """Id of the artifact that holds the encoded value because it is large; else ""."""
    artifacts: tuple[str, ...] = ()
    """Ids of the artifacts that the step made: its tables, pictures, files, texts."""

    def to_json(self) -> dict[str, JsonValue]:
        """Return the result as a JSON object."""
        return {
            "tool": self.tool,
            "value": self.value,
            "artifact": self.artifact,
            "artifacts": self.artifacts,
        }

    @classmethod
    def from_json(cls, value: object) -> StepResult:
        """Return the result that `to_json` wrote; ValueError when it is none."""
        fields = JsonReader(value, "the result of a step")
        return cls(
            tool=fields.text("tool"),
            value=fields.value("value"),
            artifact=fields.text("artifact", ""),
            artifacts=fields.texts("artifacts"),
        )


@dataclass(frozen=True, kw_only=True)
class StepRecord:
    """What is known of one step of one epoch; JSON-safe, so a task can be rebuilt from records."""

    key: str
    """`run/epoch.step`."""
    epoch: int
    """Number of the plan that holds the step, from 1."""
    step: str
    tool: str
    state: StepState = "pending"
    attempts: int = 0
    """How often the tool was called."""
    started: str = ""
    """RFC 3339, UTC; "" before the start."""
    ended: str = ""
    """RFC 3339, UTC; "" before the end."""
    error: str = ""
    """Why it did not succeed; "" otherwise."""
    error_kind: str = ""
    """As in `ToolResult`; "" where no tool failed."""
    asks: str = ""
    """What a person is to approve and how, in words for the user; "" where nobody has to."""
    result: StepResult | None = None
    """Of a step that succeeded."""
    taken_over: bool = False
    """Whether an earlier epoch did the very same call, and this one only repeats it."""

    def to_json(self) -> dict[str, JsonValue]:
        """Return the record as a JSON object."""
        return {
            "key": self.key,
            "epoch": self.epoch,
            "step": self.step,
            "tool": self.tool,
            "state": self.state,
            "attempts": self.attempts,
            "started": self.started,
            "ended": self.ended,
            "error": self.error,
            "error_kind": self.error_kind,
            "asks": self.asks,
            "result": self.result.to_json() if self.result else None,
            "taken_over": self.taken_over,
        }

    @classmethod
    def from_json(cls, value: object) -> StepRecord:
        """Return the record that `to_json` wrote; ValueError when it is none."""
        fields = JsonReader(value, "the record of a step")
        result = fields.part("result")
        return cls(
            key=fields.text("key"),
            epoch=fields.integer("epoch"),
            step=fields.text("step"),
            tool=fields.text("tool"),
            state=one_of(fields.text("state"), get_args(StepState), "a state of a step"),
            attempts=fields.integer("attempts", 0),
            started=fields.text("started", ""),
            ended=fields.text("ended", ""),
            error=fields.text("error", ""),
            error_kind=fields.text("error_kind", ""),
            asks=fields.text("asks", ""),
            result=None if result is None else StepResult.from_json(result),
            taken_over=fields.value("taken_over") is True,
        )


@dataclass(frozen=True, kw_only=True)
class Stop:
    """Why a run ended before its planner was done."""

    kind: StopKind
    why: str
    """In words, for the user; lists what the planner was told when planning failed."""


@dataclass(frozen=True, kw_only=True)
class Missing:
    """Something that the run was to make and did not."""

    step: str
    """Id of the step; "" for what never became a step."""
    state: str
    """Its state, or the kind of the stop."""
    why: str


@dataclass(kw_only=True)
class Task:
    """One goal being executed. Changed only by the engine, through its methods."""

    id: str
    """Of the run; its folder is `runs/<id>/`."""
    goal: str
    status: RunStatus = "queued"
    plans: list[Plan] = field(default_factory=list[Plan])
    """The plans that were run; the first is epoch 1. Accepted, or the part of one that was started
    while it was written."""
    records: dict[str, StepRecord] = field(default_factory=dict[str, StepRecord])
    """By key, in the order of epochs and plans."""
    ended_order: list[str] = field(default_factory=list[str])
    """Keys of the ended steps in the order in which their ends were recorded."""
    stop: Stop | None = None
    started: str = ""
    """RFC 3339, UTC."""
    ended: str = ""
    """RFC 3339, UTC."""

    @property
    def epoch(self) -> int:
        """Number of the latest plan; 0 before there is one."""
        return len(self.plans)

    def key(self, step_id: str, epoch: int | None = None) -> str:
        """Return the key of a step of an epoch, by default the latest: `run/epoch.step`."""
        return f"{self.id}/{epoch or self.epoch}.{step_id}"

    def record(self, step_id: str, epoch: int | None = None) -> StepRecord:
        """Return the record of a step of an epoch, by default the latest; else KeyError."""
        return self.records[self.key(step_id, epoch)]

    def epoch_records(self) -> tuple[StepRecord, ...]:
        """Return the records of the latest epoch, in the order of its plan."""
        return tuple(r for r in self.records.values() if r.epoch == self.epoch)

    def open_steps(self) -> tuple[Step, ...]:
        """Return the steps of the latest plan that have not ended, in the order of the plan."""
        steps = self.plans[-1].steps if self.plans else ()
        return tuple(step for step in steps if self.record(step.id).state in OPEN_STATES)

    def source_of(self, step_id: str, epoch: int | None = None) -> StepRecord | None:
        """Return the record that a reference in a plan means, by default in the latest.

        That is the step of the same plan, else the latest of an earlier plan that succeeded.
        """
        epoch = epoch or self.epoch
        if own := self.records.get(self.key(step_id, epoch)):
            return own
        earlier = (self.records.get(self.key(step_id, n)) for n in range(epoch - 1, 0, -1))
        return next((r for r in earlier if r and r.state == "succeeded"), None)

    def results(self) -> dict[str, StepResult]:
        """Return the results that a next plan may refer to, by step id, the latest of each."""
        return {
            record.step: record.result
            for record in self.records.values()
            if record.state == "succeeded" and record.result
        }

    def has_finished(self, plan: Plan) -> bool:
        """Return whether a plan is the latest one again, and that one made all it was to make."""
        number = latest_complete(self.plans)
        # Giving up a part of what is done says something new.
        if not number or not plan.outputs or self.missing or plan.given_up:
            return False
        latest = self.plans[number - 1]
        states = {self.record(step.id, number).state for step in latest.steps}
        return (plan.steps, plan.outputs) == (latest.steps, latest.outputs) and states == {
            "succeeded"
        }

    def add_plan(self, plan: Plan) -> None:
        """Begin the next epoch; steps that an earlier one already did count as done."""
        self.plans.append(Plan())
        self.extend_plan(plan)

    def extend_plan(self, plan: Plan) -> None:
        """Put a plan with more steps in place of the latest; it holds the steps of that unchanged.

        New steps that an earlier epoch already did count as done.
        """
        known = {record.step: record for record in self.epoch_records()}
        self.plans[-1] = plan
        repeated = self._repeated(plan, known)
        for step in plan.steps:
            key = self.key(step.id)
            new = StepRecord(key=key, epoch=self.epoch, step=step.id, tool=step.tool)
            if before := repeated.get(step.id):
                new = replace(before, key=key, epoch=self.epoch, taken_over=True)
                self.ended_order.append(key)
            # Taken out and put in again: the records are in the order of the plan.
            self.records.pop(key, None)
            self.records[key] = known.get(step.id, new)

    def update_step(self, record: StepRecord) -> None:
        """Put a new record in place of that of the same key."""
        was = self.records[record.key]
        self.records[record.key] = record
        ended, ends = was.state not in OPEN_STATES, record.state not in OPEN_STATES
        if ends and not ended:
            self.ended_order.append(record.key)

    @property
    def outputs(self) -> dict[str, StepResult]:
        """The deliverables that were made, by step id."""
        wanted = ((epoch, name) for epoch, plan in enumerate(self.plans, 1)
                  for name in plan.outputs)  # fmt: skip
        records = ((name, self.records.get(self.key(name, epoch))) for epoch, name in wanted)
        return {
            name: record.result
            for name, record in records
            if record and record.state == "succeeded" and record.result
        }

    @property
    def kept(self) -> tuple[StepRecord, ...]:
        """What finished steps made that is no output, where a limit or the planner ended the run.

        What a plan read that only prepared another one counts where it left artifacts, such as a
        cleaned table, and not at all where no plan could be had.
        """
        if self.stop is None or self.stop.kind not in _KEEPS_WHAT_WAS_MADE:
            return ()
        made = (r for r in self.records.values() if r.state == "succeeded" and not r.taken_over)
        return tuple(record for record in made if self._is_kept(record, self.stop.kind))

    @property
    def missing(self) -> tuple[Missing, ...]:
        """What the latest plan was to make and did not, and why; each failure once."""
        if not self.plans:
            return self._missing_by_stop()
        # What was started for a plan that never came whole adds its failures, and wants nothing.
        epoch = latest_complete(self.plans) or self.epoch
        wanted = self.plans[epoch - 1]
        lacking = [
            Missing(step=record.step, state=record.state, why=record.asks or record.error)
            for record in self.records.values()
            if record.epoch >= epoch and self._is_lacking(record, wanted, epoch)
        ]
        given_up = [
            Missing(step=step, state="failed", why=why) for step, why in wanted.given_up.items()
        ]
        return (*given_up, *lacking, *self._missing_by_stop())

    def verdict(self) -> RunStatus:
        """Return how the run stands, from the states of its steps alone."""
        states = {record.state for record in self.epoch_records()}
        if self.stop and self.stop.kind in {"cancelled", "declined"}:
            return "cancelled"
        if self.stop and self.stop.kind == "rollback":
            return "rolled_back"
        if self.stop and self.stop.kind == "unapproved":
            return "waiting"
        if "waiting_approval" in states and not self.stop:
            return "waiting"
        if not self.missing:
            return "succeeded"
        return "partial" if self.outputs or self.kept else "failed"

    def to_json(self) -> dict[str, JsonValue]:
        """Return the task as a JSON object with its schema."""
        return {
            "schema": SCHEMA,
            "id": self.id,
            "goal": self.goal,
            "status": self.status,
            "started": self.started,
            "ended": self.ended,
            "stop": {"kind": self.stop.kind, "why": self.stop.why} if self.stop else None,
            "missing": [{"step": m.step, "state": m.state, "why": m.why} for m in self.missing],
            "plans": [plan.to_json() for plan in self.plans],
            "records": [record.to_json() for record in self.records.values()],
            "ended_order": self.ended_order,
        }

    @classmethod
    def from_json(cls, value: object) -> Task:
        """Return the task that `to_json` wrote.

        Raises:
            ValueError: it is none, or a newer Planloom wrote it.
        """
        fields = JsonReader(value, "the task")
        if fields.integer("schema") > SCHEMA:
            raise ValueError(
                f"the task has schema {fields.integer('schema')}, this Planloom reads up to "
                f"{SCHEMA}; update Planloom to read it"
            )
        records = [StepRecord.from_json(item) for item in fields.items("records")]
        return cls(
            id=fields.text("id"),
            goal=fields.text("goal"),
            status=one_of(fields.text("status"), get_args(RunStatus), "a status of a run"),
            plans=[Plan.from_json(item) for item in fields.items("plans")],
            records={record.key: record for record in records},
            ended_order=list(fields.texts("ended_order")),
            stop=_stop(fields.mapping("stop")) if fields.has("stop") else None,
            started=fields.text("started", ""),
            ended=fields.text("ended", ""),
        )

    def _repeated(self, plan: Plan, known: Mapping[str, StepRecord]) -> dict[str, StepRecord]:
        """Return the records of what new steps would only do again, by step.

        Planners repeat steps that are done: a mail must not be sent twice for it.
        """
        earlier = {r.step: r for r in self.records.values()
                   if r.state == "succeeded" and r.epoch < self.epoch}  # fmt: skip
        # A step that is done anew may give something else, and so may all that depend on it.
        anew = {step.id for step in plan.steps} - {r.step for r in known.values() if r.taken_over}
        left = [s for s in plan.steps if s.id in earlier and s.id not in known]
        found: dict[str, StepRecord] = {}
        # A step may be written before one that it needs.
        while same := [s for s in left if self._is_same_call(s, earlier[s.id], anew)]:
            found |= {step.id: earlier[step.id] for step in same}
            anew -= found.keys()
            left = [step for step in left if step.id not in found]
        return found

    def _is_same_call(self, step: Step, before: StepRecord, anew: Set[str]) -> bool:
        """Whether a new step would only repeat an old one: same call, same inputs."""
        old = self.plans[before.epoch - 1].step(step.id)
        if (old.tool, old.input) != (step.tool, step.input) or anew & set(step.depends_on):
            return False
        return all(
            self._result_of(name, self.epoch) == self._result_of(name, before.epoch)
            for name in step.references
        )

    def _result_of(self, step_id: str, epoch: int) -> StepResult | None:
        source = self.source_of(step_id, epoch)
        return source.result if source else None

    def _is_lacking(self, record: StepRecord, wanted: Plan, epoch: int) -> bool:
        is_output = record.epoch == epoch and record.step in wanted.outputs
        lacks = record.state in {"failed", "unknown", "waiting_approval"}
        return lacks or (is_output and record.state != "succeeded")

    def _is_kept(self, record: StepRecord, stop: StopKind) -> bool:
        plan = self.plans[record.epoch - 1]
        if record.result is None or record.step in plan.outputs:
            return False
        is_preparation = plan.complete and not plan.outputs
        has_artifacts = bool(record.result.artifacts or record.result.artifact)
        return (has_artifacts and stop not in {"model", "planning"}) if is_preparation else True

    def _missing_by_stop(self) -> tuple[Missing, ...]:
        # A failed step is listed itself; a run that was to make a plan alone has made it.
        if self.stop is None or self.stop.kind in {"step", "plan_only"}:
            return ()
        return (Missing(step="", state=self.stop.kind, why=self.stop.why),)


def weightier(first: Stop | None, later: Stop) -> Stop:
    """Return the stop that stands: the first, unless the later one asks for more.

    A rollback undoes more than a failed step does. A cancellation or a bug ends the run at once,
    so that no rollback can follow, and the record must not say that one did.
    """
    if first is None or (later.kind == "rollback" and first.kind in _MAY_STILL_ROLL_BACK):
        return later
    if later.kind in {"cancelled", "crash"} and first.kind != later.kind:
        undone = " The rollback was not finished." if first.kind == "rollback" else ""
        return Stop(kind=later.kind, why=f"{later.why}{undone} Before: {first.why}")
    return first


def latest_complete(plans: Sequence[Plan]) -> int:
    """Return the number of the latest plan that came whole, from 1; 0 when none did."""
    return next((n for n in range(len(plans), 0, -1) if plans[n - 1].complete), 0)


def _stop(value: Mapping[str, JsonValue]) -> Stop:
    fields = JsonReader(value, "the stop of a task")
    kind: StopKind = one_of(fields.text("kind"), get_args(StopKind), "a kind of stop")
    return Stop(kind=kind, why=fields.text("why"))
