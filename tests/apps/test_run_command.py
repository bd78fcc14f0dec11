"""`planloom run` and `planloom ask` as a user's shell sees them, with a scripted model."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from planloom.apps.cli import main

PLANLOOM = [sys.executable, "-c", "from planloom.apps.cli import main; main()"]
MODEL_VARIABLES = ("PLANLOOM_MODEL", "PLANLOOM_BASE_URL", "PLANLOOM_API_KEY", "OPENAI_BASE_URL",
                   "OPENAI_API_KEY")  # fmt: skip

PLAN = 't = rank_categories(data, "shop", "amount")\nw = write_answer("the best shop", [t])\n'
NOTES_PLAN = 'p = read_file("notes.txt")\nw = write_answer("the best shop", [p.text])\n'
FILE_PLAN = 'f = write_file("best.md", "Shop B.")\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [f"2024-{month:02d}-11,{shop},{month * 10}" for month in range(1, 9) for shop in "AB"]
    (tmp_path / "sales.csv").write_text(
        "day,shop,amount\n" + "\n".join(rows) + "\n2024-09-11,B,500\n", encoding="utf-8"
    )
    (tmp_path / "notes.txt").write_text("Shop A sold 360, shop B 860.\n", encoding="utf-8")
    return tmp_path


def _environment(folder: Path, script: list[object] | None, lang: str) -> dict[str, str]:
    environment = {"LC_ALL": lang, "PLANLOOM_HOME": str(folder / "home"),
                   "PLANLOOM_RATE_LIMIT_RETRY_MAX": "0"}  # fmt: skip
    if script is not None:
        lines = (json.dumps({"text": s} if isinstance(s, str) else s) for s in script)
        (folder / "script.jsonl").write_text("\n".join(lines), encoding="utf-8")
        environment["PLANLOOM_MODEL"] = f"scripted:{folder / 'script.jsonl'}"
    return environment


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


class Shell:
    """Runs commands in this process, through the function that the entry point calls."""

    def __init__(self, patch: pytest.MonkeyPatch, output: pytest.CaptureFixture[str]):
        self._patch = patch
        self._output = output

    def __call__(
        self, folder: Path, script: list[object] | None, *arguments: str, lang: str = "C"
    ) -> Done:
        self._patch.chdir(folder)
        for name in MODEL_VARIABLES:
            self._patch.delenv(name, raising=False)
        for name, value in _environment(folder, script, lang).items():
            self._patch.setenv(name, value)
        self._patch.setattr(sys, "argv", ["planloom", *arguments])
        self._output.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        said = self._output.readouterr()
        return Done(int(ended.value.code or 0), said.out, said.err)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capsys)


def _task(folder: Path) -> dict[str, object]:
    (path,) = (folder / "home" / "runs").glob("*/task.json")
    return json.loads(path.read_text(encoding="utf-8"))


# -- without a model


@pytest.mark.parametrize("command", ["run", "ask"])
@pytest.mark.parametrize(
    ("lang", "words"), [("C", "none is configured"), ("zh_CN.UTF-8", "尚未配置")]
)
def test_without_a_model_it_says_how_to_configure_one(
    run: Shell, command: str, lang: str, words: str, folder: Path
):
    done = run(folder, None, command, "anything", lang=lang)
    assert done.returncode == 2
    assert words in done.stderr
    assert all(name in done.stderr for name in ("OpenAI", "DeepSeek", "Qwen", "Ollama"))
    assert "planloom report" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "home").exists()


# -- run


def test_run_prints_the_answer_alone_and_progress_and_bill_on_stderr(run: Shell, folder: Path):
    done = run(folder, [PLAN, "Shop B sells most."], "run", "Which shop is best?", "sales.csv")
    assert (done.returncode, done.stdout) == (0, "Shop B sells most.\n"), done.stderr
    assert "done: Read sales.csv" in done.stderr
    assert "Model use: 2 calls" in done.stderr
    assert not list(folder.glob("run-*"))


def test_run_in_chinese(run: Shell, folder: Path):
    done = run(folder, [NOTES_PLAN, "B 店销售额最高。"], "run", "哪个门店最好？", "notes.txt",
               lang="zh_CN.UTF-8")  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "B 店销售额最高。\n"), done.stderr
    assert "完成：p" in done.stderr
    assert "模型用量：2 次调用" in done.stderr


def test_files_that_were_made_are_copied_and_their_paths_printed(run: Shell, folder: Path):
    done = run(folder, [FILE_PLAN], "run", "a note of the best shop", "--out", "made")
    assert done.returncode == 0, done.stderr
    (path,) = map(Path, done.stdout.split())
    assert path == folder / "made" / "best.md"
    assert path.read_text(encoding="utf-8") == "Shop B."


def test_json_prints_event_lines_only_with_the_bill_before_the_end(run: Shell, folder: Path):
    done = run(folder, [NOTES_PLAN, "B."], "run", "best shop?", "notes.txt", "--json")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = [event["kind"] for event in events]
    assert kinds[0] == "run_started"
    assert kinds[-2:] == ["budget", "run_ended"]
    assert events[-2]["bill"]["total"]["calls"] == 2
    assert kinds.count("model_call") == 2
    log = folder / "home" / "runs" / events[0]["run"] / "events.jsonl"
    assert log.read_text(encoding="utf-8") == done.stdout


def test_plan_only_prints_lines_and_runs_nothing_of_the_plan(run: Shell, folder: Path):
    plan = 'f = write_file("a.txt", "hello")\n'
    done = run(folder, [plan], "run", "write a file", "--plan-only")
    assert (done.returncode, done.stdout) == (0, 'f = write_file("a.txt", "hello")\n')
    assert not list((folder / "home").rglob("a.txt"))
    assert _task(folder)["records"] == []


def test_a_plan_that_needs_approval_waits_where_nobody_can_be_asked(run: Shell, folder: Path):
    plan = 'f = write_file("a.txt", "hello")\n'
    done = run(folder, [plan], "run", "write a file", "--approve-plan")
    assert done.returncode == 4
    assert "write_file" in done.stdout
    assert "at a terminal" in done.stderr
    assert _task(folder)["status"] == "waiting"
    assert not list((folder / "home").rglob("a.txt"))


def test_a_budget_that_runs_out_leaves_a_part_with_its_bill(run: Shell, folder: Path):
    plan = f'{FILE_PLAN}w = write_answer("why", [f])\noutput(f, w)\n'
    done = run(folder, [plan], "run", "best shop, and why", "--max-calls", "1", "--out", "made")
    assert done.returncode == 3, done.stderr
    assert (folder / "made" / "best.md").is_file()
    assert "Model use: 1 call" in done.stderr
    assert "Only a part" in done.stderr


def test_what_was_made_before_the_budget_ran_out_is_told_with_its_place(run: Shell, folder: Path):
    done = run(folder, [PLAN], "run", "best shop?", "sales.csv", "--max-calls", "1")
    assert done.returncode == 3, done.stderr
    assert _task(folder)["status"] == "partial"
    kept = re.findall(r"Kept: (\w+) \(\w+\): (.*)", done.stderr)
    assert {"data", "t"} <= {step for step, _ in kept}
    assert all(Path(path).exists() for _, paths in kept for path in paths.split(", "))


def test_a_limit_in_chinese(run: Shell, folder: Path):
    done = run(folder, [PLAN], "run", "哪个门店最好？", "sales.csv", "--max-calls", "1",
               lang="zh_CN.UTF-8")  # fmt: skip
    assert done.returncode == 3, done.stderr
    assert "已保留：t (rank_categories)" in done.stderr
    assert "仅完成了一部分" in done.stderr


def test_plans_that_never_pass_are_told_by_their_first_problem(run: Shell, folder: Path):
    bad = "".join(f'x{n} = no_tool_{n}("a")\n' for n in range(9))
    done = run(folder, [bad] * 4, "run", "goal")
    assert done.returncode == 1
    assert "more problems: see events.jsonl" in done.stderr
    assert sum("no_tool" in line for line in done.stderr.splitlines()) <= 1


def test_a_broken_model_ends_with_its_words_and_a_truthful_record(run: Shell, folder: Path):
    done = run(folder, [{"error": "The model 'x' does not exist."}], "run", "goal")
    assert done.returncode == 1
    assert "does not exist" in done.stderr
    assert "Traceback" not in done.stderr
    assert _task(folder)["status"] == "failed"


@pytest.mark.parametrize("command", ["run", "ask"])
def test_a_closed_server_is_told_and_leaves_a_truthful_record(
    command: str, run: Shell, folder: Path
):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    address = f"http://127.0.0.1:{port}/v1"
    done = run(folder, [], command, "goal", "--model", "some-model", "--base-url", address)
    assert done.returncode == 1
    assert str(port) in done.stderr
    assert "Traceback" not in done.stderr
    assert _task(folder)["status"] == "failed"


def test_an_unreadable_data_file_makes_the_run_partial(run: Shell, folder: Path):
    (folder / "empty.csv").write_bytes(b"")
    plan = 't = rank_categories(data1, "shop", "amount")\nw = write_answer("best", [t])\n'
    done = run(folder, [plan, "B."], "run", "best shop?", "sales.csv", "empty.csv")
    assert (done.returncode, done.stdout) == (3, "B.\n"), done.stderr
    assert "empty.csv" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--max-time", "soon"), "--max-time is 'soon'"),
        (("--max-tokens", "0"), "above 0"),
        (("--max-cost", "nan"), "--max-cost is nan"),
        (("--allow", "everything"), "no such effect"),
        (("--plan-format", "xml"), "xml"),
    ],
)
def test_wrong_options_exit_2(run: Shell, arguments: tuple[str, ...], words: str, folder: Path):
    done = run(folder, [PLAN], "run", "goal", *arguments)
    assert done.returncode == 2
    assert words in done.stderr


@pytest.mark.parametrize("command", ["run", "ask"])
def test_an_empty_goal_and_a_missing_file_are_refused(run: Shell, command: str, folder: Path):
    assert run(folder, [PLAN], command, "  ").returncode == 2
    done = run(folder, [PLAN], command, "goal", "sale.csv")
    assert done.returncode == 2
    assert "Did you mean 'sales.csv'" in done.stderr


# -- ask

LOOK = {"text": "I look.", "tool_calls": [
    {"name": "read_file", "arguments": {"path": "notes.txt"}}]}  # fmt: skip
SEARCH = {"tool_calls": [{"name": "search_in_files", "arguments": {"query": "shop"}}]}


def test_ask_prints_the_answer_alone_and_keeps_its_evidence(run: Shell, folder: Path):
    done = run(folder, [LOOK, SEARCH, "B"], "ask", "Which shop sells most?", "notes.txt")
    assert (done.returncode, done.stdout) == (0, "B\n"), done.stderr
    assert "called read_file" in done.stderr
    (path,) = (folder / "home" / "runs").glob("*/evidence.json")
    evidence = json.loads(path.read_text(encoding="utf-8"))
    assert (evidence["answer"], evidence["stop_reason"]) == ("B", "answered")
    assert evidence["question"] == "Which shop sells most?"
    assert str(folder / "notes.txt") in evidence["sources"]
    calls = [action["tool"] for turn in evidence["trajectory"] for action in turn["actions"]]
    assert calls == ["read_file", "search_in_files"]


def test_ask_shows_its_work_on_request(run: Shell, folder: Path):
    done = run(folder, [LOOK, "B"], "ask", "Which shop?", "notes.txt", "--show-work", "-q")
    assert done.stdout == "B\n"
    assert "I look." in done.stderr
    assert "> read_file" in done.stderr


def test_ask_in_chinese(run: Shell, folder: Path):
    done = run(folder, [LOOK, "B 店"], "ask", "哪个门店卖得最多？", "notes.txt", lang="zh_CN.UTF-8")
    assert (done.returncode, done.stdout) == (0, "B 店\n"), done.stderr
    assert "已调用 read_file" in done.stderr


def test_a_forced_answer_is_partial(run: Shell, folder: Path):
    done = run(folder, [LOOK, "B, I think"], "ask", "Which shop?", "notes.txt",
               "--max-iterations", "2")  # fmt: skip
    assert (done.returncode, done.stdout) == (3, "B, I think\n"), done.stderr
    assert "limit of 2" in done.stderr


def test_no_answer_at_all_is_a_failure(run: Shell, folder: Path):
    done = run(folder, [{"error": "refused"}], "ask", "Which shop?")
    assert (done.returncode, done.stdout) == (1, "")
    assert "refused" in done.stderr


def test_what_was_found_before_the_budget_ran_out_is_no_answer(run: Shell, folder: Path):
    done = run(folder, [LOOK, SEARCH, "B"], "ask", "Which shop?", "notes.txt", "--max-calls", "2")
    assert (done.returncode, done.stdout) == (3, ""), done.stderr
    assert "No answer was given" in done.stderr


# -- interruption and doctor


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_ctrl_c_leaves_a_truthful_record_and_says_where(folder: Path):
    command = [*PLANLOOM, "run", "best shop?", "sales.csv", "--json"]
    with subprocess.Popen(
        command, cwd=folder, env={**os.environ, **_environment(folder, [PLAN], "C")},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
    ) as process:  # fmt: skip
        assert process.stdout
        assert process.stderr
        for line in process.stdout:
            if json.loads(line).get("state") == "running":
                process.send_signal(signal.SIGINT)
                break
        process.stdout.read()
        said = process.stderr.read()
        assert process.wait(timeout=60) == 130
    task = _task(folder)
    assert task["status"] == "cancelled"
    assert re.search(r"Cancelled\..*runs", said)


def test_doctor_tries_the_configured_model(run: Shell, folder: Path):
    script: list[object] = [{"tool_calls": [{"name": "report", "arguments": {"word": "ready"}}]}]
    done = run(folder, script, "doctor", "--check-model")
    assert done.returncode == 0, done.stdout
    assert "makes native tool calls" in done.stdout


def test_doctor_says_what_a_broken_model_said(run: Shell, folder: Path):
    done = run(folder, [{"error": "no such model"}], "doctor", "--check-model", "--json")
    assert done.returncode == 1
    (check,) = [c for c in json.loads(done.stdout)["checks"] if c["group"] == "model"]
    assert (check["ok"], check["mend"]) == (False, "no such model")


ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("readme", ["README.md", "README.zh-CN.md"])
def test_the_offline_demonstrations_of_the_readme_run(readme: str, run: Shell, folder: Path):
    text = (ROOT / readme).read_text(encoding="utf-8")
    commands = re.findall(r"^planloom ((?:run|ask) .*scripted:.*)$", text, re.MULTILINE)
    assert len(commands) == 2
    shutil.copytree(ROOT / "examples", folder / "examples")
    for command in commands:
        done = run(folder, None, *shlex.split(command))
        assert done.returncode == 0, done.stderr
        assert "Hand Grinder" in done.stdout or "紫砂壶" in done.stdout


def test_a_small_model_fills_in_forms_and_the_run_makes_a_report(run: Shell, folder: Path):
    share = {"analysis": "share", "group": "shop", "measure": "sum(amount)"}
    chosen = {"analyses": [share], "rows": []}
    script: list[object] = [json.dumps(chosen)] * 4
    done = run(folder, script, "run", "share of the shops", "sales.csv", "--out", "made",
               "--plan-format", "constrained", "-q")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(folder / "made" / "report.html")
    assert "chart.png" not in {path.name for path in (folder / "made").iterdir()}


@pytest.mark.parametrize("command", ["report", "run"])
def test_a_model_that_gives_no_choice_is_told_also_when_quiet(
    run: Shell, command: str, folder: Path
):
    goal = ["--goal", "share of the shops", "sales.csv"]
    own = ["share of the shops", "sales.csv", "--plan-format", "constrained"]
    script: list[object] = [{"error": "refused the key"}] * 4
    done = run(folder, script, command, *(goal if command == "report" else own), "-q")
    assert done.returncode == 0, done.stderr
    assert "refused the key" in done.stderr
    assert "rules chose" in done.stderr


def test_a_file_that_a_question_made_is_told_with_its_place(run: Shell, folder: Path):
    write = {"name": "write_file", "arguments": {"path": "note.txt", "text": "hello"}}
    done = run(folder, [{"tool_calls": [write]}, "Written."], "ask", "Write hello to a file")
    assert done.stdout == "Written.\n"
    (made,) = [line for line in done.stderr.splitlines() if line.startswith("Made: ")]
    assert Path(made.removeprefix("Made: ")).read_text(encoding="utf-8") == "hello"


def test_a_failed_question_is_told_once(run: Shell, folder: Path):
    done = run(folder, [{"error": "refused the key"}] * 4, "ask", "Where?")
    assert done.returncode == 1
    assert done.stderr.count("refused the key") == 1


def test_constrained_plans_need_a_table(run: Shell, folder: Path):
    done = run(folder, [], "run", "goal", "notes.txt", "--plan-format", "constrained")
    assert done.returncode == 2
    assert "no data file" in done.stderr


def test_personal_data_is_told_before_the_model_plans(run: Shell, folder: Path):
    (folder / "people.csv").write_text(
        "email,amount\n" + "\n".join(f"p{n}@example.org,{n}" for n in range(20)), encoding="utf-8"
    )
    done = run(folder, ['t = fill_text("done")\n'], "run", "count them", "people.csv")
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    assert "personal data (email)" in done.stderr


def test_limits_come_from_the_environment_too(
    run: Shell, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PLANLOOM_MAX_CALLS", "1")
    done = run(folder, [NOTES_PLAN, "B."], "run", "best shop?", "notes.txt")
    assert done.returncode == 3, done.stderr
    assert "Model use: 1 call," in done.stderr
    done = run(folder, [NOTES_PLAN, "B."], "run", "best shop?", "notes.txt", "--max-calls", "2")
    assert (done.returncode, done.stdout) == (0, "B.\n"), done.stderr


def test_a_target_that_is_a_file_is_refused_before_the_model_is_paid(run: Shell, folder: Path):
    (folder / "taken").write_text("x", encoding="utf-8")
    done = run(folder, [FILE_PLAN], "run", "a note", "--out", "taken")
    assert done.returncode == 2
    assert "is a file" in done.stderr
    assert not (folder / "home").exists()


def test_a_chinese_goal_is_spoken_to_in_chinese_in_any_locale(run: Shell, folder: Path):
    done = run(folder, [NOTES_PLAN, "B 店。"], "run", "哪个门店最好？", "notes.txt")
    assert (done.returncode, done.stdout) == (0, "B 店。\n"), done.stderr
    assert "完成：p" in done.stderr
    assert "模型用量" in done.stderr
    assert "done" not in done.stderr
