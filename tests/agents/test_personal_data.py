"""Personal data in files stays here unless the user agrees; users see it all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from planloom import Agent, ScriptedModel
from planloom.events import Event
from planloom.models.chat_model import Reply
from planloom.models.messages import ToolCall

NAMES = ("Ann Lee", "Bob Stone", "Cyril Young")
ROWS = "\n".join(
    f"O{n},{name},{name[:3].lower()}@example.org,1380013800{n},Berlin,{n + 1}0"
    for n, name in enumerate(NAMES)
)
PRIVATE = (*NAMES, "@example.org", "13800138")
CHINESE = "订单号,姓名,手机号,城市,金额\nA1,王芳,13911112222,杭州,10\nA2,李伟,13911113333,上海,30\n"


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANLOOM_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(f"order_id,customer_name,email,phone,city,amount\n{ROWS}\n", encoding="utf-8")
    return path


def sent(model: ScriptedModel) -> str:
    """All that a model was shown."""
    return "\n".join(str(message) for call in model.requests for message in call.messages)


def notices(events: list[Event]) -> list[str]:
    return [str(event.data["text"]) for event in events if "text" in event.data]


def read_first(path: Path, answer: str) -> ScriptedModel:
    call = ToolCall("1", "read_csv_file", f'{{"path": "{path}"}}')
    return ScriptedModel([Reply(tool_calls=(call,)), answer])


def test_ask_shows_stand_ins_to_the_model_and_values_to_the_user(people: Path):
    model = read_first(people, "‹name 3› at ‹mail 3›")
    events: list[Event] = []
    answer = Agent(model=model).ask("Who spent most?", files=[people], sinks=[events.append])
    assert answer.text == "Cyril Young at cyr@example.org"
    assert not [part for part in PRIVATE if part in sent(model)]
    assert "Berlin" in sent(model)
    told = [text for text in notices(events) if "customer_name" in text]
    assert len(told) == 1
    assert "email" in told[0]


def test_chinese_tables_are_masked_too(tmp_path: Path):
    path = tmp_path / "人员.csv"
    path.write_text(CHINESE, encoding="utf-8")
    model = read_first(path, "‹name 2›")
    assert Agent(model=model).ask("谁的金额最高？", files=[path]).text == "李伟"
    assert not [part for part in ("王芳", "李伟", "139111") if part in sent(model)]
    assert "杭州" in sent(model)


def test_a_model_may_filter_by_a_stand_in(people: Path):
    read = ToolCall("1", "read_csv_file", f'{{"path": "{people}"}}')
    rows = ToolCall("2", "filter_rows", (
        '{"table": "$c1", "conditions": [{"column": "customer_name", "op": "=", '
        '"value": "‹name 2›"}]}'))  # fmt: skip
    model = ScriptedModel([Reply(tool_calls=(read,)), Reply(tool_calls=(rows,)), "20"])
    Agent(model=model).ask("What did they spend?", files=[people])
    assert "Bob Stone" not in sent(model)


def test_agreed_values_are_sent(people: Path):
    model = read_first(people, "Cyril Young")
    Agent(model=model, send_personal_data=True).ask("Who spent most?", files=[people])
    assert "Cyril Young" in sent(model)


def test_run_shows_stand_ins_to_the_model_that_answers(people: Path):
    plan = 'a = write_answer("Who spent most?", [data])'
    model = ScriptedModel([plan, "It was ‹name 3›."])
    outcome = Agent(model=model).run("Who spent most?", files=[people])
    assert outcome.answer.strip() == "It was Cyril Young."
    assert not [part for part in PRIVATE if part in sent(model)]


def test_replanning_shows_stand_ins(people: Path):
    model = ScriptedModel([
        f'n = read_csv_file("{people}")\nf = read_file("/nowhere/{NAMES[0]}.txt")',
        'a = write_answer("Who?", [n])',
        "‹name 1›",
    ])  # fmt: skip
    outcome = Agent(model=model).run("Who spent least?", files=[people])
    replanning = "\n".join(str(message) for message in model.requests[1].messages[3:])
    assert "‹name 1›" in replanning
    assert not [part for part in PRIVATE if part in replanning]
    assert "Ann Lee" in outcome.answer
