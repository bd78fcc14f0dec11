"""Tools called for real: in memory, as recorded steps, and by a sub-agent of a plan."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from planloom.engine.approval import ApprovalPolicy, ApprovalRequest, Decision
from planloom.engine.run_folder import RunFolder
from planloom.errors import ModelError, ToolError
from planloom.events import Event, EventStream
from planloom.models.chat_model import Reply
from planloom.models.messages import ToolMessage
from planloom.models.scripted import ScriptedModel
from planloom.planning.react.loop import ReactLoop
from planloom.planning.react.once import OfferedTool
from planloom.planning.react.recorded_toolbox import RecordedToolbox, RunTools, with_references
from planloom.planning.react.registry_toolbox import RegistryToolbox
from planloom.planning.react.solve_tool import TRAJECTORY_FILE, make_solve_tool
from planloom.planning.react.toolbox import Observation, Toolbox
from planloom.tools.context import ToolContext
from planloom.tools.registry import ToolRegistry
from planloom.tools.runner import ToolRunner
from planloom.tools.tool import Effect, tool
from planloom.values import Column, TableRef, file_sha256

runs: list[str] = []


def table_in(folder: Path, columns: tuple[str, ...]) -> TableRef:
    import duckdb

    path = folder / "companies.parquet"
    shown = ", ".join(f"'{name} 1' AS \"{name}\"" for name in columns)
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT {shown}) TO '{path}' (FORMAT parquet)")
    return TableRef(
        path=str(path),
        columns=tuple(Column(name=name, type="text") for name in columns),
        rows=1,
        name="companies",
        sha256=file_sha256(path),
    )


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool(effect="write")
def load(context: ToolContext) -> TableRef:
    """Load the companies."""
    context.folder.mkdir(parents=True, exist_ok=True)
    return table_in(context.folder, ("Company", "Location"))


@tool
def column_values(table: TableRef, column: str) -> list[str]:
    """List the values of a column."""
    if column not in table.column_names:
        raise ToolError(f"There is no column '{column}'. Columns: {', '.join(table.column_names)}.")
    return [f"{column} 1"]


@tool(effect="send")
def send(text: str) -> str:
    """Send a text."""
    runs.append(text)
    return "sent"


@tool(effect="pure", timeout_s=0.05)
async def hang() -> str:
    """Wait for ever."""
    return str(await asyncio.Event().wait())


@tool
def echo(text: str) -> str:
    """Return a text."""
    return text


@tool
def login(api_key: str) -> str:
    """Log in."""
    return f"welcome, {len(api_key)}"


@tool
def crash() -> str:
    """Crash."""
    raise KeyError("x")


ALL = (add, load, column_values, send, hang, echo, login, crash)


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(work)


@asynccontextmanager
async def in_memory(tmp_path: Path) -> AsyncIterator[Toolbox]:
    registry = ToolRegistry(ALL)
    async with ToolRunner(registry) as runner:
        context = ToolContext(key="react", folder=tmp_path / "work")
        yield RegistryToolbox(registry, runner, context=context)


@asynccontextmanager
async def recorded(
    tmp_path: Path, events: list[Event] | None = None, **options: Any
) -> AsyncIterator[RecordedToolbox]:
    registry = ToolRegistry(ALL)
    given = options.pop("given", None)
    async with ToolRunner(registry) as runner:
        tools = RunTools(
            registry=registry,
            runner=runner,
            store=RunFolder(tmp_path, "run").artifacts,
            events=EventStream("run", (events if events is not None else []).append),
            **options,
        )
        yield RecordedToolbox(tools, "run/1.solve", given=given)


@pytest.fixture(params=[in_memory, recorded])
def made(request: pytest.FixtureRequest) -> Callable[[Path], Any]:
    return request.param


def test_call_gives_its_value_in_words(made: Any, tmp_path: Path) -> None:
    async def work() -> Observation:
        async with made(tmp_path) as box:
            return await box.call("add", {"a": 1, "b": 2}, "x")

    seen = run(work())
    assert seen.ok
    assert seen.text.removeprefix("$c1: ") == "3"


@pytest.mark.parametrize(
    ("name", "arguments", "kind", "said"),
    [
        ("ad", {"a": 1, "b": 2}, "unknown_tool", "Did you mean 'add'?"),
        ("add", {"a": 1}, "arguments", "'b' is missing"),
        ("add", {"a": 1, "b": "x"}, "arguments", "'b'"),
        ("hang", {}, "timeout", "time limit"),
        ("crash", {}, "crash", "KeyError"),
    ],
)
def test_failures_are_observations(
    made: Any, tmp_path: Path, name: str, arguments: dict[str, Any], kind: str, said: str
) -> None:
    async def work() -> Observation:
        async with made(tmp_path) as box:
            return await box.call(name, arguments, "x")

    seen = run(work())
    assert (seen.ok, seen.error_kind) == (False, kind)
    assert said in seen.text


def test_table_is_passed_on_by_reference_and_shown_by_its_shape(made: Any, tmp_path: Path) -> None:
    async def work() -> list[Observation]:
        async with made(tmp_path) as box:
            first = await box.call("load", {}, "x")
            second = {"table": "$c1", "column": "Company"}
            return [first, await box.call("column_values", second, "y")]

    first, second = run(work())
    assert first.text.startswith("$c1: ")
    assert "Company (text), Location (text)" in first.text
    assert "Company 1" in first.text
    assert second.ok, second.text
    assert '["Company 1"]' in second.text


def test_column_that_is_made_up_comes_back_with_the_real_ones(
    made: Any, tmp_path: Path, asks: Any
) -> None:
    async def work() -> tuple[ScriptedModel, Any]:
        replies = [
            asks(("load", {})),
            asks(("column_values", {"table": "$c1", "column": "HQ Location"})),
            asks(("column_values", {"table": "$c1", "column": "Location"})),
            "Location 1",
        ]
        model = ScriptedModel(replies)
        async with made(tmp_path) as box:
            return model, await ReactLoop(model, box).run("Where is the company?")

    model, outcome = run(work())
    told = model.requests[2].messages[-1]
    assert "no column 'HQ Location'. Columns: Company, Location." in told.text
    assert outcome.answer == "Location 1"


def test_one_of_five_fails_and_one_hangs_while_all_are_answered(
    made: Any, tmp_path: Path, asks: Any
) -> None:
    calls = [("add", {"a": n, "b": 0}) for n in range(3)] + [("crash", {}), ("hang", {})]
    model = ScriptedModel([asks(*calls), "Done."])

    async def work() -> None:
        async with made(tmp_path) as box:
            await ReactLoop(model, box).run("Add.")

    run(work())
    told = [m for m in model.requests[1].messages if isinstance(m, ToolMessage)]
    assert [message.call_id for message in told] == ["c1", "c2", "c3", "c4", "c5"]
    assert sorted(message.text[-1] for message in told[:3]) == ["0", "1", "2"]
    assert "KeyError" in told[3].text
    assert "time limit" in told[4].text


def test_recorded_calls_leave_events_and_results(tmp_path: Path) -> None:
    events: list[Event] = []

    async def work() -> Observation:
        async with recorded(tmp_path, events) as box:
            await box.call("load", {}, "x")
            return await box.call("echo", {"text": "$c1.rows rows, $5, $HOME, $c9 or $$"}, "y")

    seen = run(work())
    assert seen.text == "$c2: 1 rows, $5, $HOME, $c9 or $$"
    kinds = [event.kind for event in events]
    assert kinds == ["tool_call", "artifact", "tool_call"]
    assert [e.data["key"] for e in events if e.kind == "tool_call"] == [
        "run/1.solve.c1",
        "run/1.solve.c2",
    ]


def test_reference_to_no_result_says_which_there_are(tmp_path: Path) -> None:
    async def work() -> Observation:
        async with recorded(tmp_path, given={"sales": 7}) as box:
            return await box.call("column_values", {"table": "$c7", "column": "x"}, "y")

    seen = run(work())
    assert "There is no result '$c7'. There are: $sales." in seen.text


@pytest.mark.parametrize(
    ("text", "made_of_it"),
    [
        ("$sales", "$sales"),
        ("${sales} and $sales.rows", "${sales} and $sales.rows"),
        ("$salesman owes $sales", "$$salesman owes $sales"),
        ("5$", "5$$"),
        ("$$sales", "$$$sales"),
    ],
)
def test_only_known_names_are_references(text: str, made_of_it: str) -> None:
    assert with_references(text, {"sales"}) == made_of_it


class Person:
    """Decides as it was told to, and remembers what it was asked."""

    def __init__(self, decision: Decision | None):
        self._decision = decision
        self.asked: list[ApprovalRequest] = []

    async def ask(self, request: ApprovalRequest, /) -> Decision | None:
        self.asked.append(request)
        return self._decision


class Crashing:
    """An approver with a bug."""

    async def ask(self, _request: ApprovalRequest, /) -> Decision | None:
        raise ValueError("no terminal")


@asynccontextmanager
async def any_box(kind: str, tmp_path: Path, **options: Any) -> AsyncIterator[Toolbox]:
    if kind == "recorded":
        async with recorded(tmp_path, **options) as box:
            yield box
        return
    registry = ToolRegistry(ALL)
    async with ToolRunner(registry) as runner:
        yield RegistryToolbox(registry, runner, **options)


@pytest.mark.parametrize("kind", ["recorded", "in memory"])
@pytest.mark.parametrize(
    ("policy", "decision", "sent", "said"),
    [
        ({"send": "allow"}, None, True, "sent"),
        ({"send": "deny"}, None, False, "The policy denies 'send'"),
        ({}, Decision(approved=True), True, "sent"),
        ({}, Decision(approved=False, by="Ann", note="not today"), False, "by Ann: not today"),
        ({}, None, False, "nobody can be asked"),
        ({}, True, False, "the approver returned True"),
    ],
)
def test_approval_is_asked_for_and_denial_is_an_observation(
    tmp_path: Path, kind: str, policy: Any, decision: Any, sent: bool, said: str
) -> None:
    runs.clear()
    person = Person(decision)

    async def work() -> Observation:
        options = {"policy": ApprovalPolicy(effects=policy), "approver": person}
        async with any_box(kind, tmp_path, **options) as box:
            return await box.call("send", {"text": "hello"}, "x")

    seen = run(work())
    assert said.lower() in seen.text.lower()
    assert (seen.ok, runs) == (sent, ["hello"] if sent else [])
    assert [request.arguments for request in person.asked] == (
        [] if policy else [{"text": "hello"}]
    )


@pytest.mark.parametrize("kind", ["recorded", "in memory"])
def test_without_anybody_to_ask_nothing_is_sent(tmp_path: Path, kind: str) -> None:
    runs.clear()

    async def work() -> Observation:
        async with any_box(kind, tmp_path) as box:
            return await box.call("send", {"text": "hello"}, "x")

    seen = run(work())
    assert (seen.error_kind, seen.lacks_approval) == ("denied", "send")
    assert runs == []


@pytest.mark.parametrize(
    ("approver", "said"),
    [
        (Person(Decision(approved=False, by="Ann", note="not today")), "by Ann: not today"),
        (Crashing(), "ValueError: no terminal"),
    ],
)
def test_an_answer_after_a_refused_call_has_a_problem_that_says_why(
    tmp_path: Path, asks: Any, approver: Any, said: str
) -> None:
    runs.clear()

    async def work() -> Any:
        async with recorded(tmp_path, approver=approver) as box:
            model = ScriptedModel([asks(("send", {"text": "hello"})), "Sent!"])
            return await ReactLoop(model, box).run("Send hello.")

    outcome = run(work())
    assert outcome.was_refused
    assert said in outcome.problem.text("en")
    assert said in outcome.problem.text("zh")
    assert runs == []


def solved(tmp_path: Path, replies: list[Any], arguments: Mapping[str, Any]) -> tuple[Any, Any]:
    """Call the solve tool as a step of a plan would; return its result and the model."""
    model = ScriptedModel(replies)

    async def work() -> Any:
        async with recorded(tmp_path) as outer:
            tools = outer._tools  # pyright: ignore[reportPrivateUsage]

            def toolbox_for(context: ToolContext, given: Mapping[str, object]) -> Toolbox:
                return RecordedToolbox(tools, context.key, given=given)

            solve = make_solve_tool(model, toolbox_for)
            tools.registry.register(solve)
            folder = tmp_path / "step"
            folder.mkdir()
            context = ToolContext(key="run/1.judge", folder=folder)
            return await tools.runner.call("solve", arguments, context)

    return run(work()), model


def test_sub_agent_solves_a_step_with_what_it_is_given(tmp_path: Path, asks: Any) -> None:
    table = table_in(tmp_path, ("Company", "Location"))
    call = asks(("column_values", {"table": "$m1", "column": "Company"}))
    result, model = solved(
        tmp_path, [call, "Company 1"], {"task": "Which company?", "material": [table]}
    )
    assert result.value == "Company 1"
    assert "$m1: a table of" in str(model.requests[0].messages[1])
    told = model.requests[1].messages[-1]
    assert told.text == '$c1: ["Company 1"]'
    record = json.loads((tmp_path / "step" / TRAJECTORY_FILE).read_text("utf-8"))
    assert record["stop_reason"] == "answered"
    assert record["trajectory"][0]["actions"][0]["tool"] == "column_values"


def test_sub_agent_cannot_call_itself(tmp_path: Path, asks: Any) -> None:
    result, model = solved(tmp_path, [asks(("solve", {"task": "again"})), "No."], {"task": "Loop."})
    assert result.value == "No."
    assert "solve" not in [spec.name for spec in model.requests[0].options.tools]
    assert "There is no tool 'solve'" in model.requests[1].messages[-1].text


@pytest.mark.parametrize("last", [ModelError("The server is gone."), Reply()])
def test_sub_agent_without_an_answer_is_a_failed_step(tmp_path: Path, asks: Any, last: Any) -> None:
    result, _ = solved(
        tmp_path, [asks(("add", {"a": 1, "b": 2})), last, last, last, last], {"task": "Add."}
    )
    assert (result.ok, result.error_kind) == (False, "tool")
    assert "3" in result.error
    assert (tmp_path / "step" / TRAJECTORY_FILE).exists()


def test_secrets_are_masked_in_the_trajectory(tmp_path: Path, asks: Any) -> None:
    solved(tmp_path, [asks(("login", {"api_key": "sk-1"})), "Done."], {"task": "x"})
    record = (tmp_path / "step" / TRAJECTORY_FILE).read_text("utf-8")
    assert "welcome" in record
    assert "sk-1" not in record


def test_what_was_sent_is_not_sent_again(tmp_path: Path, asks: Any) -> None:
    runs.clear()
    same = ("send", {"text": "hello"})
    model = ScriptedModel([asks(same, same, same), asks(same, ("send", {"text": "bye"})), "Done."])

    async def work() -> None:
        async with recorded(tmp_path, policy=ApprovalPolicy(effects={"send": "allow"})) as box:
            await ReactLoop(model, box).run("Send hello.")

    run(work())
    assert runs == ["hello", "bye"]
    told = [m.text for m in model.requests[1].messages if isinstance(m, ToolMessage)]
    assert [text.startswith("Not done again") for text in told] == [False, True, True]
    assert "sent" in told[1]


@pytest.mark.parametrize("effect", ["send", "write"])
@pytest.mark.parametrize(
    ("ended", "made"),
    [
        ("timeout", 1),
        ("cancelled", 1),
        ("crash", 1),
        (OSError("the connection was lost"), 1),
        (asyncio.CancelledError(), 1),
        ("tool", 2),
        ("denied", 2),
        ("arguments", 2),
    ],
)
def test_what_may_have_happened_is_not_done_again(
    play: Any, asks: Any, effect: Effect, ended: str | BaseException, made: int
) -> None:
    calls: list[str] = []

    class Box:
        specs = (OfferedTool("post", "Post a text.", {"type": "object"}, effect, False),)

        async def call(self, name: str, arguments: object, call_id: str, /) -> Observation:
            calls.append(name)
            if isinstance(ended, BaseException):
                raise ended
            return Observation.failure(ended, "It went wrong.")

    same = asks(("post", {}))
    done = play([same, same, "Done."], Box())
    assert len(calls) == made
    again = done.outcome.trajectory[1].actions[0].observation
    assert not again.ok
    said = "It may have happened already. Say so in your answer."
    assert (said in again.text) == (made == 1)
