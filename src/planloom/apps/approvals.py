"""Asks the person at the terminal before a step that needs their word."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import get_args

from planloom.agents.abandonable import wait_abandonable
from planloom.apps.progress import Progress
from planloom.apps.terminal import printable
from planloom.engine.approval import ApprovalPolicy, ApprovalRequest, ApprovalRule, Decision
from planloom.errors import ConfigError
from planloom.notes import Lang, Note
from planloom.tools.tool import Effect

EFFECTS: tuple[Effect, ...] = get_args(Effect)
_YES = {"y", "yes", "是", "好"}
NO = {"", "n", "no", "否", "不"}
"""What declines; Enter alone does."""


def policy_of(allowed: Sequence[str], *, everything: bool) -> ApprovalPolicy:
    """Return the rules that `--allow` and `--yes` ask for.

    Raises:
        ConfigError: one of the names is no effect.
    """
    for name in allowed:
        if name not in EFFECTS:
            raise ConfigError(
                f"--allow {name}: there is no such effect. Effects: {', '.join(EFFECTS)}.",
                zh=f"--allow {name}：没有这种作用。可用：{'、'.join(EFFECTS)}。",
            )
    rules: dict[Effect, ApprovalRule] = {}
    for effect in EFFECTS:
        if everything or effect in allowed:
            rules[effect] = "allow"
    return ApprovalPolicy(effects=rules)


@dataclass(frozen=True, kw_only=True)
class TerminalApprover:
    """Asks on stderr and reads the answer from stdin; one question at a time."""

    lang: Lang
    hold: Callable[[], AbstractContextManager[None]]
    """Keeps the progress display off the terminal while a question is open."""
    read: Callable[[], str] = sys.stdin.readline
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def ask(self, request: ApprovalRequest, /) -> Decision | None:
        """Return what the person said; None when there is no one (the input has ended)."""
        async with self._turn:
            with self.hold():
                print(_question(request, self.lang), end="", file=sys.stderr, flush=True)
                answer = await wait_abandonable(self.read)
                while answer and answer.strip().lower() not in _YES | NO:  # a typo is no answer
                    print(f"{_PROMPT.text(self.lang)} ", end="", file=sys.stderr, flush=True)
                    answer = await wait_abandonable(self.read)
        if not answer:
            return None
        return Decision(approved=answer.strip().lower() in _YES, by="terminal")


def approver_for(lang: Lang, shown: Progress) -> TerminalApprover | None:
    """Return who is asked; None where no person sits at a terminal."""
    return TerminalApprover(lang=lang, hold=shown.held) if is_attended() else None


def is_attended() -> bool:
    """Return whether a person sits at the terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _question(request: ApprovalRequest, lang: Lang) -> str:
    arguments = "\n".join(
        f"    {name} = {json.dumps(value, ensure_ascii=False)}"
        for name, value in request.arguments.items()
    )
    note = _FAILED if request.error else _ASK
    said = note.with_args({
        "tool": request.tool, "effect": request.effect, "why": request.error,
    }).text(lang)  # fmt: skip
    about = f"  {request.description}\n" if request.description else ""
    return printable(f"{said}\n{about}{arguments}\n{_PROMPT.text(lang)} ")


_ASK = Note(
    "The step calls {tool}, which has the effect '{effect}':",
    "该步骤将调用 {tool}（作用：{effect}）：",
)
_FAILED = Note("A call of {tool} failed: {why} Try again?", "调用 {tool} 失败：{why} 是否重试？")
_PROMPT = Note("Allow it? [y/N]", "是否允许？[y/N]")
