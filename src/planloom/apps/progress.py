"""Shows a run as it happens: a live table on a terminal, plain lines elsewhere, or JSON lines."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, TextIO, cast

from planloom.apps.terminal import printable
from planloom.events import Event, EventSink, line_writer
from planloom.notes import Lang, Note

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table

_STATES = {
    "pending": Note("waiting", "等待"),
    "running": Note("running", "运行中"),
    "waiting_approval": Note("needs approval", "待批准"),
    "succeeded": Note("done", "完成"),
    "failed": Note("failed", "失败"),
    "skipped": Note("skipped", "跳过"),
    "blocked": Note("blocked", "受阻"),
    "cancelled": Note("cancelled", "已取消"),
    "unknown": Note("unknown", "未知"),
    "compensated": Note("undone", "已撤销"),
}
_STYLES = {"running": "cyan", "succeeded": "green", "failed": "bold red", "blocked": "yellow"}
_MARKS = {"succeeded": "✓", "failed": "✗", "running": "●", "blocked": "–", "cancelled": "–"}


class Progress:
    """What the user sees of a run while it goes on."""

    def __init__(self, sinks: tuple[EventSink, ...], *, live: Live | None = None):
        self.sinks = sinks
        """Take the events of the run."""
        self._live = live

    def say(self, text: str) -> None:
        """Show a line beside the progress, such as that a call is tried again."""
        if self._live is None:
            print(printable(text), file=sys.stderr, flush=True)
        else:
            self._live.console.print(printable(text), markup=False, highlight=False)

    @contextmanager
    def held(self) -> Generator[None]:
        """Keep the display off the terminal, so that a person can be asked something."""
        if self._live is None:
            yield
            return
        self._live.stop()
        try:
            yield
        finally:
            self._live.start(refresh=True)


@contextmanager
def progress(lang: Lang, *, json: bool, quiet: bool) -> Generator[Progress]:
    """Yield what shows a run; progress goes to stderr, JSON lines to stdout."""
    if json:
        yield Progress((line_writer(sys.stdout),))
    elif quiet:
        yield Progress(())
    elif sys.stderr.isatty():
        with _live(lang) as shown:
            yield shown
    else:
        yield Progress((_PlainLines(lang, sys.stderr),))


@dataclass
class _Step:
    """What is shown of one step."""

    description: str
    state: str = "pending"
    started: datetime | None = None
    ended: datetime | None = None
    error: str = ""

    def seconds(self, now: datetime) -> float | None:
        """Return how long it has run; None before it started."""
        return (
            None if self.started is None else ((self.ended or now) - self.started).total_seconds()
        )


@dataclass
class _Steps:
    """The steps of a run, put together from its events."""

    by_key: dict[str, _Step] = field(default_factory=dict[str, _Step])
    calls: int = 0
    """Calls of models so far."""
    tokens: int = 0

    def update(self, event: Event) -> _Step | None:
        """Take an event in; return the step whose state changed."""
        if event.kind == "plan" and event.data["accepted"]:
            self._add_plan(event)
        if event.kind == "model_call":
            self.calls += 1
            self.tokens += _tokens(event)
        if event.kind != "step_state":
            return None
        key = str(event.data["key"])
        step = self.by_key.setdefault(key, _Step(str(event.data["step"])))
        step.state = str(event.data["state"])
        if step.state == "succeeded" and step.started is None:
            # It ran in an earlier plan, where it is shown, and its result goes on in this one.
            del self.by_key[key]
            return None
        # What blocks a step is told where it failed.
        step.error = "" if step.state == "blocked" else str(event.data["error"])
        if step.state == "running":
            step.started = _time(event)
        elif step.started is not None:
            step.ended = _time(event)
        return step

    def _add_plan(self, event: Event) -> None:
        plan = cast("dict[str, list[dict[str, str]]]", event.data["plan"])
        for part in plan["steps"]:
            key = f"{event.run}/{event.data['epoch']}.{part['id']}"
            # Steps that were started ahead come again with the whole plan.
            self.by_key.setdefault(key, _Step(part["description"] or part["id"]))


def _time(event: Event) -> datetime:
    return datetime.fromisoformat(event.time)


def _tokens(event: Event) -> int:
    parts = (event.data.get(name) for name in ("prompt_tokens", "completion_tokens"))
    return sum(part for part in parts if isinstance(part, int))


class _PlainLines:
    """Writes a line for each step that starts or ends."""

    def __init__(self, lang: Lang, stream: TextIO):
        self._lang: Lang = lang
        self._stream = stream
        self._steps = _Steps()

    def __call__(self, event: Event, /) -> None:
        step = self._steps.update(event)
        if notice := _notice(event, self._lang):
            print(printable(notice), file=self._stream, flush=True)
        if event.kind == "plan":
            self._tell_plan(event)
        elif event.kind == "tool_call" and event.data["key"] not in self._steps.by_key:
            self._tell_call(event)
        if step is None or step.state in ("pending", "running"):
            return
        seconds = step.seconds(_time(event))
        took = "" if seconds is None else f" ({seconds:.1f} s)"
        colon = "：" if self._lang == "zh" else ": "
        line = f"{_STATES[step.state].text(self._lang)}{colon}{step.description}{took}"
        line += f"\n  {step.error}" if step.error else ""
        print(printable(line), file=self._stream, flush=True)

    def _tell_call(self, event: Event) -> None:
        """Tell a call that is no step of the plan: a loop inside of a step made it."""
        args = {"tool": str(event.data["tool"]), "seconds": f"{event.data['seconds']:.1f}"}
        note = _CALLED if event.data["ok"] else _CALL_FAILED
        text = note.with_args(args).text(self._lang)
        print(printable(f"  {text}"), file=self._stream, flush=True)

    def _tell_plan(self, event: Event) -> None:
        """Say why a plan goes back to its planner: the user waits meanwhile."""
        if not event.data["accepted"]:
            print(_REJECTED.text(self._lang), file=self._stream, flush=True)


_CALLED = Note("called {tool} ({seconds} s)", "已调用 {tool}（{seconds} 秒）")
_CALL_FAILED = Note("{tool} failed ({seconds} s)", "{tool} 调用失败（{seconds} 秒）")
_REJECTED = Note("The plan did not pass its check; it is mended.", "计划未通过检查，正在修正。")


@contextmanager
def _live(lang: Lang) -> Generator[Progress]:
    # Rich is imported only where somebody looks at a terminal.
    from rich.console import Console
    from rich.live import Live

    steps = _Steps()
    with Live(
        get_renderable=lambda: _table(steps, lang),
        console=Console(stderr=True),
        refresh_per_second=8,
    ) as live:
        sink = _LiveSteps(steps, lang, live)
        yield Progress((sink,), live=live)


@dataclass
class _LiveSteps:
    """Keeps the table of a terminal up to date, and says above it what is to be said."""

    steps: _Steps
    lang: Lang
    live: Live

    def __call__(self, event: Event, /) -> None:
        self.steps.update(event)
        if notice := _notice(event, self.lang):
            self.live.console.print(printable(notice), markup=False, highlight=False)


def _notice(event: Event, lang: Lang) -> str:
    """Return what an event says to the user in words, such as a limit nearly used; or ""."""
    if event.kind == "budget" and event.data.get("state") == "nearly_used":
        limit = str(event.data["limit"]).replace("_", "-").replace("seconds", "time")
        args = {"limit": f"--{limit}"}
        return _NEARLY_USED.with_args(args).text(lang)
    if event.kind == "approval" and "text" in event.data:
        return str(event.data["text_zh" if lang == "zh" else "text"])
    return ""


_NEARLY_USED = Note("The limit {limit} is nearly used up.", "已接近 {limit} 的上限。")


def _table(steps: _Steps, lang: Lang) -> Table:
    from rich.table import Table
    from rich.text import Text

    now = datetime.now().astimezone()
    table = Table.grid(padding=(0, 1))
    for step in steps.by_key.values():
        style = _STYLES.get(step.state, "dim")
        seconds = step.seconds(now)
        table.add_row(
            Text(_MARKS.get(step.state, " "), style=style),
            Text(printable(step.description)),
            Text(_STATES[step.state].text(lang), style=style),
            Text("" if seconds is None else f"{seconds:.1f} s", style="dim", justify="right"),
        )
        if step.error:
            table.add_row("", Text(printable(step.error), style="red"), "", "")
    if steps.calls:
        counts = _CALLS.with_args({"calls": steps.calls, "tokens": steps.tokens})
        table.add_row("", Text(counts.text(lang), style="dim"), "", "")
    return table


_CALLS = Note(
    "{calls|model call|model calls}, {tokens|token|tokens}",
    "模型调用 {calls} 次，{tokens} 个 token",
)
