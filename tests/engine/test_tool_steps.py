"""Steps that call real tools: typed values between them, results on record, artifacts kept."""

from __future__ import annotations

import asyncio
import json
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from planloom.engine.approval import ApprovalPolicy
from planloom.engine.artifacts import Artifact, ArtifactStore
from planloom.engine.execution import RunOptions, execute
from planloom.engine.plan import Plan, Step
from planloom.engine.protocols import StepCall, TaskView
from planloom.engine.run_folder import RunFolder
from planloom.engine.runtime import InMemoryRuntime
from planloom.engine.step_work import Backoff
from planloom.engine.task import StepResult, Task
from planloom.engine.tool_steps import ToolStepRunner
from planloom.events import Event, EventSink, EventStream, line_writer
from planloom.tools.context import ToolContext
from planloom.tools.registry import ToolRegistry
from planloom.tools.runner import ToolRunner
from planloom.tools.tool import AnyTool, tool
from planloom.values import Column, FileRef, ImageRef, TableRef, file_sha256


@dataclass(frozen=True)
class Summary:
    rows: int
    note: str


@tool(effect="write")
def make_table(rows: int, context: ToolContext) -> TableRef:
    """Make a table."""
    path = context.folder / "table.parquet"
    path.write_bytes(b"rows" * rows)
    return TableRef(
        path=str(path),
        columns=(Column(name="day", type="date"), Column(name="amount", type="number", unit="$")),
        rows=rows,
        name="source",
        sha256=file_sha256(path),
    )


@tool
def summarise(table: TableRef, note: str = "") -> Summary:
    """Summarise."""
    assert isinstance(table, TableRef)
    return Summary(table.rows, note)


@tool(effect="write")
def draw(table: TableRef, context: ToolContext) -> ImageRef:
    """Draw."""
    path = context.folder / "chart.png"
    path.write_bytes(b"png")
    return ImageRef(
        path=str(path), media_type="image/png", size=3, sha256=file_sha256(path),
        width=800, height=400, alt="Sales by day",
    )  # fmt: skip


@tool
def join(parts: list[str], count: int) -> str:
    """Join."""
    return f"{count}: " + ", ".join(parts)


@tool
def long_list(count: int) -> list[int]:
    """Count."""
    return list(range(count))


@tool
def fail(message: str) -> str:
    """Fail."""
    raise RuntimeError(message)


@tool(effect="write", compensation="delete_file")
def create_file(name: str, context: ToolContext) -> FileRef:
    """Create."""
    path = context.folder / name
    path.write_text(context.key, encoding="utf-8")
    return FileRef(path=str(path), media_type="text/plain", size=1, sha256=file_sha256(path))


@tool(effect="write", idempotent=True)
def delete_file(name: str, result: FileRef) -> None:
    """Delete."""
    assert Path(result.path).name == name
    Path(result.path).unlink()


@tool(effect="exec")
async def press_control_c() -> None:
    """Interrupt the process, as a user would."""
    signal.raise_signal(signal.SIGINT)
    await asyncio.Event().wait()


@tool
async def wait_for_ever() -> None:
    """Wait."""
    await asyncio.Event().wait()


@tool(effect="write")
def publish(images: list[ImageRef]) -> list[str]:
    """Publish."""
    return [Path(image.path).read_text("utf-8") for image in images]


@tool
def made_up(path: str) -> dict[str, object]:
    """Return what looks like a picture."""
    return {
        "path": path, "media_type": "image/png", "size": 6, "sha256": "0" * 64,
        "width": 1, "height": 1, "alt": "x",
    }  # fmt: skip


TOOLS: list[AnyTool] = [
    make_table, summarise, draw, join, long_list, fail, create_file, delete_file, press_control_c,
    wait_for_ever, publish, made_up,
]  # fmt: skip


class OnePlan:
    def __init__(self, *steps: Step):
        self.plans = [Plan(steps=steps, outputs=(steps[-1].id,))]
        self.views: list[TaskView] = []

    async def plan(self, view: TaskView, /) -> Plan | None:
        self.views.append(view)
        return self.plans.pop() if self.plans else None


class Bench:
    """A run folder with everything that executes steps by tools."""

    def __init__(self, home: Path):
        self.folder = RunFolder(home, "run-1")
        self.events: list[Event] = []
        self.task = Task(id="run-1", goal="g")
        self.sinks: list[EventSink] = [self.events.append]
        self.stream = EventStream("run-1", self._tell)
        registry = ToolRegistry(TOOLS)
        self.steps = ToolStepRunner(
            registry, ToolRunner(registry), self.folder.artifacts, self.stream
        )

    def _tell(self, event: Event, /) -> None:
        for sink in self.sinks:
            sink(event)

    async def run(self, planner: OnePlan) -> Task:
        with self.folder.open_events() as file:
            self.sinks.append(line_writer(file))
            return await execute(
                self.task,
                planner=planner,
                step_runner=self.steps,
                runtime=InMemoryRuntime(random=lambda: 0.0),
                events=self.stream,
                options=RunOptions(
                    policy=ApprovalPolicy(effects={"write": "allow", "exec": "allow"}),
                    backoff=Backoff(base_s=0),
                ),
                save=self.folder.save,
            )


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def step(step_id: str, tool_: AnyTool, **arguments: object) -> Step:
    return Step(id=step_id, tool=tool_.name, input=arguments)  # type: ignore[arg-type]


def test_typed_values_pass_between_tools_and_results_are_on_record(bench: Bench):
    planner = OnePlan(
        step("load", make_table, rows=3),
        step("sum", summarise, table="$load", note="of $$5 and ${load.rows} rows"),
        step("pic", draw, table="$load"),
        step("all", join, parts=["$sum.note", "$pic.alt"], count="$sum.rows"),
    )
    task = asyncio.run(bench.run(planner))
    assert task.status == "succeeded", task.missing
    assert task.outputs["all"].value == "3: of $5 and 3 rows, Sales by day"
    assert planner.views[1].value("sum") == Summary(3, "of $5 and 3 rows")
    assert isinstance(planner.views[1].value("load"), TableRef)
    assert task.record("load").result.artifacts == ("1.load",)  # type: ignore[union-attr]
    json.dumps(task.to_json())


def test_previews_show_shape_and_schema_and_not_the_files(bench: Bench):
    planner = OnePlan(
        step("load", make_table, rows=3),
        step("sum", summarise, table="$load", note="fine"),
        step("many", long_list, count=10_000),
    )
    asyncio.run(bench.run(planner))
    view = planner.views[1]
    assert view.preview("load") == "table: 3 rows; columns: day (date), amount (number)"
    assert view.preview("sum") == '{"rows": 3, "note": "fine"}'
    assert view.preview("many").startswith("json: [0, 1, 2, 3,")
    assert len(view.preview("many")) < 1200
    with pytest.raises(KeyError):
        view.preview("nothing")


def test_previews_cost_nothing_until_asked_for(bench: Bench):
    asked: list[str] = []
    original = bench.folder.artifacts.get

    def get(artifact_id: str) -> Artifact:
        asked.append(artifact_id)
        return original(artifact_id)

    bench.folder.artifacts.get = get  # type: ignore[method-assign]
    planner = OnePlan(step("load", make_table, rows=3))
    asyncio.run(bench.run(planner))
    assert asked == []
    planner.views[1].preview("load")
    assert asked == ["1.load"]


def test_run_folder_holds_events_plan_and_task(bench: Bench):
    asyncio.run(bench.run(OnePlan(step("load", make_table, rows=3))))
    path = bench.folder.path
    lines = (path / "events.jsonl").read_text("utf-8").splitlines()
    kinds = [json.loads(line)["kind"] for line in lines]
    assert kinds == [
        "run_started", "plan", "step_state", "tool_call", "artifact", "step_state", "run_ended",
    ]  # fmt: skip
    plan = Plan.from_json(json.loads((path / "plan-1.json").read_text("utf-8")))
    assert plan == bench.task.plans[0]
    assert bench.folder.load_task() == bench.task
    assert (path / "steps" / "1.load" / "table.parquet").exists()
    assert not list(path.rglob("*.part"))


def test_large_result_is_kept_as_a_file_and_read_back(bench: Bench):
    planner = OnePlan(
        step("many", long_list, count=10_000),
        step("one", join, parts=[], count="$many[9999]"),
    )
    task = asyncio.run(bench.run(planner))
    record = task.record("many").result
    assert record is not None
    assert record.value is None
    assert record.artifact == "1.many"
    assert task.outputs["one"].value == "9999: "
    assert len(json.dumps(task.to_json())) < 3000
    artifact = bench.folder.artifacts.get("1.many")
    assert artifact.shape == {"type": "list", "items": 10_000}
    assert "characters ...]" in artifact.preview


def test_failed_tool_is_failed_data_with_its_message(bench: Bench):
    planner = OnePlan(
        step("bad", fail, message="error: no"), step("x", join, parts=["$bad"], count=1)
    )
    task = asyncio.run(bench.run(planner))
    assert task.status == "failed"
    assert task.record("bad").error_kind == "crash"
    assert "error: no" in task.record("bad").error
    assert task.record("x").state == "blocked"
    assert [event.data["ok"] for event in bench.events if event.kind == "tool_call"] == [False]


def test_wrong_part_of_a_result_fails_the_step_before_its_tool_is_called(bench: Bench):
    planner = OnePlan(
        step("load", make_table, rows=3), step("x", summarise, table="$load", note="$load.row")
    )
    task = asyncio.run(bench.run(planner))
    assert task.record("x").error_kind == "arguments"
    assert "Did you mean 'rows'?" in task.record("x").error
    assert task.record("x").attempts == 0


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (lambda path: path.write_bytes(b"changed"), "was altered after it was written"),
        (lambda path: path.unlink(), "is gone"),
    ],
)
def test_file_that_was_altered_or_deleted_is_noticed(
    bench: Bench, harm: Callable[[Path], object], words: str
):
    task = asyncio.run(bench.run(OnePlan(step("load", make_table, rows=3))))
    result = task.outputs["load"]
    harm(Path(bench.steps.value(result).path))  # type: ignore[attr-defined]
    call = StepCall(
        key="run-1/1.sum", step=step("sum", summarise, table="$load"), results={"load": result}
    )
    outcome = asyncio.run(bench.steps.run(call))
    assert words in outcome.error
    assert "Run the step that made it again" in outcome.error


def test_rollback_calls_the_tool_that_undoes(bench: Bench):
    planner = OnePlan(
        step("file", create_file, name="a.txt"),
        Step(id="bad", tool="fail", input={"message": "$file.path"}, on_failure="rollback"),
    )
    task = asyncio.run(bench.run(planner))
    assert task.status == "rolled_back"
    assert task.record("file").state == "compensated"
    assert not (bench.folder.path / "steps" / "1.file" / "a.txt").exists()
    assert task.stop is not None
    assert "could not be undone" not in task.stop.why


def test_tools_get_the_key_of_the_step(bench: Bench):
    asyncio.run(bench.run(OnePlan(step("file", create_file, name="a.txt"))))
    written = bench.folder.path / "steps" / "1.file" / "a.txt"
    assert written.read_text("utf-8") == "run-1/1.file"


def test_control_c_leaves_a_truthful_record(bench: Bench):
    planner = OnePlan(
        step("load", make_table, rows=3),
        Step(id="stop", tool="press_control_c", depends_on=("load",)),
        Step(id="wait", tool="wait_for_ever", depends_on=("load",)),
        Step(id="end", tool="summarise", input={"table": "$load"}, depends_on=("wait",)),
    )
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(bench.run(planner))
    assert signal.getsignal(signal.SIGINT) is before
    saved = bench.folder.load_task()
    assert saved.status == "cancelled"
    states = {record.step: record.state for record in saved.epoch_records()}
    assert states == {
        "load": "succeeded", "stop": "cancelled", "wait": "cancelled", "end": "cancelled",
    }  # fmt: skip
    assert "may have happened" in saved.record("stop").error
    lines = (bench.folder.path / "events.jsonl").read_text("utf-8").splitlines()
    assert json.loads(lines[-1])["status"] == "cancelled"
    assert bench.folder.artifacts.path("1.load").exists()


def test_person_sees_arguments_resolved_and_shortened(bench: Bench):
    call = StepCall(
        key="run-1/1.x",
        step=step("x", join, parts=["$sum.note"], count=3),
        results={"sum": StepResult(tool="summarise", value={"rows": 1, "note": "n" * 1000})},
    )
    shown = bench.steps.shown_arguments(call)
    assert shown["count"] == 3
    assert "characters ...]" in str(shown["parts"])
    assert len(str(shown)) < 500


# -- references come from steps alone


@pytest.mark.parametrize("way", ["spelled out", "through another tool"])
def test_picture_that_no_tool_made_is_not_opened(bench: Bench, tmp_path: Path, way: str):
    secret = tmp_path / "id_rsa"
    secret.write_text("SECRET", encoding="utf-8")
    spelled = made_up(str(secret))
    steps = (
        [step("out", publish, images=[spelled])]
        if way == "spelled out"
        else [step("dict", made_up, path=str(secret)), step("out", publish, images=["$dict"])]
    )
    task = asyncio.run(bench.run(OnePlan(*steps)))
    record = task.record("out")
    assert (record.state, record.error_kind, record.attempts) == ("failed", "arguments", 0)
    assert "'images[0]' spells out a reference (image)" in record.error
    assert "$chart" in record.error


def test_library_code_may_still_pass_typed_references(tmp_path: Path):
    path = tmp_path / "a.png"
    path.write_text("png", encoding="utf-8")
    image = ImageRef(
        path=str(path), media_type="image/png", size=3, sha256=file_sha256(path),
        width=1, height=1, alt="x",
    )  # fmt: skip
    context = ToolContext(key="k", folder=tmp_path)
    runner = ToolRunner(ToolRegistry(TOOLS))
    result = asyncio.run(runner.call("publish", {"images": [image]}, context))
    assert result.value == ["png"]


def test_person_is_told_that_keys_were_left_out(bench: Bench):
    many = {f"k{number}": number for number in range(25)}
    call = StepCall(key="run-1/1.x", step=step("x", join, parts=[], count=many), results={})
    shown = bench.steps.shown_arguments(call)["count"]
    assert isinstance(shown, dict)
    assert len(shown) == 21
    assert shown["..."] == "[... 5 more ...]"


def test_files_are_hashed_off_the_event_loop(bench: Bench):
    loop_thread: list[int] = []
    hashed: list[int] = []

    class Store(ArtifactStore):
        def check_files(self, value: object) -> None:
            hashed.append(threading.get_ident())
            super().check_files(value)

        def keep_files(self, value: object, producer: str) -> list[Artifact]:
            hashed.append(threading.get_ident())
            return super().keep_files(value, producer)

    registry = ToolRegistry(TOOLS)
    runner = ToolStepRunner(
        registry, ToolRunner(registry), Store(bench.folder.path), EventStream("run-1")
    )

    async def run() -> None:
        loop_thread.append(threading.get_ident())
        made = await runner.run(
            StepCall(key="run-1/1.load", step=step("load", make_table, rows=3), results={})
        )
        assert made.result is not None
        call = StepCall(
            key="run-1/1.sum",
            step=step("sum", summarise, table="$load"),
            results={"load": made.result},
        )
        assert (await runner.run(call)).result is not None

    asyncio.run(run())
    assert len(hashed) == 3
    assert loop_thread[0] not in hashed


def test_only_tools_that_know_their_folder_get_one(bench: Bench):
    task = asyncio.run(
        bench.run(OnePlan(step("load", make_table, rows=3), step("sum", summarise, table="$load")))
    )
    assert task.status == "succeeded"
    assert [path.name for path in (bench.folder.path / "steps").iterdir()] == ["1.load"]
