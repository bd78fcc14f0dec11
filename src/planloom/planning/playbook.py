"""The rule planner of the report agent: reads the data first, then plans what the goal asks for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import cast

from planloom.analysis.report.prose import Wording
from planloom.engine.json_value import JsonValue
from planloom.engine.plan import Plan, Step
from planloom.engine.protocols import TaskView
from planloom.engine.references import escape_dollars
from planloom.notes import Lang, Note
from planloom.planning.goals.intent import AnalysisRequest, Understanding
from planloom.planning.goals.understanding import understand
from planloom.tools.codec import encode
from planloom.tools.tables import TableSummary

_ANALYSIS_TOOLS = {
    "overview": "data_overview",
    "trend": "trend_over_time",
    "share": "share_of_total",
    "ranking": "rank_categories",
}


@dataclass(frozen=True, kw_only=True)
class ReportRequest:
    """What a user asks of the report agent."""

    goal: str
    files: tuple[str, ...]
    """Absolute paths of the data files."""
    out: str
    """Absolute path of the report's folder."""
    lang: Lang
    formats: tuple[str, ...] = ("html", "md")
    today: date
    """Dates such as "last year" in the goal count from here."""


@dataclass(frozen=True, kw_only=True)
class FileChoice:
    """The file that is analysed, and how the goal reads on it."""

    number: int
    """Of the file, from 1; its steps are `load<number>`, `clean<number>`, `summary<number>`."""
    rows: int
    understanding: Understanding


class ReportPlaybook:
    """Plans a report in two epochs, reading and analysing, and a third when analyses failed."""

    def __init__(self, request: ReportRequest):
        self._request = request

    async def plan(self, view: TaskView, /) -> Plan | None:
        """Return the next plan, or None when the report is there or cannot be made."""
        if view.problems:
            return None  # rules cannot mend a plan of their own
        if view.epoch == 1:
            return self.reading_plan()
        choice = self.choose_file(view)
        if choice is None or "save" in view.results:
            return None
        if view.epoch == 2:
            steps = self.analysis_steps(choice)
            return self.report_plan(view, choice, steps=steps)
        return self.salvaging_plan(view, choice) if view.epoch == 3 else None

    def reading_plan(self) -> Plan:
        """Return the plan that reads, cleans and profiles every file."""

        def say(note: Note, file: str) -> str:
            return note.with_args({"file": file}).text(self._request.lang)

        steps: list[Step] = []
        for number, path in enumerate(self._request.files, 1):
            steps += [
                Step(
                    id=f"load{number}",
                    tool="read_csv_file",
                    input={"path": _literal(path)},
                    description=say(_READ, file=_file_name(path)),
                ),
                Step(
                    id=f"clean{number}",
                    tool="clean_data",
                    input={"table": f"$load{number}"},
                    description=say(_CLEAN, file=_file_name(path)),
                ),
                Step(
                    id=f"summary{number}",
                    tool="get_data_summary",
                    input={"table": f"$clean{number}"},
                    description=say(_PROFILE, file=_file_name(path)),
                ),
            ]
        return Plan(thought="See the data before choosing analyses.", steps=tuple(steps))

    def choose_file(self, view: TaskView) -> FileChoice | None:
        """Return the file that answers the goal best: fewest open wishes, then most rows."""
        choices: list[FileChoice] = []
        for number, _ in enumerate(self._request.files, 1):
            if f"summary{number}" in view.results:
                summary = cast("TableSummary", view.value(f"summary{number}"))
                reading = understand(
                    self._request.goal, summary, today=self._request.today, values=summary.values
                )
                choices.append(FileChoice(number=number, rows=summary.rows, understanding=reading))
        return min(choices, key=lambda c: (len(c.understanding.unknown), -c.rows), default=None)

    def analysis_steps(self, choice: FileChoice) -> tuple[Step, ...]:
        """Return the steps that keep the rows wanted, analyse them and draw the charts."""
        scope = _scope_steps(choice, self._request.lang)
        table = "$scope" if scope else f"$clean{choice.number}"
        return (*scope, *_analysis_steps(choice.understanding, table, self._request.lang))

    def salvaging_plan(
        self, view: TaskView, choice: FileChoice, wording: Wording | None = None
    ) -> Plan | None:
        """Plan the report of what succeeded; None when the report itself is what failed."""
        failed = {record.step: record.error for record in view.failures}
        if not failed or failed.keys() & {"scope", "report", "save"}:
            return None
        kept = finished_steps(view)
        return self.report_plan(view, choice, steps=kept, failed=failed, wording=wording)

    def report_plan(
        self,
        view: TaskView,
        choice: FileChoice,
        *,
        steps: tuple[Step, ...],
        failed: Mapping[str, str] | None = None,
        wording: Wording | None = None,
    ) -> Plan:
        """Return the plan of `steps`, and of the report on their results.

        `failed` are steps that were planned and could not be made, with the reason.
        """
        request, reading = self._request, choice.understanding
        given_up = dict(self._unread(view)) | dict(failed or {})
        missing = (*self._unused(view, choice), *_lost(given_up))
        has_scope = any(step.id == "scope" for step in steps)
        report = Step(
            id="report",
            tool="write_data_report",
            input={
                "goal": _literal(request.goal),
                "source": f"$load{choice.number}",
                "cleaned": f"$clean{choice.number}",
                "scope": "$scope" if has_scope else None,
                "findings": _findings(steps),
                "reading": _literal(
                    {
                        "understood": encode(reading.understood),
                        "assumptions": encode(reading.assumptions),
                        "unknown": encode(reading.unknown),
                    }
                ),
                "missing": _literal(encode(missing)),
                "formats": list(request.formats),
            }
            | ({"wording": _literal(encode(wording))} if wording else {}),
            description=_WRITE.text(request.lang),
        )
        save = Step(
            id="save",
            tool="save_report",
            input={"report": "$report", "path": _literal(request.out)},
            description=_SAVE.text(request.lang),
        )
        return Plan(
            thought=" ".join(note.text("en") for note in reading.understood),
            steps=(*steps, report, save),
            outputs=("save",),
            given_up=given_up,
        )

    def _unread(self, view: TaskView) -> Iterator[tuple[str, str]]:
        """Yield the step that failed for each file that cannot be used, and why."""
        for number, _ in enumerate(self._request.files, 1):
            own = {f"{step}{number}" for step in ("load", "clean", "summary")}
            failed = (r for r in view.records if r.step in own and r.state == "failed")
            yield from ((record.step, record.error) for record in failed)

    def _unused(self, view: TaskView, choice: FileChoice) -> Iterator[Note]:
        """Say which files were read and are not part of the analyses."""
        for number, path in enumerate(self._request.files, 1):
            if number != choice.number and f"summary{number}" in view.results:
                yield Note(
                    "{file} was read but is not part of the analyses; files are not joined yet.",
                    "{file} 已读取，但未纳入分析；目前尚不支持多文件关联。",
                    {"file": _file_name(path)},
                )


def finished_steps(view: TaskView) -> tuple[Step, ...]:
    """Return the steps of the last plan that succeeded."""
    return tuple(step for step in view.plans[-1].steps if step.id in view.results)


def analysis_ids(steps: Iterable[Step]) -> tuple[str, ...]:
    """Return the steps that analyse, in order: those that a report has findings of."""
    others = {"filter_rows", "draw_chart", "write_data_report", "save_report"}
    return tuple(step.id for step in steps if step.tool not in others)


def _scope_steps(choice: FileChoice, lang: Lang) -> tuple[Step, ...]:
    if not choice.understanding.filters:
        return ()
    conditions = _literal(encode(choice.understanding.filters))
    scope = Step(
        id="scope",
        tool="filter_rows",
        input={"table": f"$clean{choice.number}", "conditions": conditions},
        description=_FILTER.text(lang),
    )
    return (scope,)


def _analysis_steps(reading: Understanding, table: str, lang: Lang) -> Iterator[Step]:
    used: dict[str, int] = {}
    for request in reading.analyses:
        used[request.kind] = used.get(request.kind, 0) + 1
        name = request.kind if used[request.kind] == 1 else f"{request.kind}{used[request.kind]}"
        yield Step(
            id=name,
            tool=_ANALYSIS_TOOLS[request.kind],
            input={"table": table, **_options(request, reading)},
            description=_description(request, lang),
        )
        yield Step(
            id=f"{name}_chart",
            tool="draw_chart",
            input={"analysis": f"${name}"},
            description=_DRAW.text(lang) + _description(request, lang),
        )

    for number, other in enumerate(reading.others, 1):
        arguments = {name: _literal(encode(value)) for name, value in other.arguments.items()}
        note = Note("analysis by {tool}", "{tool} 分析", {"tool": other.tool}).text(lang)
        yield Step(
            id=f"analysis{number}",
            tool=other.tool,
            input={other.table: table, **arguments},
            description=note,
        )
        yield Step(
            id=f"analysis{number}_chart",
            tool="draw_chart",
            input={"analysis": f"$analysis{number}"},
            description=_DRAW.text(lang) + note,
        )


def _options(request: AnalysisRequest, reading: Understanding) -> dict[str, JsonValue]:
    """Return the arguments of the analysis tool that the request speaks of."""
    if request.kind == "overview":
        options: dict[str, JsonValue] = {
            "measures": [request.measure] if request.measure else [],
            "date": reading.date,
            "categories": list(reading.categories),
        }
    elif request.kind == "trend":
        options = {
            "date": request.date, "value": request.measure, "how": request.how,
            "grain": request.grain or "auto", "by": request.by,
        }  # fmt: skip
    else:
        options = {"category": request.category, "value": request.measure, "how": request.how}
        if request.top is not None:
            options["top"] = request.top
        if request.kind == "ranking":
            options["ascending"] = request.ascending
    return {name: _literal(value) for name, value in options.items() if value is not None}


def _description(request: AnalysisRequest, lang: Lang) -> str:
    along = request.date if request.kind == "trend" else request.category
    what = {"what": request.measure or _ROWS.text(lang), "along": along or ""}
    note = _KINDS[request.kind] if along else _KINDS["overview"]
    return note.with_args(what).text(lang)


_READ = Note("Read {file}", "读取 {file}")
_PROFILE = Note("Profile {file}", "查看 {file} 的列")
_CLEAN = Note("Clean {file}", "清洗 {file}")
_FILTER = Note("Keep the rows that the goal asks for", "筛选目标所要求的行")
_DRAW = Note("Draw: ", "绘图：")
_WRITE = Note("Write the report and check its numbers", "撰写报告并核对数字")
_SAVE = Note("Put the report in its place", "保存报告")
_ROWS = Note("rows", "行数")
_KINDS = {
    "overview": Note("overview of {what}", "{what}概况"),
    "trend": Note("trend of {what} by {along}", "{what}按{along}的走势"),
    "share": Note("share of {what} by {along}", "{what}按{along}的占比"),
    "ranking": Note("ranking of {along} by {what}", "{along}按{what}排名"),
}


def _findings(steps: Sequence[Step]) -> list[JsonValue]:
    names = {step.id for step in steps}
    return [
        {"analysis": f"${name}", "image": f"${name}_chart"}
        if f"{name}_chart" in names
        else {"analysis": f"${name}"}
        for name in analysis_ids(steps)
    ]


def _lost(given_up: Mapping[str, str]) -> Iterator[Note]:
    for step, why in given_up.items():
        if step.startswith(("load", "clean", "summary")):
            template = Note("A file could not be used: {why}", "有一个文件无法使用：{why}")
        else:
            template = Note(
                "A planned part could not be made ({step}): {why}",
                "有一项计划内容未能完成（{step}）：{why}",
            )
        yield template.with_args({"step": step, "why": why})


def _literal(value: JsonValue) -> JsonValue:
    """Return a value in which no text can be taken for a reference."""
    if isinstance(value, str):
        return escape_dollars(value)
    if isinstance(value, Mapping):
        return {name: _literal(part) for name, part in value.items()}
    if isinstance(value, Sequence):
        return [_literal(part) for part in value]
    return value


def _file_name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]
