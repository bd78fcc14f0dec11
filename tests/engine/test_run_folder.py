"""Run ids, and the record of a run on disk."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from planloom.engine.plan import Plan, Step
from planloom.engine.run_folder import RunFolder, new_run_id
from planloom.engine.task import Task
from planloom.errors import InputError
from planloom.events import EventStream


def test_run_ids_sort_by_time():
    start = datetime(2026, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC)
    ids = [new_run_id(start + timedelta(milliseconds=n), token=lambda: "f") for n in range(3)]
    assert ids == sorted(ids)
    assert len({new_run_id(start) for _ in range(50)}) == 50


@pytest.mark.parametrize("run_id", ["../x", "a/b", "", "A" * 5, "a" * 101, ".."])
def test_run_id_is_a_plain_name(tmp_path: Path, run_id: str):
    with pytest.raises(InputError, match="cannot be the id of a run"):
        RunFolder(tmp_path, run_id)


def test_fast_changes_are_saved_with_the_next_or_at_the_end(tmp_path: Path):
    time = [0.0]
    folder = RunFolder(tmp_path, "run-1", clock=lambda: time[0])
    task = Task(id="run-1", goal="one", status="running")
    folder.save(task)
    task.goal = "two"
    folder.save(task)
    assert folder.load_task().goal == "one"
    time[0] = 1.0
    folder.save(task)
    assert folder.load_task().goal == "two"
    task.goal = "three"
    task.status = "succeeded"
    folder.save(task)
    assert folder.load_task().goal == "three"


def test_new_plan_is_saved_at_once(tmp_path: Path):
    folder = RunFolder(tmp_path, "run-1", clock=lambda: 0.0)
    task = Task(id="run-1", goal="g", status="running")
    folder.save(task)
    task.add_plan(Plan(steps=(Step(id="a", tool="t"),)))
    folder.save(task)
    assert list(folder.load_task().records) == ["run-1/1.a"]
    assert (folder.path / "plan-1.json").exists()


def test_plan_that_is_being_written_is_saved_as_it_grows(tmp_path: Path):
    folder = RunFolder(tmp_path, "run-1", clock=lambda: 0.0)
    task = Task(id="run-1", goal="g", status="running")
    folder.save(task)
    steps = tuple(Step(id=name, tool="t") for name in "ab")
    task.add_plan(Plan(steps=steps[:1], complete=False))
    for part in (steps[:1], steps):
        task.extend_plan(Plan(steps=part, complete=False))
        folder.save(task)
        assert [record.step for record in folder.load_task().records.values()] == [
            step.id for step in part
        ]
        assert not folder.load_task().plans[0].complete
        assert not (folder.path / "plan-1.json").exists()
    task.extend_plan(Plan(steps=steps, outputs=("b",)))
    folder.save(task)
    assert folder.load_task().plans[0].outputs == ("b",)
    assert json.loads((folder.path / "plan-1.json").read_text("utf-8"))["complete"] is True


def test_part_of_a_plan_that_never_came_whole_has_its_file_in_the_end(tmp_path: Path):
    folder = RunFolder(tmp_path, "run-1", clock=lambda: 0.0)
    task = Task(id="run-1", goal="g", status="running")
    task.add_plan(Plan(steps=(Step(id="a", tool="t"),), complete=False))
    folder.save(task)
    task.add_plan(Plan(steps=(Step(id="b", tool="t"),), complete=False))
    folder.save(task)
    task.status = "failed"
    folder.save(task)
    files = [json.loads((folder.path / f"plan-{n}.json").read_text("utf-8")) for n in (1, 2)]
    assert [(file["complete"], file["steps"][0]["id"]) for file in files] == [
        (False, "a"), (False, "b"),
    ]  # fmt: skip


def test_unreadable_records_are_input_errors(tmp_path: Path):
    folder = RunFolder(tmp_path, "run-1")
    with pytest.raises(InputError, match="There is no run 'run-1'"):
        folder.load_task()
    folder.path.mkdir(parents=True)
    (folder.path / "task.json").write_text("{", "utf-8")
    with pytest.raises(InputError, match="cannot be read"):
        folder.load_task()
    newer = Task(id="run-1", goal="g").to_json() | {"schema": 99}
    (folder.path / "task.json").write_text(json.dumps(newer), "utf-8")
    with pytest.raises(InputError, match="update Planloom"):
        folder.load_task()


def test_folder_that_cannot_be_written_is_an_input_error(tmp_path: Path):
    (tmp_path / "runs").write_text("a file", "utf-8")
    with pytest.raises(InputError, match="set PLANLOOM_HOME"):
        RunFolder(tmp_path, "run-1").open_events()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_full_disk_under_the_events_is_an_input_error(tmp_path: Path):
    folder = RunFolder(tmp_path, "run-1")
    folder.path.mkdir(parents=True)
    (folder.path / "events.jsonl").symlink_to("/dev/full")
    with (
        folder.event_log() as log,
        pytest.raises(InputError, match=r"No space left.*events\.jsonl.*PLANLOOM_HOME") as caught,
    ):
        EventStream("run-1", log).emit("budget")
    assert "无法写入运行目录" in caught.value.text("zh")
