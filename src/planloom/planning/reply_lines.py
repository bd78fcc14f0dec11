"""Finds the plan lines in what a model says, while it still says it.

Models wrap plans in prose, fences and thinking, and number their lines. What looks like a step is
read as one or becomes a problem that goes back to the model; everything else is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from planloom.engine.plan import Step
from planloom.errors import PlanError
from planloom.models.thinking import ThinkingFilter
from planloom.planning.line_scanner import LineScanner
from planloom.planning.nested_calls import unnested
from planloom.planning.plan_check import PlanLimits
from planloom.planning.plan_json import parse_plan_json
from planloom.planning.plan_lines import ToolSignatures, parse_lines

MAX_REPEATS = 3
"""Steps in a row that were written before: so many, and the model is stuck."""
MAX_REPEATED_ROWS = 8
"""The same for rows of prose, in which a few may well be alike."""

MAX_CHARS = 400_000
"""Of a reply, thinking included: far above any plan."""
MAX_PROBLEMS = 40
"""Lines that cannot be read: with so many, nothing better follows."""
MAX_STEPS = PlanLimits().max_steps
"""What the check allows; of a longer plan the rest need not be waited for."""

_MAX_THOUGHT_CHARS = 600
_MARKER = re.compile(
    r"^\s*(?:[-*+•]\s+|\(?\d+[.)、]\s*)?(?:(?:step|步骤|第)\s*\d+\s*步?\s*[:：.]\s*)?\**(?P<quote>`?)",
    re.IGNORECASE,
)
_NAME = r"[^\W\d]\w*"
# "Note: x = 5" is prose; with a type in front of the = only a call makes it a step.
_ASSIGNMENT = re.compile(rf"{_NAME}\s*(?:=(?!=)|:\s*[\w.\[\]]+\s*=\s*{_NAME}\s*\()")
_CALL = re.compile(rf"(?P<name>{_NAME})\s*\(")
# "search(text) finds pages" is prose about a tool; a call ends with a bracket or goes on below.
_CALL_END = re.compile(r"[()\[\]{},]\s*(?:#.*)?$")
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_WORD_LINE = re.compile(r"""^(?P<word>done|find_tools|drop)\s*\((?P<inside>.*)\)\s*(?:#.*)?$""")
_QUOTED = re.compile(r"""["']([^"']+)["']|([^\W\d]\w*)""")
# Small models put the answer into a text of their own; that is what fill_text is for.
_TEXT_LINE = re.compile(rf"""^({_NAME})\s*=\s*(f?["'].*)$""", re.DOTALL)
_SAID_TEXT = re.compile(r"""^(?:output|print)\s*\((\s*f?["'].*)\)\s*(?:#.*)?$""", re.DOTALL)
_FORMAT = re.compile(r"""(\{[\w.\[\]"']+)(?:![rsa])?:[^{}]*\}""")
_FILL_TEXT = "fill_text"
_DIFFERENT = "Write each result under an id of its own, such as '{id}2', and use that."


@dataclass(kw_only=True)
class ReadReply:
    """What was found in a reply."""

    thought: str = ""
    steps: list[Step] = field(default_factory=list[Step])
    outputs: tuple[str, ...] | None = None
    """None where the reply does not name them."""
    problems: list[str] = field(default_factory=list[str])
    """Lines that look like steps and cannot be read."""
    dropped: tuple[str, ...] = ()
    """Ids of steps that are to be left out of the plan before."""
    searches: tuple[str, ...] = ()
    """Tools that the model asks to be shown."""
    is_done: bool = False
    """It says that nothing is left to do."""


class ReplyReader:
    """Takes a reply in pieces; gives each step as soon as its line is whole."""

    def __init__(self, tools: ToolSignatures):
        self._tools = tools
        self._thinking = ThinkingFilter()
        self._lines = _LineReader(tools)
        self._chars = 0

    @property
    def is_stuck(self) -> bool:
        """Whether the model says the same lines over and over."""
        return self._lines.repeats >= MAX_REPEATS or self._lines.repeated_rows >= MAX_REPEATED_ROWS

    @property
    def is_endless(self) -> bool:
        """Whether more text has come than a plan can be."""
        return self._chars > MAX_CHARS

    @property
    def should_stop(self) -> bool:
        """Whether the rest of the reply need not be waited for."""
        return self.is_stuck or self.is_endless or self._lines.is_too_long

    @property
    def has_steps(self) -> bool:
        """Whether a step has been read so far."""
        return self._lines.has_steps

    def feed(self, piece: str) -> list[Step]:
        """Take the next piece; return the steps whose lines it completed."""
        self._chars += len(piece)
        return self._lines.feed(self._thinking.feed(piece))

    def finish(self, *, cut: bool = False) -> ReadReply:
        """Return what the whole reply holds; with `cut`, its last line is no complaint."""
        before = self._thinking.thinking
        self._lines.feed(self._thinking.finish())
        reply = self._lines.finish(cut=cut)
        if self._thinking.thinking != before or not self._is_whole():
            # What was let through turned out to be thinking: only the rest counts.
            reader = _LineReader(self._tools)
            reader.feed(self._thinking.text)
            reply = reader.finish(cut=cut)
        return reply if reply.steps else _from_json(self._thinking.text) or reply

    @property
    def text(self) -> str:
        """The reply without its thinking."""
        return self._thinking.text

    def _is_whole(self) -> bool:
        return self._lines.text.strip() == self._thinking.text.strip()


class _LineReader:
    def __init__(self, tools: ToolSignatures):
        self._tools = tools
        self._waiting: list[str] = []
        """Pieces of the row that has not ended."""
        self._row = 0
        self._open: list[str] = []
        """Rows of a statement that is not whole yet."""
        self._scanner = LineScanner()
        self._reply = ReadReply()
        self._thought: list[str] = []
        self._text: list[str] = []
        self.repeats = 0
        self._inner = 0
        self._prose: set[str] = set()
        self.repeated_rows = 0

    @property
    def has_steps(self) -> bool:
        return bool(self._reply.steps)

    @property
    def is_too_long(self) -> bool:
        return len(self._reply.steps) > MAX_STEPS or len(self._reply.problems) > MAX_PROBLEMS

    @property
    def text(self) -> str:
        return "".join(self._text)

    def feed(self, text: str) -> list[Step]:
        self._text.append(text)
        self._waiting.append(text)
        if "\n" not in text:
            return []
        *rows, rest = "".join(self._waiting).split("\n")
        self._waiting = [rest]
        return [step for row in rows for step in self._take_row(row)]

    def finish(self, *, cut: bool) -> ReadReply:
        known = len(self._reply.problems)
        last = "".join(self._waiting)
        if last.strip():
            list(self._take_row(last))
        if self._open:
            list(self._close())
        if cut:
            # The line that the end cut in two is no fault of the model.
            del self._reply.problems[known:]
        self._reply.thought = "\n".join(self._thought)[:_MAX_THOUGHT_CHARS]
        return self._reply

    def _take_row(self, row: str) -> Iterator[Step]:
        self._row += 1
        row = row.rstrip("\r")
        if self._open and not self._is_new_statement(row):
            yield from self._go_on(row)
            return
        if self._open:
            yield from self._close()
        code = _unwrapped(row)
        if self._looks_like_code(code):
            yield from self._go_on(code)
        elif not self._take_word(code):
            self._take_prose(code)

    def _is_new_statement(self, row: str) -> bool:
        """Whether a row begins a step although the one before lacks its closing bracket."""
        if not (_ASSIGNMENT.match(row) and _CALL.search(row)):
            return False
        before = "\n".join(self._open)
        return not (before.count('"""') % 2 or "'''" in before)

    def _looks_like_code(self, code: str) -> bool:
        if _ASSIGNMENT.match(code):
            return True
        call = _CALL.match(code)
        is_known = bool(call) and call["name"] in {*self._tools, "output", "print"}
        return is_known and bool(_CALL_END.search(code))

    def _go_on(self, row: str) -> Iterator[Step]:
        self._open.append(row)
        try:
            whole = self._scanner.feed(row + "\n")
        except PlanError as error:
            self._reply.problems.append(self._placed(error))
            self._forget()
            return
        if whole:
            yield from self._read()

    def _close(self) -> Iterator[Step]:
        """Read what is open as it stands; what it lacks becomes a problem."""
        yield from self._read()

    def _read(self) -> Iterator[Step]:
        rows, first = self._open, self._row - len(self._open) + 1
        self._forget()
        for code in unnested(self._meant("\n".join(rows)), self._tools, self._new_id):
            yield from self._read_line(code, max(first, 1), is_print=rows[0].startswith("print"))

    def _read_line(self, code: str, number: int, *, is_print: bool) -> Iterator[Step]:
        try:
            # Empty rows in front, so that the message counts lines as the reply does.
            plan = parse_lines("\n" * (number - 1) + code, self._tools)
        except PlanError as error:
            if not is_print:
                self._reply.problems.append(str(error))
            return
        if not plan.steps:
            self._reply.outputs = (*(self._reply.outputs or ()), *plan.outputs)
        for step in plan.steps:
            named = _ASSIGNMENT.match(code) is not None
            yield from self._add(step if named else self._with_free_id(step))

    def _new_id(self, tool: str) -> str:
        """Return an id for a call that a model wrote inside of another."""
        self._inner += 1
        return f"{tool}_in{self._inner}"

    def _meant(self, code: str) -> str:
        """Return a line in the plan's own words where a model used those of Python."""
        if _FILL_TEXT in self._tools:
            said = _SAID_TEXT.match(code)
            if said:
                code = f"answer = {said[1]}"
            text = _TEXT_LINE.match(code)
            if text:
                # The line end closes a comment that may stand behind the text.
                return f"{text[1]} = {_FILL_TEXT}({_without_formats(text[2])}\n)"
        return re.sub(r"^print\s*\(", "output(", code)

    def _add(self, step: Step) -> Iterator[Step]:
        same = next((known for known in self._reply.steps if known.id == step.id), None)
        if same is None:
            self.repeats = self.repeated_rows = 0
            self._reply.steps.append(step)
            yield step
        elif _same_call(same, step):
            self.repeats += 1
        else:
            mend = _DIFFERENT.format(id=step.id)
            self._reply.problems.append(f"Step '{step.id}': an earlier line has this id. {mend}")

    def _with_free_id(self, step: Step) -> Step:
        taken = {known.id for known in self._reply.steps}
        twin = next((s for s in self._reply.steps if _same_call(s, step)), None)
        if twin:
            return replace(step, id=twin.id)
        names = (step.id, *(f"{step.id}_{n}" for n in range(2, len(taken) + 3)))
        return replace(step, id=next(name for name in names if name not in taken))

    def _take_word(self, code: str) -> bool:
        found = _WORD_LINE.match(code)
        if not found:
            return False
        inside = tuple(quoted or bare for quoted, bare in _QUOTED.findall(found["inside"]))
        if found["word"] == "done":
            self._reply.is_done = True
        elif found["word"] == "drop":
            self._reply.dropped += inside
        else:
            self._reply.searches += inside
        return True

    def _take_prose(self, text: str) -> None:
        if text:
            self.repeated_rows = self.repeated_rows + 1 if text in self._prose else 0
            self._prose.add(text)
        if text and not self._reply.steps and not _FENCE.match(text):
            self._thought.append(text.lstrip("# "))

    def _forget(self) -> None:
        self._open = []
        self._scanner = LineScanner()

    def _placed(self, error: PlanError) -> str:
        first = self._row - len(self._open) + 1
        return re.sub(r"^Line (\d+)", lambda match: f"Line {first + int(match[1]) - 1}", str(error))


def _unwrapped(row: str) -> str:
    """Return a row without what Markdown puts around a line of code, or says behind it.

    >>> _unwrapped('1. `a = lookup("x")`: looks it up')
    'a = lookup("x")'
    """
    mark = _MARKER.match(row)
    code = row[mark.end() :] if mark else row
    if mark and mark["quote"] and "`" in code:
        code = code.partition("`")[0]
    return code.rstrip("`*").strip()


def _without_formats(text: str) -> str:
    """Return an f-string without formats such as `:.1f`, which plans do not have."""
    return _FORMAT.sub(r"\1}", text)


def _same_call(first: Step, second: Step) -> bool:
    return (first.tool, first.input, first.depends_on, first.on_failure) == (
        second.tool, second.input, second.depends_on, second.on_failure,
    )  # fmt: skip


def _from_json(text: str) -> ReadReply | None:
    """Return the plan of a reply that is JSON although lines were asked for."""
    reply = read_json(text) if '"plan"' in text else None
    return reply if reply and reply.steps else None


def read_json(text: str) -> ReadReply:
    """Return the plan of a reply that was to be JSON; what is wrong with it is a problem."""
    start, end = text.find("{"), text.rfind("}")
    try:
        plan = parse_plan_json(text[start : end + 1] if 0 <= start < end else text)
    except PlanError as error:
        return ReadReply(problems=[str(error)])
    return ReadReply(thought=plan.thought, steps=list(plan.steps), outputs=plan.outputs)


def merged_steps(
    before: Sequence[Step], new: Sequence[Step], dropped: Sequence[str] = ()
) -> tuple[Step, ...]:
    """Return the steps of a plan after some of its lines were written anew.

    A new line takes the place of that of the same id; others are added at the end.
    """
    by_id = {step.id: step for step in (*before, *new)}
    return tuple(step for name, step in by_id.items() if name not in dropped)
