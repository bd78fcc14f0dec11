"""Measure what a turn of the ReAct loop costs: CPU milliseconds for a model call and a tool call.

Run `python benchmarks/agent_turns.py`. A scripted model server runs in a second process and
answers at once, so what is measured is Planloom's own work: client, loop, checks and the tool
call. CPU time of this process, not wall time, so that a busy machine matters little. Exit code 1
when a limit is passed.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from itertools import pairwise
from statistics import median

from planloom.models.openai_compatible import OpenAICompatibleModel
from planloom.planning.react.loop import ReactLoop
from planloom.planning.react.registry_toolbox import RegistryToolbox
from planloom.tools.registry import ToolRegistry
from planloom.tools.runner import ToolRunner
from planloom.tools.tool import tool

SHORT_TURNS, LONG_TURNS, AT_ONCE = 5, 110, 100
LIMITS = {
    "short run, ms a turn": 1.5,
    "at turn 100, ms a turn": 2.0,
    "with 400 earlier results, ms a turn": 3.0,
    "5-turn run, 100 at once, ms a run": 16.0,
}
_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_marks: list[float] = []


@tool
async def step(n: int) -> str:
    """Do one step.

    Args:
        n: Number of the step.
    """
    _marks.append(time.process_time())
    return f"step {n} is done; the next token is {n * 7919 % 100_003:06d}"


def answered(messages: list[dict[str, str]]) -> dict[str, object]:
    """Return the scripted reply: `first` calls in one turn, then one a turn, then the answer."""
    goal = next(m["content"] for m in messages if m["role"] == "user")
    first, turns = map(int, goal.split()[-2:])
    done = sum(message["role"] == "tool" for message in messages)
    count = first if done < first else 1 if done < first + turns else 0
    calls = [
        {
            "id": f"call_{done + number}",
            "type": "function",
            "function": {"name": "step", "arguments": json.dumps({"n": done + number})},
        }
        for number in range(count)
    ]
    said = {"role": "assistant", "content": None if calls else "All steps are done."}
    message = said | ({"tool_calls": calls} if calls else {})
    reason = "tool_calls" if calls else "stop"
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return {"id": "1", "model": "scripted", "choices": [choice], "usage": usage}


async def serve() -> None:
    """Answer requests on a free port, which is printed, until the process is ended."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                body = await reader.readexactly(int(_LENGTH.findall(head)[0]))
                reply = json.dumps(answered(json.loads(body)["messages"])).encode()
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                    b"Content-Length: %d\r\n\r\n%s" % (len(reply), reply)
                )
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0, limit=1 << 24, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def measure(port: int) -> dict[str, float]:
    """Return the figures, by the names of `LIMITS`."""
    registry = ToolRegistry([step])
    model = OpenAICompatibleModel("scripted", f"http://127.0.0.1:{port}/v1", "none")
    async with ToolRunner(registry) as runner:
        loop = ReactLoop(model, RegistryToolbox(registry, runner), max_iterations=1000)

        async def run(first: int, turns: int) -> None:
            outcome = await loop.run(f"Do the steps. {first} {turns}")
            if outcome.stop_reason != "answered":
                raise RuntimeError(f"The run was not answered: {outcome.problem}")

        try:
            return await _figures(run)
        finally:
            await model.close()


async def _figures(run: Callable[[int, int], Awaitable[None]]) -> dict[str, float]:
    for _ in range(5):
        await run(0, SHORT_TURNS)
    short = [await _cost_ms(run(0, SHORT_TURNS)) / (SHORT_TURNS + 1) for _ in range(40)]
    at_100 = await _turns_ms(run(0, LONG_TURNS))
    after_400 = await _turns_ms(run(400, 12))
    at_once = [
        await _cost_ms(asyncio.gather(*(run(0, SHORT_TURNS) for _ in range(AT_ONCE)))) / AT_ONCE
        for _ in range(3)
    ]
    figures = (median(short), median(at_100[-12:]), median(after_400[-11:]), median(at_once))
    return dict(zip(LIMITS, figures, strict=True))


async def _cost_ms(work: Awaitable[object]) -> float:
    before = time.process_time()
    await work
    return 1000 * (time.process_time() - before)


async def _turns_ms(work: Awaitable[object]) -> list[float]:
    """Return the CPU time from each tool call to the next."""
    _marks.clear()
    await work
    return [1000 * (after - before) for before, after in pairwise(_marks)]


def main() -> int:
    """Print a row for each figure."""
    command = [sys.executable, __file__, "--serve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            port = server.stdout.readline() if server.stdout else ""
            figures = asyncio.run(measure(int(port)))
        finally:
            server.terminate()
    for name, figure in figures.items():
        print(f"{name}: {figure:.2f} (limit {LIMITS[name]:g})")
    return int(any(figure > LIMITS[name] for name, figure in figures.items()))


if __name__ == "__main__":
    if "--serve" in sys.argv:
        asyncio.run(serve())
    sys.exit(main())
