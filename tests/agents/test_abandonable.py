"""A wait that is cancelled leaves its thread to itself, and the next question is asked."""

from __future__ import annotations

import asyncio
import threading

import pytest

from planloom.agents.abandonable import wait_abandonable
from planloom.agents.approvers import as_approver
from planloom.engine.approval import ApprovalRequest, Decision

REQUEST = ApprovalRequest(key="r/1.a", tool="mail", effect="send", description="", arguments={})


def test_a_question_that_was_abandoned_holds_up_neither_the_end_nor_the_next_one():
    typed, asked = threading.Event(), threading.Event()

    def asks(_request: ApprovalRequest) -> bool:
        if not asked.is_set():
            asked.set()
            typed.wait(20)
        return True

    approver = as_approver(asks)

    async def abandon() -> None:
        asking = asyncio.create_task(approver.ask(REQUEST))
        while not asked.is_set():  # noqa: ASYNC110 -- set by a thread, not by this loop
            await asyncio.sleep(0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

    asyncio.run(abandon())
    try:
        assert asyncio.run(approver.ask(REQUEST)) == Decision(approved=True)
        assert not typed.is_set()
    finally:
        typed.set()


def test_errors_come_through_also_one_that_a_future_refuses():
    with pytest.raises(ZeroDivisionError):
        asyncio.run(wait_abandonable(lambda: 1 // 0))
    with pytest.raises(RuntimeError, match="StopIteration"):
        asyncio.run(wait_abandonable(lambda: next(iter(()))))
