"""The plan of a task: steps that call tools, and which of them are the deliverables."""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, cast, get_args

from planloom.engine.json_value import JsonObject, JsonReader, JsonValue, json_copy, one_of
from planloom.engine.references import references_in
from planloom.errors import PlanError

SCHEMA = 1

OnFailure = Literal["replan", "skip", "ask", "rollback", "fail"]
ON_FAILURE: tuple[OnFailure, ...] = get_args(OnFailure)

# Words that plan lines read as something other than a step.
RESERVED_IDS = frozenset({"output", "true", "false", "null"})


@dataclass(frozen=True, kw_only=True)
class Step:
    """One node of a plan: a call of a tool.

    Raises:
        PlanError: the id is not a name, or the input cannot be written as JSON.
    """

    id: str
    """A name that is unique in its plan, such as "trend"."""
    tool: str
    input: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    """The tool's arguments; `$step` in a string refers to another step's result."""
    description: str = ""
    """What the step is for, for people."""
    depends_on: tuple[str, ...] = ()
    """Steps that must have succeeded first; those that the input refers to are added."""
    on_failure: OnFailure = "replan"
    """What happens when it has failed for good:
    replan: the planner is asked, once nothing else can run;
    skip: the run does without it, and without the steps that use its result;
    ask: a person may order another try, else as replan;
    rollback: nothing more is started and effects are undone;
    fail: nothing more is started."""

    def __post_init__(self) -> None:
        """Check the id and input, and complete `depends_on`."""
        if problem := id_problem(self.id):
            raise PlanError(problem)
        try:
            copied = cast("JsonObject", json_copy(self.input))
        except ValueError as error:
            raise PlanError(f"The input of step '{self.id}' is not JSON: {error}.") from error
        needs = (*self.depends_on, *self.references)
        object.__setattr__(self, "input", copied)
        object.__setattr__(self, "depends_on", tuple(dict.fromkeys(needs)))

    @cached_property
    def references(self) -> tuple[str, ...]:
        """The steps whose results the input uses, each once."""
        return tuple(dict.fromkeys(reference.step for reference in references_in(self.input)))

    @property
    def waits_for(self) -> tuple[str, ...]:
        """The steps that it follows without using their results."""
        used = self.references
        return tuple(step for step in self.depends_on if step not in used)

    def to_json(self) -> dict[str, JsonValue]:
        """Return the step as a JSON object."""
        return {
            "id": self.id,
            "tool": self.tool,
            "input": self.input,
            "description": self.description,
            "depends_on": self.depends_on,
            "on_failure": self.on_failure,
        }

    @classmethod
    def from_json(cls, value: object) -> Step:
        """Return the step that `to_json` wrote.

        Raises:
            PlanError: it is not one.
        """
        try:
            fields = JsonReader(value, "the step")
            return cls(
                id=fields.text("id"),
                tool=fields.text("tool"),
                input=cast("JsonObject", fields.parts("input")),  # copied and checked above
                description=fields.text("description", ""),
                depends_on=fields.texts("depends_on"),
                on_failure=on_failure_of(fields.text("on_failure", "replan")),
            )
        except ValueError as error:
            raise PlanError(f"Not a step: {error}.") from error


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a planner wrote: its thought, the steps, and which of them are deliverables."""

    thought: str = ""
    steps: tuple[Step, ...] = ()
    """In the order written; a step may come before one that it depends on."""
    outputs: tuple[str, ...] = ()
    """Ids of the steps whose results the user gets; empty when the plan only prepares another."""
    given_up: Mapping[str, str] = field(default_factory=dict[str, str])
    """What this plan does without, though an earlier one wanted it: step id and why it failed.
    The run is then at best `partial`."""
    complete: bool = True
    """False for the steps of a plan that were started while the rest was still being written. It
    stays so where the whole plan was refused, or never came."""

    def step(self, step_id: str) -> Step:
        """Return the step of that id; KeyError when there is none."""
        for step in self.steps:
            if step.id == step_id:
                return step
        raise KeyError(step_id)

    def to_json(self) -> dict[str, JsonValue]:
        """Return the plan as a JSON object with its schema."""
        steps = [step.to_json() for step in self.steps]
        return {
            "schema": SCHEMA,
            "thought": self.thought,
            "steps": steps,
            "outputs": self.outputs,
            "given_up": self.given_up,
            "complete": self.complete,
        }

    @classmethod
    def from_json(cls, value: object) -> Plan:
        """Return the plan that `to_json` wrote.

        Raises:
            PlanError: it is not one, or a newer Planloom wrote it.
        """
        try:
            fields = JsonReader(value, "the plan")
            if fields.integer("schema") > SCHEMA:
                raise PlanError(
                    f"The plan has schema {fields.integer('schema')}; this Planloom reads up to "
                    f"{SCHEMA}. Update Planloom to read it."
                )
            return cls(
                thought=fields.text("thought", ""),
                steps=tuple(Step.from_json(step) for step in fields.items("steps")),
                outputs=fields.texts("outputs"),
                given_up={k: str(why) for k, why in fields.mapping("given_up").items()},
                complete=fields.value("complete") is not False,
            )
        except ValueError as error:
            raise PlanError(f"Not a plan: {error}.") from error


@dataclass(frozen=True, kw_only=True)
class PlanProblem:
    """One thing that the check of a plan found; a planner can act on it."""

    severity: Literal["error", "warning", "info"]
    """Only errors keep the plan from running."""
    step: str
    """Id of the step; "" for the plan as a whole."""
    argument: str
    """Name of the argument; "" for the step as a whole."""
    what: str
    """What is wrong, with the value; one sentence."""
    mend: str
    """What to do; one sentence."""

    def __str__(self) -> str:
        """Return the problem in one line, with what to do."""
        return f"{self.finding} {self.mend}".rstrip()

    @property
    def finding(self) -> str:
        """The problem in one line, for those who do not write the plan."""
        place = f"Step '{self.step}'" if self.step else "Plan"
        if self.argument:
            place += f", argument '{self.argument}'"
        return f"{place}: {self.what}"

    def to_json(self) -> dict[str, JsonValue]:
        """Return the problem as a JSON object."""
        return {
            "severity": self.severity,
            "step": self.step,
            "argument": self.argument,
            "what": self.what,
            "mend": self.mend,
        }


def unused_steps(steps: tuple[Step, ...]) -> tuple[str, ...]:
    """Return the steps that no other step depends on: the deliverables of a plan that names none.

    >>> unused_steps((Step(id="load", tool="t"), Step(id="sum", tool="t", input={"of": "$load"})))
    ('sum',)
    """
    used = {needed for step in steps for needed in step.depends_on if needed != step.id}
    return tuple(dict.fromkeys(step.id for step in steps if step.id not in used))


def id_problem(step_id: str) -> str:
    """Return what is wrong with an id and how to mend it, or "" when it is a good one."""
    normal = unicodedata.normalize("NFKC", step_id)
    if step_id.isidentifier() and not keyword.iskeyword(step_id) and normal == step_id:
        if step_id not in RESERVED_IDS:
            return ""
        return f"'{step_id}' is a word of the plan language. Call the step '{step_id}_step'."
    mended = re.sub(r"\W+", "_", normal).strip("_") or "step"
    if not mended.isidentifier() or keyword.iskeyword(mended):
        mended = f"step_{mended}"
    return (
        f"'{step_id}' cannot be the id of a step: ids are made of letters, digits and _, and do "
        f"not start with a digit. Call it '{mended}'."
    )


def on_failure_of(text: str) -> OnFailure:
    """Return the failure policy of that name; ValueError when there is none."""
    return one_of(text, ON_FAILURE, "an on_failure")
