"""The report agent end to end, on small files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from planloom.agents.report import ReportOutcome, report
from planloom.analysis.numbers.checking import unsourced_numbers
from planloom.errors import ConfigError, InputError
from planloom.events import Event
from planloom.notes import Note
from planloom.values import Fact

GOAL = "monthly trend of amount and the share of each store"
FILES = {"report.html", "report.md", "facts.json", "cleaned.parquet", "cleaned.csv", "reproduce.py"}


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANLOOM_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def english(orders: Path, tmp_path_factory: pytest.TempPathFactory) -> ReportOutcome:
    return _made(orders, GOAL, tmp_path_factory.mktemp("english"))


@pytest.fixture(scope="module")
def chinese(chinese_orders: Path, tmp_path_factory: pytest.TempPathFactory) -> ReportOutcome:
    return _made(chinese_orders, "各月金额走势和各门店占比", tmp_path_factory.mktemp("chinese"))


def _made(source: Path, goal: str, folder: Path) -> ReportOutcome:
    os.environ["PLANLOOM_HOME"] = str(folder / "home")
    return report(source, goal, out=folder / "report")


def _folder(outcome: ReportOutcome) -> Path:
    assert outcome.folder is not None
    return outcome.folder


def _facts(outcome: ReportOutcome) -> list[dict[str, object]]:
    text = (_folder(outcome) / "facts.json").read_text(encoding="utf-8")
    return json.loads(text)["facts"]


@pytest.mark.parametrize("language", ["english", "chinese"])
def test_report_has_all_its_files(language: str, request: pytest.FixtureRequest):
    outcome: ReportOutcome = request.getfixturevalue(language)
    assert outcome.status == "succeeded"
    assert {path.name for path in _folder(outcome).iterdir()} == {*FILES, "images"}
    pictures = sorted((_folder(outcome) / "images").iterdir())
    assert len(pictures) == 2
    assert all(picture.read_bytes().startswith(b"\x89PNG") for picture in pictures)


@pytest.mark.parametrize("language", ["english", "chinese"])
def test_reproduction_agrees_and_notices_a_changed_fact(
    language: str, request: pytest.FixtureRequest, tmp_path: Path
):
    outcome: ReportOutcome = request.getfixturevalue(language)
    folder = shutil.copytree(_folder(outcome), tmp_path / "copy")
    assert _reproduce(folder).returncode == 0

    record = json.loads((folder / "facts.json").read_text(encoding="utf-8"))
    changed = next(fact for fact in record["facts"] if fact["unit"] == "%")
    changed["value"] += 1
    (folder / "facts.json").write_text(json.dumps(record), encoding="utf-8")
    failed = _reproduce(folder)
    assert failed.returncode == 1
    assert changed["id"] in failed.stderr


def test_reproduction_refuses_another_source_file(english: ReportOutcome, tmp_path: Path):
    other = tmp_path / "orders.csv"
    other.write_text("order_id,amount\n1,2\n", encoding="utf-8")
    failed = _reproduce(_folder(english), str(other))
    assert failed.returncode == 1
    assert "sha256 differs" in failed.stderr


def _reproduce(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(folder / "reproduce.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)


def test_total_and_duplicate_are_set_aside_and_counted(english: ReportOutcome):
    facts = {fact["id"]: fact["value"] for fact in _facts(english)}
    assert facts["rows.1.read"] == 303
    assert facts["rows.1.rejected"] == 1
    assert facts["rows.removed"] == 2
    assert facts["rows.analysed"] == 300


def test_total_of_the_report_is_that_of_the_orders(english: ReportOutcome, orders: Path):
    lines = orders.read_text(encoding="utf-8").splitlines()[1:301]
    total = round(sum(float(line.split(",")[3]) for line in lines), 2)
    values = [fact["value"] for fact in _facts(english) if isinstance(fact["value"], float)]
    assert any(abs(value - total) < 0.005 for value in values)


@pytest.mark.parametrize("language", ["english", "chinese"])
def test_a_changed_number_in_the_text_is_found(language: str, request: pytest.FixtureRequest):
    outcome: ReportOutcome = request.getfixturevalue(language)
    text = (_folder(outcome) / "report.md").read_text(encoding="utf-8")
    lang = "en" if language == "english" else "zh"
    facts = [
        Fact(
            id=str(f["id"]), label=Note.same(str(f["label"])), value=f["value"],
            unit=str(f["unit"]), query="", table="", rows=0,
        )
        for f in _facts(outcome)
    ]  # fmt: skip
    shown = next(
        str(f["shown"]) for f in _facts(outcome) if f["unit"] == "%" and f["shown"] in text
    )
    wrong = text.replace(shown, "987.6%", 1)
    found = unsourced_numbers(wrong, facts=facts, lang=lang)
    assert any(unsourced.numeral.text == "987.6%" for unsourced in found)


def test_same_input_gives_the_same_report(english: ReportOutcome, orders: Path, tmp_path: Path):
    again = report(orders, GOAL, out=tmp_path / "again")
    for name in ("report.html", "report.md", "facts.json", "cleaned.csv"):
        assert (_folder(again) / name).read_bytes() == (_folder(english) / name).read_bytes()


def test_source_is_not_touched_and_its_hash_is_in_the_report(english: ReportOutcome, orders: Path):
    from planloom.values import file_sha256

    assert file_sha256(orders) in (_folder(english) / "report.html").read_text(encoding="utf-8")


def test_language_follows_the_goal_and_can_be_chosen(
    chinese: ReportOutcome, orders: Path, tmp_path: Path
):
    assert "主要发现" in (_folder(chinese) / "report.md").read_text(encoding="utf-8")
    other = report(orders, GOAL, out=tmp_path / "zh", lang="zh", formats=["md"])
    assert "主要发现" in (_folder(other) / "report.md").read_text(encoding="utf-8")
    assert not (_folder(other) / "report.html").exists()


def test_events_tell_the_run_in_order(orders: Path, tmp_path: Path):
    events: list[Event] = []
    outcome = report(orders, "overview", out=tmp_path / "r", sinks=[events.append])
    kinds = [event.kind for event in events]
    assert kinds[0] == "run_started"
    assert kinds[-1] == "run_ended"
    assert kinds.count("plan") == 2
    lines = (outcome.run_folder / "events.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["kind"] for line in lines] == kinds


def test_unknown_column_is_said_with_the_nearest_and_not_guessed(orders: Path, tmp_path: Path):
    outcome = report(orders, "trend of 'amounnt_eur' by month", out=tmp_path / "r", formats=["md"])
    text = (_folder(outcome) / "report.md").read_text(encoding="utf-8")
    assert "amounnt" in text
    assert "amount" in text


def test_earlier_report_is_replaced_and_other_folders_are_not(orders: Path, tmp_path: Path):
    target = tmp_path / "r"
    target.mkdir()
    (target / "diary.txt").write_text("mine")
    (target / "facts.json").write_text("{}")  # does not make it a report's folder
    with pytest.raises(InputError, match=r"holds other files, such as 'diary\.txt'"):
        report(orders, "overview", out=target)
    assert (target / "diary.txt").read_text() == "mine"
    (target / "diary.txt").rename(tmp_path / "diary.txt")
    report(orders, "overview", out=target)
    (target / "report.md").write_text("old")
    report(orders, "overview", out=target)
    assert (target / "report.md").read_text(encoding="utf-8") != "old"
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".r.")]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.csv", b"", "empty"),
        ("picture.csv", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "PNG|picture|image|binary"),
        ("damaged.xlsx", b"PK\x03\x04" + b"\x00" * 200, "workbook|damaged|xlsx"),
    ],
)
def test_unreadable_file_fails_with_a_reason_and_leaves_nothing(
    name: str, content: bytes, message: str, tmp_path: Path
):
    path = tmp_path / name
    path.write_bytes(content)
    outcome = report(path, "overview", out=tmp_path / "r")
    assert outcome.status == "failed"
    assert outcome.folder is None
    assert not (tmp_path / "r").exists()
    import re

    assert re.search(message, " ".join(outcome.missing), re.IGNORECASE)


def test_missing_file_is_refused_with_a_near_name(orders: Path, tmp_path: Path):
    with pytest.raises(InputError, match=r"Did you mean .*orders\.csv"):
        report(orders.with_name("order.csv"), "overview", out=tmp_path / "r")


def test_folder_and_unknown_format_are_refused(orders: Path, tmp_path: Path):
    with pytest.raises(InputError, match="is a folder"):
        report(tmp_path, "overview")
    with pytest.raises(ConfigError, match="'pdf'"):
        report(orders, "overview", formats=["pdf"])


@pytest.mark.parametrize(
    "content",
    [
        "only_name\n",
        "name\nx\ny\nx\n",
        "a,b\nx,y\nz,w\n",
        "n\n1\n2\n3\n",
        "日期,金额\n2024-01-05,3\n",
    ],
)
def test_poor_table_still_gives_a_report(content: str, tmp_path: Path):
    path = tmp_path / "poor.csv"
    path.write_text(content, encoding="utf-8")
    outcome = report(path, "monthly trend of sales and top products", out=tmp_path / "r")
    assert outcome.status in ("succeeded", "partial")
    text = (_folder(outcome) / "report.md").read_text(encoding="utf-8")
    assert "nan" not in text.lower().split()
    assert _reproduce(_folder(outcome)).returncode == 0


def test_formats_may_be_one_text_and_files_must_be_given(orders: Path, tmp_path: Path):
    with pytest.raises(ConfigError, match="'pdf'"):
        report(orders, "overview", formats="html,pdf", out=tmp_path / "r")
    with pytest.raises(InputError, match="No data file"):
        report([], "overview")


def test_unreadable_second_file_makes_the_run_partial(orders: Path, tmp_path: Path):
    rubbish = tmp_path / "rubbish.xlsx"
    rubbish.write_bytes(b"PK\x03\x04" + b"\x00" * 200)
    outcome = report([orders, rubbish], "overview", out=tmp_path / "r", formats=["md"])
    assert outcome.status == "partial"
    assert "rubbish.xlsx" in (_folder(outcome) / "report.md").read_text(encoding="utf-8")


def test_huge_numbers_do_not_end_the_report(tmp_path: Path):
    path = tmp_path / "huge.csv"
    rows = "\n".join(
        f"{shop},{value}" for shop, value in zip("abcab", (1e300, 5, 7, 9, 2), strict=True)
    )
    path.write_text("shop,amount\n" + rows + "\n", encoding="utf-8")
    outcome = report(path, "amount by shop", out=tmp_path / "r")
    assert outcome.status in ("succeeded", "partial")
    assert _reproduce(_folder(outcome)).returncode == 0
