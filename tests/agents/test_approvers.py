"""Approvers of any shape: what they say holds, and what fails is never taken for a yes."""

from __future__ import annotations

import asyncio
import threading

import pytest

from planloom.agents.approvers import as_approver
from planloom.engine.approval import ApprovalRequest, Decision
from planloom.errors import ConfigError

REQUEST = ApprovalRequest(key="r/1.a", tool="mail", effect="send", description="", arguments={})


class Async:
    async def ask(self, request: ApprovalRequest) -> bool:
        return request.tool == "mail"


class Sync:
    def ask(self, request: ApprovalRequest) -> Decision:
        return Decision(approved=True, by=request.tool)


class Called:
    async def __call__(self, _request: ApprovalRequest) -> bool:
        return True


async def function(_request: ApprovalRequest) -> bool:
    return True


def said(approver: object) -> Decision | None:
    return asyncio.run(as_approver(approver).ask(REQUEST))


@pytest.mark.parametrize("approver", [Async(), Sync(), Called(), function, lambda _: True])
def test_every_shape_can_approve(approver: object):
    decision = said(approver)
    assert decision is not None
    assert decision.approved


def test_every_shape_can_deny_and_say_that_nobody_is_there():
    assert said(lambda _: False) == Decision(approved=False)
    assert said(lambda _: None) is None


@pytest.mark.parametrize("answer", ["yes", 1, object()])
def test_an_answer_of_another_type_is_a_denial_that_says_so(answer: object):
    decision = said(lambda _: answer)
    assert decision is not None
    assert not decision.approved
    assert decision.note.startswith("nobody could be asked: the approver returned")


def test_a_crash_is_a_denial_that_says_so():
    def broken(_request: ApprovalRequest) -> bool:
        raise ValueError("no terminal")

    decision = said(broken)
    assert decision is not None
    assert not decision.approved
    assert "nobody could be asked: the approver raised ValueError: no terminal" in decision.note


def test_functions_run_in_another_thread_one_at_a_time():
    threads: list[int] = []
    inside = threading.Semaphore(1)

    def asks(_request: ApprovalRequest) -> bool:
        assert inside.acquire(blocking=False)
        threads.append(threading.get_ident())
        inside.release()
        return True

    async def many() -> list[Decision | None]:
        approver = as_approver(asks)
        return await asyncio.gather(*(approver.ask(REQUEST) for _ in range(20)))

    assert all(decision and decision.approved for decision in asyncio.run(many()))
    assert threading.get_ident() not in threads


@pytest.mark.parametrize("approver", [5, "yes", Async, lambda: True, lambda a, b: True, object()])
def test_what_cannot_be_asked_is_refused(approver: object):
    with pytest.raises(ConfigError, match="cannot be asked"):
        as_approver(approver)
