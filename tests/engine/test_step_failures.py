"""What a failed step means: retries by effect, blocked dependants, skipping, bugs."""

from __future__ import annotations

import asyncio
import json
from datetime import datetime

import pytest
from engine_doubles import GOOD, FakeSteps, Run, plan, seeded, step, world

from planloom.engine.approval import ApprovalPolicy
from planloom.engine.execution import RunOptions
from planloom.engine.plan import Step
from planloom.engine.task import Task


def test_failed_step_blocks_its_dependants_and_others_go_on(run_virtually: Run):
    w = world(
        plan(step("a"), step("b", "a"), step("c", "b"), step("d"), step("e", "d")),
        steps=FakeSteps(script={"a": ["no such file"] * 9}),
    )
    task = run_virtually(w.run())
    assert w.states() == {
        "a": "failed", "b": "blocked", "c": "blocked", "d": "succeeded", "e": "succeeded",
    }  # fmt: skip
    assert task.record("c").error == "It needs 'a' (failed): no such file"
    assert task.status == "partial"
    assert [(m.step, m.state) for m in task.missing] == [("a", "failed"), ("c", "blocked")]


def test_run_ends_with_its_last_task_when_one_of_a_batch_failed():
    # crewAI#3871: the batch was done and the process never ended.
    async def run() -> tuple[float, Task]:
        steps = FakeSteps(script={"two": ["bad"]}, retries=0, seconds=dict.fromkeys("123", 0.01))
        w = world(plan(step("one"), step("two"), step("three")), steps=steps)
        steps.seconds = {"one": 0.01, "two": 0.01, "three": 0.01}
        begin = asyncio.get_running_loop().time()
        task = await w.run()
        return asyncio.get_running_loop().time() - begin, task

    seconds, task = asyncio.run(asyncio.wait_for(run(), 5))
    assert seconds < 1
    assert task.status == "partial"
    assert [m.step for m in task.missing] == ["two"]


def test_all_outputs_missing_is_failed(run_virtually: Run):
    w = world(plan(step("a"), step("b", "a")), steps=FakeSteps(script={"b": ["x"] * 3}))
    assert run_virtually(w.run()).status == "failed"


def test_reading_step_is_tried_again_with_growing_spread_pauses(run_virtually: Run):
    w = world(plan(step("a", tool="read")), steps=FakeSteps(script={"a": ["1", "2", GOOD]}))
    task = run_virtually(w.run())
    first = seeded(1)
    pauses = 0.5 * (0.5 + first.random() / 2) + 1.0 * (0.5 + first.random() / 2)
    assert task.record("a").attempts == 3
    ended = datetime.fromisoformat(task.record("a").ended)
    begun = datetime.fromisoformat(task.record("a").started)
    assert (ended - begun).total_seconds() == pytest.approx(3 + pauses, abs=0.002)
    assert w.steps.calls == ["r1/1.a"] * 3


@pytest.mark.parametrize(
    ("tool", "attempts"),
    [("pure", 3), ("read", 3), ("write", 1), ("send", 1), ("exec", 1), ("send_idempotent", 3)],
)
def test_retry_follows_the_effect(run_virtually: Run, tool: str, attempts: int):
    allow = ApprovalPolicy(
        effects=dict.fromkeys(["pure", "read", "write", "send", "exec"], "allow")
    )
    w = world(
        plan(step("a", tool=tool)),
        steps=FakeSteps(script={"a": ["x"] * 9}),
        options=RunOptions(policy=allow),
    )
    task = run_virtually(w.run())
    assert len(w.steps.calls) == attempts
    assert task.record("a").attempts == attempts


def test_skipped_step_takes_along_only_what_uses_it(run_virtually: Run):
    w = world(
        plan(
            step("a", on_failure="skip"),
            step("uses", "a"),
            Step(id="follows", tool="pure", depends_on=("a",)),
            outputs=("follows",),
        ),
        steps=FakeSteps(script={"a": ["x"] * 3}),
    )
    task = run_virtually(w.run())
    assert w.states() == {"a": "skipped", "uses": "skipped", "follows": "succeeded"}
    assert task.status == "succeeded"


def test_step_that_must_not_fail_stops_the_run(run_virtually: Run):
    w = world(
        plan(step("a", on_failure="fail"), step("slow"), step("later", "slow")),
        plan(step("never")),
        steps=FakeSteps(script={"a": ["disk full"]}, retries=0, seconds={"slow": 5}),
    )
    task = run_virtually(w.run())
    assert w.states() == {"a": "failed", "slow": "succeeded", "later": "cancelled"}
    assert task.status == "failed"
    assert len(w.planner.views) == 1


def test_unknown_tool_is_a_failed_step(run_virtually: Run):
    w = world(plan(step("a", tool="nonsense")))
    task = run_virtually(w.run())
    assert task.record("a").error_kind == "unknown_tool"
    assert task.status == "failed"


def test_bug_of_a_step_runner_is_raised_and_recorded(run_virtually: Run):
    w = world(
        plan(step("a"), step("b"), step("c", "a")),
        steps=FakeSteps(script={"a": [RuntimeError("boom")]}, seconds={"b": 9}),
    )
    with pytest.raises(RuntimeError, match="boom"):
        run_virtually(w.run())
    assert w.states() == {"a": "failed", "b": "cancelled", "c": "cancelled"}
    assert w.task.record("a").error == "RuntimeError: boom"
    assert w.task.status == "failed"
    assert w.story()[-1] == "run_ended"
    assert json.loads(w.saved[-1])["status"] == "failed"
