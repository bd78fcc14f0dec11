"""The in-memory runtime: which end comes first, and what cancelling leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine

import pytest

from planloom.engine.json_value import JsonObject
from planloom.engine.runtime import InMemoryRuntime

Run = Callable[[Coroutine[object, object, object]], object]


async def sleep_for(argument: JsonObject) -> JsonObject:
    await asyncio.sleep(float(argument["s"]))  # type: ignore[arg-type]
    return {"slept": argument["s"]}


async def fail(argument: JsonObject) -> JsonObject:
    raise ValueError("boom")


def test_ends_come_in_order_of_time_then_key(run_virtually: Run):
    async def order() -> list[str]:
        runtime = InMemoryRuntime()
        seconds = {"d": 2, "c": 1, "b": 1, "a": 3, "e": 1}
        handles = [await runtime.start(key, sleep_for, {"s": s}) for key, s in seconds.items()]
        await asyncio.sleep(10)
        ends: list[str] = []
        while handles:
            first = await runtime.wait_first(handles)
            handles.remove(first)
            ends.append(first.key)
        return ends

    assert run_virtually(order()) == ["b", "c", "e", "d", "a"]


def test_result_gives_or_raises_what_the_work_did(run_virtually: Run):
    async def work() -> None:
        runtime = InMemoryRuntime()
        good = await runtime.start("good", sleep_for, {"s": 1})
        bad = await runtime.start("bad", fail, {})
        assert (await runtime.wait_first([good, bad])).key == "bad"
        with pytest.raises(ValueError, match="boom"):
            await runtime.result(bad)
        await runtime.wait_first([good])
        assert await runtime.result(good) == {"slept": 1}

    run_virtually(work())


def test_cancel_tells_what_had_ended(run_virtually: Run):
    async def work() -> list[str]:
        runtime = InMemoryRuntime()
        handles = [await runtime.start(str(s), sleep_for, {"s": s}) for s in (1, 100)]
        await asyncio.sleep(2)
        return [handle.key for handle in await runtime.cancel(handles)]

    assert run_virtually(work()) == ["1"]


def test_recorded_values_have_been_through_json(run_virtually: Run):
    async def work() -> JsonObject:
        async def give() -> JsonObject:
            return {"pair": (1, 2)}

        return await InMemoryRuntime().record("x", give)

    # A replay would give a list: the first time must, too.
    assert run_virtually(work()) == {"pair": [1, 2]}


def test_work_that_cancels_itself_does_not_look_like_a_cancelled_run(run_virtually: Run):
    async def cancel_self(argument: JsonObject) -> JsonObject:
        raise asyncio.CancelledError

    async def work() -> None:
        runtime = InMemoryRuntime()
        handle = await runtime.start("x", cancel_self, {})
        with pytest.raises(RuntimeError, match="'x' cancelled itself"):
            await runtime.result(await runtime.wait_first([handle]))

    run_virtually(work())
