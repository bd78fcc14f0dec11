"""Shows a plan to the person at the terminal, and lets them edit and approve it."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from planloom.agents.abandonable import wait_abandonable
from planloom.apps.approvals import NO
from planloom.apps.terminal import printable
from planloom.engine.plan import Plan
from planloom.engine.protocols import TaskView
from planloom.errors import PlanError
from planloom.notes import Lang, Note
from planloom.planning.plan_lines import ToolSignatures, parse_lines, plan_to_lines
from planloom.planning.plan_review import PlanPreview
from planloom.tools.registry import ToolRegistry

Edit = Callable[[str], str]
"""Returns the text as the person left it."""


def signatures(registry: ToolRegistry) -> ToolSignatures:
    """Return the parameters of each tool in order."""
    return {tool.name: tuple(item.name for item in tool.inputs) for tool in registry.tools()}


def preview_text(preview: PlanPreview, registry: ToolRegistry) -> str:
    """Return a plan that was not run, as lines."""
    return printable(plan_to_lines(preview.plan, signatures(registry))) if preview.plan else ""


def preview_notes(preview: PlanPreview, lang: Lang) -> str:
    """Return what is to be known of a plan before it runs: doubts, approvals."""
    lines = [f"- {problem}" for problem in preview.problems]
    if preview.approvals:
        steps = {"steps": ", ".join(preview.approvals)}
        lines.append(_APPROVALS.with_args(steps).text(lang))
    return printable("\n".join(lines))


@dataclass(frozen=True, kw_only=True)
class TerminalReview:
    """Asks on stderr whether a plan may run; "e" opens it in the person's editor."""

    lang: Lang
    registry: ToolRegistry
    hold: Callable[[], AbstractContextManager[None]]
    """Keeps the progress display off the terminal while a question is open."""
    read: Callable[[], str] = sys.stdin.readline
    edit: Edit | None = None
    """By default the program that $VISUAL or $EDITOR names."""

    async def __call__(self, plan: Plan, view: TaskView, /) -> Plan | None:
        """Return the plan as the person left it, or None when they declined it."""
        with self.hold():
            return await wait_abandonable(lambda: self._review(plan, view))

    def _review(self, plan: Plan, view: TaskView) -> Plan | None:
        tools = signatures(self.registry)
        text, problems = plan_to_lines(plan, tools), view.problems
        while True:
            self._show(text, problems)
            line = self.read()
            answer = line.strip().lower()
            # A plan with problems has to be edited before it can be approved.
            if answer in _YES and not problems:
                return plan
            if not line or answer in NO:
                return None
            if answer not in _EDIT:
                continue  # a typo does not throw away a plan that was paid for
            edited = (self.edit or edit_in_editor)(text)
            if edited == text:
                print(_UNCHANGED.text(self.lang), file=sys.stderr)
                continue
            text = edited
            try:
                plan, problems = parse_lines(text, tools), ()
            except PlanError as error:
                problems = (str(error),)

    def _show(self, text: str, problems: tuple[str, ...]) -> None:
        parts = [_PLAN.text(self.lang), text.rstrip(), *(f"! {problem}" for problem in problems)]
        prompt = (_MEND if problems else _ASK).text(self.lang)
        print(printable("\n".join([*parts, f"{prompt} "])), end="", file=sys.stderr, flush=True)


def edit_in_editor(text: str) -> str:
    """Let the person edit a text in the program that $VISUAL or $EDITOR names."""
    default = "notepad" if sys.platform == "win32" else "vi"
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or default
    with tempfile.TemporaryDirectory(prefix="planloom-plan-") as folder:
        path = Path(folder) / "plan.txt"
        path.write_text(text, encoding="utf-8")
        # The user's own program, called as their shell would call it.
        subprocess.run([*shlex.split(editor), str(path)], check=False)  # noqa: S603 -- see above
        return path.read_text(encoding="utf-8")


_YES = {"y", "yes", "是", "好"}
_EDIT = {"e", "edit", "改"}
_PLAN = Note("The plan:", "计划：")
_ASK = Note("Run it? [y]es, [e]dit, [N]o:", "是否执行？[y] 执行，[e] 修改，[N] 放弃：")
_MEND = Note("[e]dit again, or [N]o:", "[e] 继续修改，[N] 放弃：")
_UNCHANGED = Note("The plan was not changed.", "计划未改动。")
_APPROVALS = Note(
    "You would be asked before these steps: {steps}.", "执行前会就以下步骤征求同意：{steps}。"
)
