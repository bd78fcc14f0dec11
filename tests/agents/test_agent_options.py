"""The options of an agent: slips are told when it is made, by the name of the option."""

from __future__ import annotations

import gc
import warnings
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from planloom import Agent, Decision, ScriptedModel, ToolRegistry, tool
from planloom.errors import ConfigError, ModelError, PlanError
from planloom.models.chat_model import ChatRequest, ModelTraits, Reply
from planloom.models.messages import ToolCall
from planloom.models.openai_compatible import OpenAICompatibleModel


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PLANLOOM_MODEL", "PLANLOOM_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PLANLOOM_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PLANLOOM_RATE_LIMIT_RETRY_BASE_DELAY_S", "0")
    monkeypatch.chdir(tmp_path)


def book(title: str) -> str:
    """Find a book.

    Args:
        title: Its title.
    """
    return f"found {title}"


class Planner:
    async def plan(self, _view: object, /) -> None:
        return None


class Busy:
    """A model that is busy once, then answers."""

    name = "mine"
    traits = ModelTraits()

    def __init__(self) -> None:
        self.calls = 0

    async def reply(self, _request: ChatRequest, /) -> Reply:
        self.calls += 1
        if self.calls == 1:
            raise ModelError("busy", transient=True)
        return Reply(text="42")


def call(name: str, arguments: str) -> Reply:
    return Reply(tool_calls=(ToolCall("1", name, arguments),))


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("max_calls", -1), ("max_calls", 1.5), ("max_calls", True), ("max_tokens", "10k"),
        ("max_cost", -1), ("max_cost", float("inf")), ("max_time_s", float("nan")),
        ("max_time_s", "10m"), ("max_iterations", "3"), ("max_iterations", 0), ("lang", "de"),
        ("readable", "data"), ("writable", Path("out")), ("writable", 5), ("approver", 5),
        ("model", 3), ("model", ScriptedModel), ("planner", 7), ("planner", Planner),
        ("tools", tool(book)), ("tools", 5), ("tools", [5]), ("tools", ["book"]),
    ],
)  # fmt: skip
def test_a_slip_is_told_at_once_with_the_name_of_the_option(option: str, value: Any):
    with pytest.raises(ConfigError, match=rf"^{option} "):
        Agent(**{option: value})


def test_bounds_that_make_sense_are_accepted():
    Agent(max_calls=0, max_tokens=1, max_cost=0.5, max_time_s=2, max_iterations=1, lang="zh")


@pytest.mark.parametrize("files", ["data.csv", Path("data.csv")])
def test_one_file_in_place_of_a_list_is_told(files: Any):
    agent = Agent(model=ScriptedModel([]))
    for work in (agent.run, agent.ask):
        with pytest.raises(ConfigError, match=r"files=\['data.csv'\]"):
            work("q", files=files)


def test_limits_that_a_planner_of_ones_own_cannot_keep_are_refused():
    agent = Agent(planner=Planner(), max_calls=3, max_cost=1.0)
    with pytest.raises(ConfigError, match="max_cost, max_calls cannot be kept"):
        agent.run("q")
    assert Agent(planner=Planner(), max_time_s=5).run("q").bill is None


def test_a_plain_function_is_a_tool():
    assert Agent(tools=[book]).run_plan('a = book("Emma")').results == {"a": "found Emma"}


def test_two_tools_of_one_name_are_refused():
    with pytest.raises(ConfigError, match="called 'book'"):
        Agent(tools=[tool(book), tool(book)])


@pytest.mark.parametrize("name", ["read_file", "list_files", "get_data_summary"])
def test_a_tool_of_the_user_takes_the_place_of_a_built_in_one(name: str):
    mine = tool(name=name)(book)
    agent = Agent(tools=[mine], model=ScriptedModel([call(name, '{"title": "r1"}'), "done"]))
    answer = agent.ask("Which book?")
    assert "found r1" in answer.evidence.read_text(encoding="utf-8")
    assert agent.registry.get(name) is mine
    assert len({tool.name for tool in agent.registry.tools()}) == len(agent.registry.tools())


@pytest.mark.parametrize("name", ["write_answer", "solve"])
def test_a_tool_of_the_user_takes_the_place_of_one_that_runs_add(name: str):
    mine = tool(name=name)(book)
    model = ScriptedModel([f'a = {name}("Emma")'])
    assert Agent(tools=[mine], model=model).run("q").results == {"a": "found Emma"}


def test_a_model_object_is_asked_again_when_it_is_busy():
    for work in ("ask", "run"):
        model = Busy()
        getattr(Agent(model=model), work)("q")
        assert model.calls > 1


def test_an_unknown_price_is_told_before_anything_runs(tmp_path: Path):
    for model in (Busy(), OpenAICompatibleModel("m", "https://models.example.com/v1")):
        agent = Agent(model=model, max_cost=1.0)
        for work in (agent.ask, agent.run):
            with pytest.raises(ConfigError, match="price of this model is not known"):
                work("q")
    assert not list(tmp_path.rglob("events.jsonl"))


def test_scripts_cost_nothing_whatever_their_name():
    model = ScriptedModel(["42"], name="mine")
    assert Agent(model=model, max_cost=1.0).ask("q").text == "42"


def test_an_empty_plan_is_a_plan_error():
    with pytest.raises(PlanError, match="plan is empty"):
        Agent().run_plan(" \n")


@pytest.mark.parametrize(
    "approver", [lambda _: True, lambda _: Decision(approved=True)], ids=["bool", "decision"]
)
def test_an_approver_may_be_a_function(approver: Any):
    sent: list[str] = []

    @tool(effect="send")
    def mail(to: str) -> str:
        """Send a mail.

        Args:
            to: Address.
        """
        sent.append(to)
        return "sent"

    model = ScriptedModel(['a = mail("x")'])
    assert Agent(tools=[mail], model=model, approver=approver).run("q").status == "succeeded"
    assert sent == ["x"]


def test_an_approver_that_fails_lets_nothing_through():
    sent: list[str] = []

    @tool(effect="send")
    def mail(to: str) -> str:
        """Send a mail.

        Args:
            to: Address.
        """
        sent.append(to)
        return "sent"

    def broken(_request: object) -> bool:
        raise ValueError("no terminal")

    run = Agent(tools=[mail], model=ScriptedModel(['a = mail("x")', ""] * 3), approver=broken)
    outcome = run.run("q")
    assert (outcome.status, sent) == ("failed", [])
    assert "nobody could be asked" in outcome.problem


def test_an_outcome_is_short_when_it_is_shown():
    outcome = Agent(tools=[book]).run_plan('a = book("E" )\nb = book("F")')
    assert len(repr(outcome)) < 250
    assert outcome.problem == ""


def test_a_registry_keeps_what_was_put_in_place_of_another():
    first, second = tool(book), tool(name="book")(book)
    registry = ToolRegistry([first])
    with pytest.raises(ConfigError, match="registered a tool of that name"):
        registry.register(second)
    registry.register(second, replace=True)
    assert registry.get("book") is second


def test_a_server_of_this_machine_is_free_and_its_connections_end_with_each_call():
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:  # the name that http.server looks for
            self.rfile.read(int(self.headers["Content-Length"]))
            body = b'{"choices":[{"message":{"content":"42"},"finish_reason":"stop"}]}'
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, daemon=True).start()
        model = OpenAICompatibleModel("m", f"http://127.0.0.1:{server.server_port}/v1", proxies={})
        agent = Agent(model=model, max_cost=0.01)
        with warnings.catch_warnings():
            warnings.simplefilter("error", ResourceWarning)
            assert [agent.ask("q").text for _ in range(3)] == ["42"] * 3
            del agent, model
            gc.collect()
        server.shutdown()
