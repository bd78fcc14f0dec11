"""Measure how long a planned run takes on a model of fixed speed, and how many tokens it reads.

Run `python benchmarks/planning.py`. The model is part of this process and answers from a script, as
slowly as a hosted one: first token after 400 ms, 0.05 ms for each token of the prompt, 15 ms for
each token of the reply; each tool takes 300 ms. Prompts, plan lines and engine are the real ones.
Exit code 1 when a limit is passed.

Tasks: S2 looks eight records up and combines them; S4 has three levels of four steps; S5 loads,
filters and aggregates a table of 100, 1,000 or 10,000 rows. Tokens are counted by cl100k where
the package tiktoken is installed, else by a rule that comes within some per cent of it.
"""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

from planloom.agents.agent import Agent
from planloom.models.chat_model import ChatRequest, ModelTraits, Reply, Usage
from planloom.models.messages import SystemMessage, UserMessage
from planloom.planning.answer_tools import make_answer_tools
from planloom.planning.model_planner import ModelPlanner
from planloom.tools.registry import ToolRegistry
from planloom.tools.tool import AnyTool, tool

FIRST_TOKEN_S, PROMPT_TOKEN_S, REPLY_TOKEN_S, TOOL_S = 0.4, 0.00005, 0.015, 0.3

IDS = "abcdefghijkl"
LOOKUPS = [f'{IDS[i]}=lookup("item-{i + 1}")' for i in range(8)]
MERGES = [
    f"{IDS[4 * level + i]}=merge({IDS[4 * level + i - 4]}, {IDS[4 * level + (i + 1) % 4 - 4]})"
    for level in (1, 2)
    for i in range(4)
]
S2 = [*LOOKUPS, 'i=combine("$a,$b,$c,$d,$e,$f,$g,$h")']
S4 = [*LOOKUPS[:4], *MERGES]
S5 = ["a=load_table({rows})", 'b=filter_rows(a, "amount>500")', 'c=aggregate(b, "region")']
SAID = (
    "All requested records were retrieved, merged and checked; the combined result is consistent "
    "with every intermediate value that the tools returned, and no further action is needed."
)


def count_by_rule(text: str) -> int:
    """Return about how many tokens a text takes: words, groups of three digits, marks."""
    return len(re.findall(r" ?[^\W\d_]{1,9}| ?\d{1,3}|[^\w\s]{1,3}\n?|\s+|_", text))


def token_counter() -> Callable[[str], int]:
    """Return cl100k's counter where it can be had."""
    try:
        import tiktoken

        encoding = tiktoken.get_encoding("cl100k_base")
    except Exception:  # noqa: BLE001 -- not installed, or its table cannot be fetched
        return count_by_rule
    return lambda text: len(encoding.encode(text, disallowed_special=()))


@dataclass(kw_only=True)
class SlowModel:
    """A model that writes `plan`, and `SAID` as a final answer, at the speed given above."""

    plan: str
    count: Callable[[str], int]
    name: str = "slow"
    traits: ModelTraits = field(default_factory=ModelTraits)
    prompt_tokens: list[int] = field(default_factory=list[int])

    async def reply(self, request: ChatRequest, /) -> Reply:
        """Return the whole reply after the time that it takes."""
        said, tokens = await self._begin(request)
        await asyncio.sleep(tokens * REPLY_TOKEN_S)
        return self._end(said, tokens)

    async def stream(self, request: ChatRequest, /) -> AsyncIterator[str | Reply]:
        """Yield the reply a few characters at a time."""
        said, tokens = await self._begin(request)
        began, pieces = time.perf_counter(), range(0, len(said), 4)
        for number, start in enumerate(pieces, 1):
            due = began + tokens * REPLY_TOKEN_S * number / len(pieces)
            await asyncio.sleep(due - time.perf_counter())
            yield said[start : start + 4]
        yield self._end(said, tokens)

    async def close(self) -> None:
        """Do nothing."""

    async def _begin(self, request: ChatRequest) -> tuple[str, int]:
        messages = [m for m in request.history.messages if isinstance(m, SystemMessage)]
        is_planner = messages[0].text.startswith("You plan")
        prompt = sum(4 + self.count(_text(message)) for message in request.history.messages)
        self.prompt_tokens.append(prompt)
        await asyncio.sleep(FIRST_TOKEN_S + prompt * PROMPT_TOKEN_S)
        said = self.plan if is_planner else SAID
        return said, self.count(said)

    def _end(self, said: str, tokens: int) -> Reply:
        return Reply(text=said, usage=Usage(completion_tokens=tokens))


def _text(message: object) -> str:
    if isinstance(message, UserMessage):
        return str(message.content)
    return str(getattr(message, "text", ""))


@tool(effect="read")
async def lookup(key: str) -> str:
    """Look up one record.

    Args:
        key: the record key
    """
    await asyncio.sleep(TOOL_S)
    return f"v[{key}] record of {key}: status=active; region=EU-west; score=0.873; owner=team-4"


@tool
async def combine(values: str) -> str:
    """Combine several looked-up values into one.

    Args:
        values: comma separated values
    """
    await asyncio.sleep(TOOL_S)
    return f"combined {len(values.split(','))} values: {values[:60]}"


@tool
async def merge(a: str, b: str) -> str:
    """Merge two values.

    Args:
        a: first value
        b: second value
    """
    await asyncio.sleep(TOOL_S)
    return f"m[{a[:6]}+{b[:6]}] merged record: status=ok; fields=12; conflicts=0"


@tool(effect="read")
async def load_table(rows: int) -> list[dict[str, str | int]]:
    """Load the sales table.

    Args:
        rows: number of rows
    """
    await asyncio.sleep(TOOL_S)
    return [{"id": i, "region": "NSEW"[i % 4], "amount": i * 7919 % 1000} for i in range(rows)]


@tool
async def filter_rows(table: list[dict[str, str | int]], expr: str) -> list[dict[str, str | int]]:
    """Filter a table.

    Args:
        table: the table
        expr: filter expression
    """
    await asyncio.sleep(TOOL_S)
    least = int(expr.rpartition(">")[2])
    return [row for row in table if int(row["amount"]) > least]


@tool
async def aggregate(table: list[dict[str, str | int]], by: str) -> dict[str, int]:
    """Sum amounts of a table by a column.

    Args:
        table: the table
        by: column to group by
    """
    await asyncio.sleep(TOOL_S)
    sums: dict[str, int] = {}
    for row in table:
        sums[str(row[by])] = sums.get(str(row[by]), 0) + int(row["amount"])
    return sums


@dataclass(frozen=True, kw_only=True)
class Case:
    """One task, with what it may take."""

    name: str
    goal: str
    lines: list[str]
    answer: str
    """The line of the final call; "" where the plan names its output."""
    tools: tuple[AnyTool, ...]
    limit_s: float | None
    limit_tokens: int


def cases() -> list[Case]:
    """Return the tasks, with and without a final call."""
    look, merging = "Look up item-1 to item-8 and combine them.", "Look up item-1 to item-4, merge."
    table = "Load {rows} rows, keep amounts above 500, and sum them by region."
    tools = (load_table, filter_rows, aggregate)
    say_s2, say_s4 = 'z=write_answer("the result", [i])', 'z=write_answer("the result", [i,j,k,l])'
    return [
        Case(name="S2, final call", goal=look, lines=S2, answer=say_s2, tools=(lookup, combine),
             limit_s=3.5, limit_tokens=1000),
        Case(name="S2", goal=look, lines=S2, answer="", tools=(lookup, combine),
             limit_s=2.5, limit_tokens=1000),
        Case(name="S4, final call", goal=merging, lines=S4, answer=say_s4, tools=(lookup, merge),
             limit_s=4.0, limit_tokens=1000),
        Case(name="S4", goal=merging, lines=S4, answer="", tools=(lookup, merge),
             limit_s=3.0, limit_tokens=1000),
        *(
            Case(name=f"S5, {rows} rows", goal=table.format(rows=rows), tools=tools,
                 lines=[line.replace("{rows}", str(rows)) for line in S5],
                 answer='z=write_answer("the sums", [a, b, c])', limit_s=None, limit_tokens=2200)
            for rows in (100, 1000, 10_000)
        ),
    ]  # fmt: skip


async def measure(case: Case, count: Callable[[str], int], home: Path) -> tuple[float, int, int]:
    """Return the seconds of a run, and the tokens of its prompts and of its plan."""
    plan = "\n".join([*case.lines, *([case.answer] if case.answer else [])]) + "\n"
    model = SlowModel(plan=plan, count=count)
    tools = (*case.tools, *make_answer_tools(model, goal=case.goal))
    planner = ModelPlanner(model, ToolRegistry(tools))
    agent = Agent(tools, planner=planner, builtin_tools=False, home=home)
    began = time.perf_counter()
    outcome = await agent.run_async(case.goal)
    seconds = time.perf_counter() - began
    if outcome.status != "succeeded":
        raise SystemExit(f"{case.name}: the run ended as {outcome.status}: {outcome.missing}")
    return seconds, sum(model.prompt_tokens), count(plan)


async def measure_all() -> int:
    """Print a row for each case; return how many limits were passed."""
    count, missed = token_counter(), 0
    with tempfile.TemporaryDirectory() as home:
        # The first run pays for imports that a process pays for once.
        await measure(cases()[1], count, Path(home))
        for case in cases():
            seconds, prompt, plan = await measure(case, count, Path(home))
            too_slow = case.limit_s is not None and seconds > case.limit_s
            missed += too_slow + (prompt > case.limit_tokens)
            limit = f" (limit {case.limit_s} s)" if case.limit_s else ""
            print(f"{case.name}: {seconds:.2f} s{limit}, prompts {prompt} tokens "
                  f"(limit {case.limit_tokens}), plan {plan} tokens")  # fmt: skip
    return missed


if __name__ == "__main__":
    sys.exit(1 if asyncio.run(measure_all()) else 0)
