"""The JSON spelling of a plan, for models that are held to a schema.

    {"thought": "...", "plan": [
        {"step": "load", "action": "Read it", "tool": "read_csv_file", "input": {"path": "a.csv"}}
    ]}

Each item may also have `depends_on` and `on_failure`, and the whole `outputs`.
Steps that are only numbered get the ids step_1, step_2, ...
"""

from __future__ import annotations

import json

from planloom.engine.json_value import JsonReader, JsonValue
from planloom.engine.plan import Plan, Step, on_failure_of, unused_steps
from planloom.errors import PlanError


def parse_plan_json(text: str) -> Plan:
    """Return the plan that a JSON text spells.

    Raises:
        PlanError: it is not JSON or not a plan; the message names the item and the field.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PlanError(
            f'The plan is not JSON: {error}. Write {{"thought": "...", "plan": [...]}} only.'
        ) from error
    return plan_from_json(value)


def plan_from_json(value: object) -> Plan:
    """Return the plan that a JSON object spells; errors as for `parse_plan_json`."""
    try:
        fields = JsonReader(value, "the plan")
        if not fields.has("plan"):
            raise PlanError('The plan has no list "plan". Put the steps there.')
        items = enumerate(fields.items("plan"), start=1)
        steps = tuple(_step(item, number) for number, item in items)
        outputs = _ids(fields, "outputs") if fields.has("outputs") else unused_steps(steps)
        return Plan(thought=fields.text("thought", ""), steps=steps, outputs=outputs)
    except ValueError as error:
        raise PlanError(f"The plan cannot be read: {error}.") from error


def plan_to_json(plan: Plan) -> dict[str, JsonValue]:
    """Return a plan in the JSON spelling."""
    spelled: dict[str, JsonValue] = {
        "thought": plan.thought,
        "plan": [_step_to_json(step) for step in plan.steps],
    }
    if plan.outputs != unused_steps(plan.steps):
        spelled["outputs"] = plan.outputs
    return spelled


def _step(item: object, number: int) -> Step:
    fields = JsonReader(item, f"item {number} of the plan")
    return Step(
        id=_id(fields.value("step")) if fields.has("step") else f"step_{number}",
        tool=fields.text("tool"),
        input=fields.mapping("input"),
        description=fields.text("action", ""),
        depends_on=_ids(fields, "depends_on"),
        on_failure=on_failure_of(fields.text("on_failure", "replan")),
    )


def _ids(fields: JsonReader, name: str) -> tuple[str, ...]:
    values = fields.value(name)
    items = [values] if isinstance(values, str | int) else fields.items(name)
    return tuple(_id(item) for item in items)


def _id(value: object) -> str:
    """Return the id that a model meant: 2 and "2" are step_2, "$load" is load."""
    text = str(value) if isinstance(value, str | int) else repr(value)
    text = text.removeprefix("$")
    return f"step_{text}" if text.isascii() and text.isdigit() else text


def _step_to_json(step: Step) -> dict[str, JsonValue]:
    spelled: dict[str, JsonValue] = {
        "step": step.id,
        "action": step.description,
        "tool": step.tool,
        "input": step.input,
    }
    if step.waits_for:
        spelled["depends_on"] = step.waits_for
    if step.on_failure != "replan":
        spelled["on_failure"] = step.on_failure
    return spelled
