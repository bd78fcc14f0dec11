"""The engine's loop: order, parallel steps, resuming, and random graphs."""

from __future__ import annotations

import json

from engine_doubles import FakeSteps, Run, World, diamond, plan, seeded, started, step, world
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planloom.engine.execution import RunOptions
from planloom.engine.plan import Plan, Step
from planloom.engine.protocols import StepCall, StepOutcome
from planloom.engine.task import OPEN_STATES, StepResult


def test_ready_steps_run_at_once_and_join_after_both(run_virtually: Run):
    w = world(diamond(), steps=FakeSteps(seconds={"left": 3, "right": 2}))
    task = run_virtually(w.run())
    assert task.status == "succeeded"
    assert started(task.records, "left") == started(task.records, "right")
    assert w.steps.calls == ["r1/1.load", "r1/1.left", "r1/1.right", "r1/1.join"]
    assert task.ended_order == ["r1/1.load", "r1/1.right", "r1/1.left", "r1/1.join"]
    assert task.record("join").ended == "2026-11-30T00:00:05.000Z"
    assert task.outputs["join"].value == {"step": "join", "from": ["left", "right"]}


def test_events_are_written_in_order_and_intent_before_the_work(run_virtually: Run):
    w = world(plan(step("a"), step("b", "a")))
    seen: list[list[str]] = []
    original = w.steps.run

    async def run(call: StepCall, /) -> StepOutcome:
        seen.append(w.story()[-1:])
        return await original(call)

    w.steps.run = run  # type: ignore[method-assign]
    run_virtually(w.run())
    assert seen == [["a running"], ["b running"]]
    assert w.story() == [
        "run_started", "plan", "a running", "a succeeded", "b running", "b succeeded", "run_ended",
    ]  # fmt: skip
    assert [event.time for event in w.events] == sorted(event.time for event in w.events)


def test_no_more_steps_run_at_once_than_allowed(run_virtually: Run):
    steps = tuple(step(f"s{n}") for n in range(6))
    w = world(plan(*steps), options=RunOptions(max_parallel=2))
    task = run_virtually(w.run())
    assert [task.record(f"s{n}").started[17:19] for n in range(6)] == [
        "00", "00", "01", "01", "02", "02",
    ]  # fmt: skip


def test_two_steps_with_one_tool_keep_their_own_arguments(run_virtually: Run):
    # uipath-langchain-python#452: both calls got the first set of arguments.
    steps = FakeSteps()
    got: dict[str, object] = {}

    async def run(call: StepCall, /) -> StepOutcome:
        got[call.key] = call.step.input["q"]
        return StepOutcome(result=StepResult(tool="pure", value=call.step.input["q"]))

    steps.run = run  # type: ignore[method-assign]
    w = world(
        plan(
            Step(id="x", tool="read_search", input={"q": "x"}),
            Step(id="y", tool="read_search", input={"q": "y"}),
        ),
        steps=steps,
    )
    task = run_virtually(w.run())
    assert got == {"r1/1.x": "x", "r1/1.y": "y"}
    assert {name: result.value for name, result in task.outputs.items()} == {"x": "x", "y": "y"}


@st.composite
def worlds(draw: st.DrawFn, most: int = 200) -> tuple[Plan, FakeSteps, int]:
    """A random DAG of up to 200 steps, with random durations (many ties) and failures."""
    chance = seeded(draw(st.integers(0, 2**32)))
    count = draw(st.integers(1, most))
    steps: list[Step] = []
    for n in range(count):
        before = [s.id for s in steps[-12:]]
        needs = chance.sample(before, min(len(before), chance.choice([0, 1, 1, 2, 3])))
        policy = chance.choice(["replan", "replan", "replan", "skip"])
        steps.append(step(f"s{n}", *needs, on_failure=policy))
    chance.shuffle(steps)
    script: dict[str, list[object]] = {
        s.id: ["x"] * chance.choice([1, 3]) for s in steps if chance.random() < 0.1
    }
    seconds = {s.id: chance.choice([0, 1, 1, 2, 3.5]) for s in steps}
    return plan(*steps), FakeSteps(seconds=seconds, script=script), chance.randint(1, 9)


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(worlds())
def test_random_graphs_end_with_every_step_in_a_final_state(
    run_virtually: Run, made: tuple[Plan, FakeSteps, int]
):
    the_plan, steps, parallel = made
    script = {name: list(texts) for name, texts in steps.script.items()}
    runs: list[World] = []
    for _ in range(2):
        fresh = FakeSteps(seconds=steps.seconds, script={n: list(t) for n, t in script.items()})
        w = world(the_plan, steps=fresh, options=RunOptions(max_parallel=parallel))
        w.save = lambda task: None  # type: ignore[method-assign]
        run_virtually(w.run())
        runs.append(w)
    first, second = runs
    assert first.story() == second.story()
    assert first.task.to_json() == second.task.to_json()
    _check_order(first, the_plan)


def _check_order(w: World, the_plan: Plan) -> None:
    states = w.states()
    assert not OPEN_STATES & set(states.values())
    assert len(w.task.ended_order) == len(set(w.task.ended_order)) == len(the_plan.steps)
    done: set[str] = set()
    for event in w.events:
        if event.kind != "step_state":
            continue
        name, state = str(event.data["step"]), event.data["state"]
        if state == "running":
            needs = the_plan.step(name).depends_on
            assert all(need in done for need in needs)
        if state == "succeeded":
            done.add(name)
    for name, state in states.items():
        needed = {states[need] for need in the_plan.step(name).depends_on}
        if state == "succeeded":
            assert needed <= {"succeeded"}
        if state == "blocked":
            assert needed & {"failed", "blocked"}
    json.dumps(w.task.to_json())
