"""What is asked at a terminal: approvals and plans."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import nullcontext

import pytest

from planloom.apps.approvals import TerminalApprover, policy_of
from planloom.apps.plan_display import TerminalReview
from planloom.engine.approval import ApprovalRequest, Decision
from planloom.engine.plan import Plan
from planloom.engine.protocols import TaskView
from planloom.errors import ConfigError
from planloom.planning.plan_lines import parse_lines
from planloom.tools.builtin import builtin_registry

REQUEST = ApprovalRequest(
    key="r/1.mail", tool="send_email", effect="send", description="Tell them",
    arguments={"to": "a@b.c\x1b[31m"},
)  # fmt: skip


def _reader(*lines: str) -> Callable[[], str]:
    source: Iterator[str] = iter(lines)
    return lambda: next(source, "")


@pytest.mark.parametrize(("said", "approved"), [("y\n", True), ("\n", False), ("no\n", False)])
def test_an_approval_is_a_clear_yes(
    said: str, *, approved: bool, capsys: pytest.CaptureFixture[str]
):
    approver = TerminalApprover(lang="en", hold=nullcontext, read=_reader(said))
    assert asyncio.run(approver.ask(REQUEST)) == Decision(approved=approved, by="terminal")
    shown = capsys.readouterr().err
    assert "send_email" in shown
    assert "\x1b" not in shown


def test_the_end_of_the_input_is_no_answer():
    approver = TerminalApprover(lang="zh", hold=nullcontext, read=_reader())
    assert asyncio.run(approver.ask(REQUEST)) is None


def test_allowed_effects_become_rules():
    policy = policy_of(["send"], everything=False)
    assert (policy.rule("x", "send"), policy.rule("x", "exec")) == ("allow", "ask")
    assert policy_of([], everything=True).rule("x", "exec") == "allow"
    with pytest.raises(ConfigError, match="--allow mail"):
        policy_of(["mail"], everything=False)


# -- plans

PLAN = parse_lines('a = read_file("a.txt")\n', {"read_file": ("path",)})


def _view(problems: tuple[str, ...] = ()) -> TaskView:
    return TaskView(
        run="r", goal="g", epoch=1, plans=(), records=(), results={}, value=lambda _: None,
        problems=problems,
    )  # fmt: skip


def _review(read: Callable[[], str], edit: Callable[[str], str], view: TaskView) -> Plan | None:
    review = TerminalReview(
        lang="en", registry=builtin_registry(), hold=nullcontext, read=read, edit=edit
    )
    return asyncio.run(review(PLAN, view))


def test_a_plan_is_shown_and_approved_as_it_is(capsys: pytest.CaptureFixture[str]):
    assert _review(_reader("y\n"), str, _view()) is PLAN
    assert 'a = read_file("a.txt")' in capsys.readouterr().err


@pytest.mark.parametrize("answer", ["n\n", "\n", ""])
def test_anything_else_declines_a_plan(answer: str):
    assert _review(_reader(answer), str, _view()) is None


def test_an_edited_plan_is_shown_again_before_it_is_approved():
    edited = _review(_reader("e\n", "y\n"), lambda text: text.replace("a.txt", "b.txt"), _view())
    assert edited is not None
    assert edited.step("a").input == {"path": "b.txt"}


def test_a_plan_that_cannot_be_read_has_to_be_edited_again(capsys: pytest.CaptureFixture[str]):
    texts = iter(["this is no call", 'a = read_file("c.txt")'])
    edited = _review(_reader("e\n", "e\n", "y\n"), lambda _text: next(texts), _view())
    assert edited is not None
    assert edited.step("a").input == {"path": "c.txt"}
    assert "! " in capsys.readouterr().err


def test_a_typo_is_asked_again():
    approver = TerminalApprover(lang="en", hold=nullcontext, read=_reader("maybe\n", "y\n"))
    assert asyncio.run(approver.ask(REQUEST)) == Decision(approved=True, by="terminal")
    assert _review(_reader("maybe\n", "y\n"), str, _view()) is PLAN


def test_a_plan_that_came_back_unchanged_is_said(capsys: pytest.CaptureFixture[str]):
    assert _review(_reader("e\n", "y\n"), str, _view()) is PLAN
    assert "not changed" in capsys.readouterr().err


def test_a_plan_with_problems_cannot_be_approved_as_it_is():
    assert _review(_reader("y\n", "n\n"), str, _view(("Tool 'x' is unknown.",))) is None
