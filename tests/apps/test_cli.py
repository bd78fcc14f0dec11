"""The command line as a user's shell sees it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from planloom import __version__
from planloom.apps.chinese import CHINESE
from planloom.apps.cli import app

PLANLOOM = [sys.executable, "-c", "from planloom.apps.cli import main; main()"]


def run(*arguments: str, cwd: Path, lang: str = "C") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "LC_ALL": lang, "PLANLOOM_HOME": str(cwd / "home")}
    return subprocess.run(
        [*PLANLOOM, *arguments], cwd=cwd, env=environment, capture_output=True, check=False,
        encoding="utf-8", timeout=120,
    )  # fmt: skip


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "sales.csv"
    rows = [f"2024-{month:02d}-11,{shop},{month * 10}" for month in range(1, 9) for shop in "AB"]
    path.write_text("day,shop,amount\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def _help_texts(command: Any) -> Iterator[str]:
    for part in (command, *command.params):
        if text := getattr(part, "help", None):
            yield text
    for inner in getattr(command, "commands", {}).values():
        yield from _help_texts(inner)


def test_every_help_text_has_a_chinese_one():
    missing = [text for text in _help_texts(get_command(app)) if text not in CHINESE]
    assert missing == []


def test_version(tmp_path: Path):
    done = run("--version", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"planloom {__version__}\n")


def test_help_speaks_the_language_of_the_locale(tmp_path: Path):
    assert "Data files." in run("report", "--help", cwd=tmp_path).stdout
    assert "数据文件。" in run("report", "--help", cwd=tmp_path, lang="zh_CN.UTF-8").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("reprt",), "Did you mean 'report'"),
        (("report",), "FILE"),
        (("report", "sales.csv", "--lang", "fr"), "fr"),
        (("report", "sales.csv", "--format", "pdf"), "'pdf'"),
        (("profile",), "FILE"),
    ],
)
def test_wrong_use_exits_2_with_a_hint(arguments: tuple[str, ...], message: str, data: Path):
    done = run(*arguments, cwd=data.parent)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["report", "profile"])
def test_missing_file_exits_2_and_says_so(command: str, tmp_path: Path):
    done = run(command, "nowhere.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert "nowhere.csv" in done.stderr
    assert "Traceback" not in done.stderr


def test_error_speaks_chinese_in_a_chinese_locale(tmp_path: Path):
    assert "不存在" in run("report", "nowhere.csv", cwd=tmp_path, lang="zh_CN.UTF-8").stderr


def test_report_prints_its_path_alone_and_progress_on_stderr(data: Path):
    done = run("report", str(data), "--goal", "amount by shop", "--out", "r", cwd=data.parent)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(data.parent / "r" / "report.html")
    assert Path(done.stdout.strip()).is_file()
    assert "done: Read sales.csv" in done.stderr


def test_quiet_shows_no_progress(data: Path):
    done = run("report", str(data), "-g", "overview", "-q", "--out", "r", cwd=data.parent)
    assert (done.returncode, done.stderr) == (0, "")


def test_json_prints_the_lines_of_the_event_file(data: Path):
    done = run("report", str(data), "-g", "overview", "--json", "--out", "r", cwd=data.parent)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert {event["schema"] for event in events} == {1}
    assert events[-1]["kind"] == "run_ended"
    assert events[-1]["status"] == "succeeded"
    log = data.parent / "home" / "runs" / events[0]["run"] / "events.jsonl"
    assert log.read_text(encoding="utf-8") == done.stdout
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", event["time"]) for event in events)


def test_default_folder_of_a_report_names_the_run(data: Path):
    done = run("report", str(data), "-g", "overview", "-q", cwd=data.parent)
    assert re.fullmatch(
        r"report-\d{8}-\d{6}-\d{3}-[0-9a-f]+", Path(done.stdout.strip()).parent.name
    )


def test_profile_json_keeps_its_contract(data: Path):
    done = run("profile", str(data), "--json", cwd=data.parent)
    profile = json.loads(done.stdout)
    assert (profile["schema"], profile["file"], profile["delimiter"]) == (1, "sales.csv", ",")
    table = profile["tables"][0]
    assert {"name", "rows_in", "rows_kept", "rows_rejected", "header", "columns", "decisions",
            "traps"} <= set(table)  # fmt: skip
    assert (table["rows_in"], table["rows_kept"], table["rows_rejected"]) == (16, 16, 0)
    assert table["header"] == ["day", "shop", "amount"]
    amount = table["columns"][2]
    assert (amount["name"], amount["missing"], amount["distinct"]) == ("amount", 0, 8)
    assert (amount["min"], amount["max"], amount["mean"]) == (10, 80, 45)


def test_profile_of_an_unreadable_file_exits_1(tmp_path: Path):
    (tmp_path / "empty.csv").write_bytes(b"")
    done = run("profile", "empty.csv", "--json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "empty" in done.stderr


def test_tools_lists_the_seven_known_names_with_effect(tmp_path: Path):
    listed = json.loads(run("tools", "--json", cwd=tmp_path).stdout)
    effects = {tool["name"]: tool["effect"] for tool in listed["tools"]}
    assert effects["read_csv_file"] == "read"
    assert effects["save_report"] == "write"
    assert {"get_data_summary", "clean_data", "perform_analysis", "create_visualization",
            "write_markdown_report"} <= set(effects)  # fmt: skip
    assert listed["unavailable"] == []
    text = run("tools", cwd=tmp_path).stdout
    assert re.search(r"read_csv_file +read +ready", text)


def test_doctor_names_packages_fonts_and_origins(tmp_path: Path):
    (tmp_path / "planloom.toml").write_text("max_iterations = 7\n")
    done = run("doctor", "--json", cwd=tmp_path)
    found = json.loads(done.stdout)
    assert done.returncode == 0, done.stdout
    assert {check["group"] for check in found["checks"]} == {
        "system", "packages", "toolsets", "fonts"}  # fmt: skip
    settings = {s["name"]: (s["value"], s["origin"]) for s in found["settings"]}
    assert settings["max_iterations"] == ("7", "planloom.toml")
    assert settings["home"][1] == "environment"
    assert "duckdb" in run("doctor", cwd=tmp_path).stdout


def test_doctor_hides_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PLANLOOM_API_KEY", "sk-very-secret")
    for option in ((), ("--json",)):
        assert "sk-very-secret" not in run("doctor", *option, cwd=tmp_path).stdout


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_ctrl_c_leaves_a_truthful_record_and_exits_130(data: Path):
    environment = {**os.environ, "LC_ALL": "C", "PLANLOOM_HOME": str(data.parent / "home")}
    command = [*PLANLOOM, "report", str(data), "-g", "amount by shop", "--json", "--out", "r"]
    with subprocess.Popen(
        command, cwd=data.parent, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:  # fmt: skip
        assert process.stdout
        for line in process.stdout:
            if json.loads(line).get("state") == "running":
                process.send_signal(signal.SIGINT)
                break
        rest = process.stdout.read()
        assert process.wait(timeout=60) == 130
    assert not (data.parent / "r").exists()
    last = json.loads(rest.splitlines()[-1])
    assert (last["kind"], last["status"]) == ("run_ended", "cancelled")
    (task,) = (data.parent / "home" / "runs").glob("*/task.json")
    assert json.loads(task.read_text(encoding="utf-8"))["status"] == "cancelled"


def test_unwritable_target_is_refused_before_any_work(data: Path):
    (data.parent / "file").write_text("x")
    done = run("report", str(data), "--out", "file/r", cwd=data.parent)
    assert done.returncode == 1
    assert "is a file" in done.stderr
    assert not (data.parent / "home").exists()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.csv", b"", "空文件"),
        ("picture.csv", b"\x89PNG\r\n\x1a\n" + bytes(64), "不是数据文件"),
        ("damaged.xlsx", b"PK\x03\x04" + bytes(64), "损坏"),
        ("broken.parquet", b"PAR1" + bytes(64), "损坏的 Parquet"),
    ],
)
def test_bad_file_is_told_in_chinese(name: str, content: bytes, words: str, tmp_path: Path):
    (tmp_path / name).write_bytes(content)
    done = run("profile", name, cwd=tmp_path, lang="zh_CN.UTF-8")
    assert done.returncode == 1
    assert words in done.stderr
    assert "read_parquet" not in done.stderr
