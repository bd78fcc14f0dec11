"""Why a run ends early, in words for its user."""

from __future__ import annotations

import json
from collections.abc import Sequence

from planloom.engine.approval import ApprovalRequest
from planloom.engine.artifacts import head_and_tail
from planloom.engine.task import Task
from planloom.notes import Note

_SHOWN_CHARS = 300


def cancelled() -> Note:
    """Return what is said when someone ended the run."""
    return Note("The run was cancelled.", "运行已取消。")


def cannot_go_on(error: str) -> Note:
    """Return what is said when the run's surroundings failed it, such as a full disk."""
    return Note(
        "The run could not go on: {error}", "运行无法继续：{error}", {"error": error}
    )  # fmt: skip


def bug(error: str) -> Note:
    """Return what is said of an error that nobody expected."""
    return Note(
        "A bug ended the run: {error}", "程序错误导致运行中止：{error}", {"error": error}
    )  # fmt: skip


def time_limit(seconds: float, *, planning: int | None) -> Note:
    """Return what is said of a run that took too long; `planning` is the plan being made."""
    limit = {"limit": f"{round(seconds, 2):.10g}"}
    if planning is None:
        return Note(
            "The run reached its time limit of {limit} s.", "运行已达到 {limit} 秒的时限。", limit
        )
    return Note(
        "The run reached its time limit of {limit} s while plan {plan} was made.",
        "制定第 {plan} 份计划时，运行达到 {limit} 秒的时限。",
        {**limit, "plan": planning},
    )


def step_failed(step: str, error: str) -> Note:
    """Return what is said where the failure of a step ends the run."""
    return Note(
        "Step '{step}' failed: {error}", "步骤“{step}”失败：{error}", {"step": step, "error": error}
    )


def too_many_plans(limit: int) -> Note:
    """Return what is said when a planner still wants more."""
    return Note(
        "The run reached its limit of {limit|plan|plans} before the planner was done.",
        "运行已达到 {limit} 份计划的上限，目标尚未全部完成。",
        {"limit": limit},
    )


def no_plan() -> Note:
    """Return what is said when a planner cannot do anything with the goal."""
    return Note(
        "The planner has no plan for this goal. Say the goal in other words.",
        "未能为该目标制定计划。请换一种方式描述目标。",
    )


def never_passed(tries: int, problems: Sequence[str]) -> Note:
    """Return what is said when no try of a planner passed the check."""
    return _with_problems(
        "No plan passed its check in {tries|try|tries}.",
        "计划共尝试 {tries} 次，均未通过检查。",
        problems,
        tries=tries,
    )


def gave_up(problems: Sequence[str]) -> Note:
    """Return what is said of a plan that nobody mends any more, such as one a person wrote."""
    return _with_problems("The plan did not pass its check.", "计划未通过检查。", problems)


def no_runnable_plan(problems: Sequence[str]) -> Note:
    """Return what is said where only a plan was wanted, and none passed."""
    return _with_problems(
        "No plan that can be run was made.", "未能制定可执行的计划。", problems, are_kept=False
    )


def waits_for_approval(request: ApprovalRequest, step: str) -> Note:
    """Return what is said of a call that a person has to approve, and how that is done."""
    shown = (
        f"{name}={json.dumps(value, ensure_ascii=False)}"
        for name, value in request.arguments.items()
    )
    call = head_and_tail(f"{request.tool}({', '.join(shown)})", _SHOWN_CHARS)
    args = {
        "step": step,
        "call": call,
        "effect": request.effect,
        "policy": f'ApprovalPolicy(tools=dict({request.tool}="allow"))',
    }
    return Note(
        "Step '{step}' waits for approval of {call}, which has the effect '{effect}'. To be asked, "
        "give the Agent an approver=...; to allow it beforehand, policy={policy}. On the command "
        "line, run it at a terminal, or add --allow {effect} or --yes.",
        "步骤“{step}”等待批准：{call}（作用：{effect}）。"
        "如需逐次确认，请为 Agent 设置 approver=...；如需事先允许，请设置 policy={policy}。"
        "使用命令行时，请在终端中运行，或加上 --allow {effect} 或 --yes。",
        args,
    )


def shortfalls(task: Task) -> tuple[str, ...]:
    """Return what a run could not make and why, in words for its user, each reason once."""
    texts = dict.fromkeys(missing.why for missing in task.missing if missing.why)
    if task.stop is None:
        return tuple(texts)
    # Steps that were stopped say the reason of the run in their own words.
    why = task.stop.why
    if any(text.startswith(why) and text != why for text in texts):
        texts.pop(why, None)
    return tuple(text for text in texts if text == why or not text.endswith(why))


def not_started(why: str) -> Note:
    """Return what is said of a step that the end of the run came before."""
    return Note("Not started. {why}", "未开始。{why}", {"why": why})


def may_have_happened(why: str) -> Note:
    """Return what is said of a step that was ended amid an effect."""
    return Note(
        "{why} It was running; its effect may have happened.",
        "{why}该步骤当时正在执行，其作用可能已经发生。",
        {"why": why},
    )


def _with_problems(
    en: str, zh: str, problems: Sequence[str], *, are_kept: bool = True, **args: int
) -> Note:
    """Return a reason with the first problem, which is in English: it is written for models.

    The others are counted; `are_kept` says whether events tell them.
    """
    # What a planner could not read of a reply comes as one text with a line for each.
    lines = [line for problem in problems for line in problem.splitlines() if line.strip()]
    if not lines:
        return Note(en, zh, args)
    first = lines[0].strip()
    if len(first) > _SHOWN_CHARS:
        first = first[: _SHOWN_CHARS - 1] + "…"
    more = len(lines) - 1
    shown: dict[str, str | int] = {**args, "first": first, "more": more}
    if not more:
        return Note(f"{en} {{first}}", f"{zh}{{first}}", shown)
    see = (": see events.jsonl of the run", "，见该次运行的 events.jsonl") if are_kept else ("", "")
    return Note(
        f"{en} {{first}} ({{more|more problem|more problems}}{see[0]}.)",
        f"{zh}{{first}}（另有 {{more}} 个问题{see[1]}。）",
        shown,
    )
