"""The facade with a model, what a model is told of data, and what is handed out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from planloom import Agent, ScriptedModel, tool
from planloom.agents.answers import answer_text
from planloom.agents.data_first import DataFirst, opened_files
from planloom.agents.deliverables import hand_out
from planloom.engine.artifacts import ArtifactStore
from planloom.engine.plan import Plan, Step
from planloom.engine.protocols import TaskView
from planloom.errors import ConfigError, InputError
from planloom.models.chat_model import Reply
from planloom.models.messages import ToolCall, UserMessage
from planloom.values import FileRef, file_sha256


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PLANLOOM_MODEL", "PLANLOOM_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PLANLOOM_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


@tool
def double(number: int) -> int:
    """Double a number.

    Args:
        number: Any number.
    """
    return 2 * number


def test_agent_reaches_a_goal_with_a_model_and_tells_the_bill():
    model = ScriptedModel(['a = double(21)\nb = fill_text(f"It is {a}.")\n'])
    outcome = Agent(tools=[double], model=model).run("double 21")
    assert (outcome.status, outcome.answer) == ("succeeded", "It is 42.")
    assert outcome.bill is not None
    assert outcome.bill.total.calls == 1


def test_prompt_of_a_simple_goal_is_short_and_names_the_tools_of_planloom():
    model = ScriptedModel(["a = double(21)"])
    Agent(tools=[double], model=model).run("How much is 21 doubled?")
    said = "\n".join(str(message) for message in model.requests[0].messages)
    assert len(said) < 4_000  # below 1,000 tokens
    assert "rank_categories" in said.rpartition("More tools, by name only:")[2]


def test_one_model_serves_several_runs_of_an_agent():
    agent = Agent(tools=[double], model=ScriptedModel(["a = double(1)\n", "a = double(2)\n"]))
    assert [agent.run("one").results["a"], agent.run("two").results["a"]] == [2, 4]


def test_a_failed_step_is_planned_anew_and_finished_work_is_kept():
    calls: list[str] = []

    @tool
    def fetch(name: str) -> str:
        """Fetch a text.

        Args:
            name: Its name.
        """
        calls.append(name)
        if name == "wrong":
            raise ValueError(name)
        return f"text of {name}"

    plans = [
        'a = fetch("right")\nb = fetch("wrong")\noutput(a, b)\n',
        'b = fetch("other")\noutput(a, b)\n',
    ]
    outcome = Agent(tools=[fetch], model=ScriptedModel(plans)).run("two texts")
    assert outcome.status == "succeeded"
    assert sorted(calls) == ["other", "right", "wrong"]
    assert outcome.results == {"a": "text of right", "b": "text of other"}


def test_agent_answers_a_question_with_its_tools():
    call = Reply(tool_calls=(ToolCall("1", "double", '{"number": 21}'),))
    answer = Agent(tools=[double], model=ScriptedModel([call, "42"])).ask("Twice 21?")
    assert (answer.text, answer.status, answer.stop_reason) == ("42", "succeeded", "answered")
    assert answer.evidence.is_file()
    assert answer.bill.total.calls == 2


def test_a_budget_of_an_agent_ends_its_run_with_what_was_made():
    plan = 'a = double(21)\nb = write_answer("what is it", [a])\noutput(a, b)\n'
    outcome = Agent(tools=[double], model=ScriptedModel([plan]), max_calls=1).run("double 21")
    assert outcome.status == "partial"
    assert outcome.results == {"a": 42}


def test_agent_without_model_and_planner_says_how_to_configure_one():
    with pytest.raises(ConfigError, match="PLANLOOM_MODEL"):
        Agent().run("anything")
    with pytest.raises(ConfigError, match="PLANLOOM_MODEL"):
        Agent().ask("anything")


def test_an_empty_goal_is_refused():
    with pytest.raises(InputError, match="empty"):
        Agent(model=ScriptedModel([])).run("  ")


# -- what a model is told of data


def _prompt(rows: int, folder: Path) -> str:
    path = folder / f"people{rows}.csv"
    lines = [f"{n % 300},person{n}@example.org,{n % 7}.5,North" for n in range(rows)]
    path.write_text("id,email,amount,region\n" + "\n".join(lines), encoding="utf-8")
    model = ScriptedModel(['a = rank_categories(data, "region", "amount")\n'])
    assert Agent(model=model).run("amount by region", files=[path]).status == "succeeded"
    (message,) = (m for m in model.requests[0].messages if isinstance(m, UserMessage))
    assert isinstance(message.content, str)
    return message.content


def test_a_model_sees_columns_and_figures_and_no_personal_cells(tmp_path: Path):
    small, large = _prompt(40, tmp_path), _prompt(4000, tmp_path)
    assert "data: cleaned table of 4,000 rows" in large
    assert '"amount": number, 0.5 to 6.5' in large
    assert "values withheld (personal data)" in large
    assert "example.org" not in large
    assert abs(len(large) - len(small)) < 60


def test_other_files_are_named_to_the_model(tmp_path: Path):
    (tmp_path / "notes.txt").write_text("hello", encoding="utf-8")
    model = ScriptedModel(['p = read_file("notes.txt")\nt = fill_text(f"{p.text}")\n'])
    outcome = Agent(model=model).run("what do the notes say", files=["notes.txt"])
    assert outcome.answer == "hello"
    (message,) = (m for m in model.requests[0].messages if isinstance(m, UserMessage))
    assert "notes.txt" in str(message.content)


class _Fixed:
    """A planner that remembers what it saw."""

    def __init__(self) -> None:
        self.views: list[TaskView] = []

    async def plan(self, view: TaskView, /) -> Plan | None:
        self.views.append(view)
        return Plan(steps=(Step(id="a", tool="t"),))


def _view(**changes: object) -> TaskView:
    def value(_step: str) -> object:
        raise KeyError

    view = TaskView(run="r", goal="g", epoch=1, plans=(), records=(), results={}, value=value)
    return replace(view, **changes)  # type: ignore[arg-type]


def test_without_data_files_the_other_planner_plans_at_once(tmp_path: Path):
    import asyncio

    (tmp_path / "a.txt").write_text("x")
    inner = _Fixed()
    planner = DataFirst(opened_files([tmp_path / "a.txt"]), lambda _: inner, lang="en")
    assert asyncio.run(planner.plan(_view())) is not None
    assert inner.views[0].epoch == 1


def test_dollars_in_a_file_name_are_no_references(tmp_path: Path):
    import asyncio

    path = tmp_path / "a $load.csv"
    planner = DataFirst(opened_files([path]), lambda _: _Fixed(), lang="en")
    plan = asyncio.run(planner.plan(_view()))
    assert plan is not None
    assert plan.step("source").references == ()


# -- what is handed out


def _file(folder: Path, name: str, text: str) -> FileRef:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return FileRef(path=str(path), media_type="text/plain", size=len(text),
                   sha256=file_sha256(path))  # fmt: skip


def test_files_are_copied_beside_what_is_there_already(tmp_path: Path):
    run = tmp_path / "run"
    ref = _file(run, "steps/a.txt", "new")
    out = tmp_path / "out"
    _file(out, "a.txt", "mine")
    (path,) = hand_out({"a": ref}, ArtifactStore(run), out)
    assert (out / "a.txt").read_text() == "mine"
    assert (path.name, path.read_text()) == ("a-2.txt", "new")


def test_no_folder_is_made_where_there_are_no_files(tmp_path: Path):
    assert hand_out({"a": "text"}, ArtifactStore(tmp_path), tmp_path / "out") == ()
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path):
    ref = _file(tmp_path / "run", "a.txt", "x")
    (tmp_path / "out").write_text("a file")
    with pytest.raises(InputError, match="--out"):
        hand_out({"a": ref}, ArtifactStore(tmp_path / "run"), tmp_path / "out")


def test_the_answer_holds_texts_and_small_data_only(tmp_path: Path):
    ref = _file(tmp_path, "a.txt", "x")
    assert answer_text({"a": "Yes.", "b": 3, "c": ref, "d": None}) == "Yes.\n3"
