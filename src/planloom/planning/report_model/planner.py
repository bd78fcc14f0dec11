"""Plans a report with a model: it chooses the analyses and words the findings; rules back it up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import cast

from planloom.analysis.report.prose import Wording
from planloom.analysis.results import Analysis
from planloom.engine.plan import Plan
from planloom.engine.protocols import TaskView
from planloom.errors import BudgetExhaustedError, ModelError, PlanError
from planloom.models.chat_model import ChatModel
from planloom.notes import Lang, Note
from planloom.planning.constrained.choosing import choose_analyses
from planloom.planning.constrained.comparison import Comparison
from planloom.planning.constrained.settling import understanding_of
from planloom.planning.playbook import (
    FileChoice,
    ReportPlaybook,
    ReportRequest,
    analysis_ids,
    finished_steps,
)  # fmt: skip
from planloom.planning.report_model.personal import masked_note, personal_columns, sent_note
from planloom.planning.report_model.wording import WordedAnalysis, Words, word_findings
from planloom.tools.tables import SourceTable, TableSummary
from planloom.tools.tool import AnyTool

_WHY_CHARS = 160


@dataclass(frozen=True, kw_only=True)
class PersonalDataNotice:
    """What is done with cells that tell of persons, before any of them could reach the model."""

    columns: tuple[str, ...]
    is_sent: bool
    note: Note


@dataclass(frozen=True, kw_only=True)
class ReportModel:
    """The model of a report, and what it may see and tell."""

    model: ChatModel
    tools: tuple[AnyTool, ...] = ()
    """Tools whose analyses may be chosen besides the four usual ones."""
    send_personal_data: bool = False
    """Whether cells of columns with personal data may reach the model."""
    on_notice: Callable[[PersonalDataNotice], None] = lambda _: None
    """Called before the model is asked anything about a table with personal data."""
    on_comparison: Callable[[Comparison], None] = lambda _: None
    """Called once the analyses are chosen."""


class ModelReportPlanner:
    """Plans in three epochs: reading, analysing what the model chose, reporting in its words.

    Whatever the model does not give, the rules of the playbook and the templates of the report do.
    """

    def __init__(self, request: ReportRequest, by: ReportModel):
        self._request = request
        self._playbook = ReportPlaybook(request)
        self._by = by
        self._choice: FileChoice | None = None
        self._comparison: Comparison | None = None
        self._hidden: frozenset[str] = frozenset()
        self._personal: PersonalDataNotice | None = None
        self._down = ""
        """Why the model is not asked again; "" while it answers."""
        self._over_budget = ""
        """What of the model's part the budget did not allow; "" while it allows all."""

    async def plan(self, view: TaskView, /) -> Plan | None:
        """Return the next plan, or None when the report is there or cannot be made."""
        if view.problems:
            return None
        if view.epoch == 1:
            return self._playbook.reading_plan()
        by_rules = self._playbook.choose_file(view)
        if by_rules is None or "save" in view.results:
            return None
        choice = self._choice or await self._choose(view, by_rules)
        self._choice = choice
        steps = self._playbook.analysis_steps(choice) if view.epoch == 2 else ()
        if steps:
            return Plan(thought=_thought(choice), steps=steps)
        return await self._reporting(view, choice)

    # -- choosing

    async def _choose(self, view: TaskView, by_rules: FileChoice) -> FileChoice:
        table = cast("TableSummary", view.value(f"summary{by_rules.number}"))
        self._look_for_persons(table)
        why, reading = "", None
        try:
            chosen = await choose_analyses(
                self._by.model,
                self._request.goal,
                table,
                today=self._request.today,
                values=table.values,
                tools=self._by.tools,
                hidden=self._hidden,
            )
            reading = understanding_of(chosen, table, by_rules.understanding)
        except PlanError as error:
            why = _reason(error, self._request.lang)
        except (ModelError, BudgetExhaustedError) as error:
            self._stop_asking(error, _NO_CHOICE)
            why = self._down
        self._comparison = Comparison(
            model=self._by.model.name,
            by_model=reading,
            by_rules=by_rules.understanding,
            why=why,
        )
        self._by.on_comparison(self._comparison)
        if reading is not None:
            return replace(by_rules, understanding=reading)
        rules = by_rules.understanding
        said = (*rules.assumptions, self._comparison.note())
        return replace(by_rules, understanding=replace(rules, assumptions=said))

    def _look_for_persons(self, table: TableSummary) -> None:
        found = personal_columns(table, table.values)
        if not found:
            return
        is_sent = self._by.send_personal_data
        self._hidden = frozenset() if is_sent else found
        self._personal = PersonalDataNotice(
            columns=tuple(sorted(found)),
            is_sent=is_sent,
            note=sent_note(found) if is_sent else masked_note(found),
        )
        self._by.on_notice(self._personal)

    # -- reporting

    async def _reporting(self, view: TaskView, choice: FileChoice) -> Plan | None:
        failed = {record.step: record.error for record in view.failures}
        planned = {step.id for plan in view.plans for step in plan.steps}
        if "report" in planned or "scope" in failed:
            return None  # the report itself is what failed, or its rows could not be kept
        kept = finished_steps(view) if view.epoch > 2 else ()
        words = await self._word(view, analysis_ids(kept), choice)
        wording = Wording(
            summary=words.summary,
            paragraphs=tuple(words.paragraphs.get(name, "") for name in analysis_ids(kept)),
            method=tuple(self._method(words)),
        )
        plan = self._playbook.report_plan(
            view, choice, steps=kept, failed=failed, wording=wording
        )  # fmt: skip
        if not self._over_budget:
            return plan
        # Rules and templates stand in, but the user asked for more: the run ends as partial.
        return replace(plan, given_up={**plan.given_up, _MODEL_PART: self._over_budget})

    async def _word(self, view: TaskView, steps: Sequence[str], choice: FileChoice) -> Words:
        if self._down or self._is_left_to_templates:
            return Words()
        found = [(name, view.value(name)) for name in steps]
        analyses = [
            WordedAnalysis(id=name, analysis=value)
            for name, value in found
            if isinstance(value, Analysis)
        ]
        source = view.value(f"load{choice.number}")
        try:
            words = await word_findings(
                self._by.model,
                self._request.goal,
                analyses,
                self._request.lang,
                columns=source.column_names if isinstance(source, SourceTable) else (),
                values=_category_values(view, choice),
                hidden=self._hidden,
            )
        except (ModelError, BudgetExhaustedError) as error:
            self._stop_asking(error, _NO_WORDING)
            return Words()
        if words.stopped is not None:
            self._stop_asking(words.stopped, _NO_WORDING)
        return words

    @property
    def _is_left_to_templates(self) -> bool:
        """A small model invents facts when it words them; see docs/small-models.md."""
        return self._by.model.traits.is_small

    def _stop_asking(self, error: ModelError | BudgetExhaustedError, missing: Note) -> None:
        """Leave the rest to rules and templates, as without any model."""
        lang = self._request.lang
        self._down = _reason(error, lang)
        if isinstance(error, BudgetExhaustedError):
            note = missing.with_args({"why": self._down})
            self._over_budget = note.text(lang)

    def _method(self, words: Words) -> Iterable[Note]:
        """Say who chose and who worded, what the rules alone would have done, and what was sent."""
        comparison = self._comparison
        if comparison is None:
            return
        model = {"model": comparison.model}
        chose = comparison.by_model is not None
        wrote = bool(words.summary or words.paragraphs)
        template = _TOOK_PART[chose, wrote]
        yield template.with_args(model)
        yield comparison.note()
        if self._is_left_to_templates:
            yield _SMALL
        elif not wrote and self._down and chose:
            yield _NO_WORDS.with_args({"why": self._down})
        if wrote and words.refused:
            yield _PARTLY_REFUSED
        elif words.refused:
            yield _ALL_REFUSED
        if self._personal is not None:
            yield self._personal.note


_TOOK_PART = {
    (True, True): Note(
        "The language model {model} chose the analyses and worded the summary and the paragraphs "
        "above the findings. Planloom computed every number and checked each one in the text.",
        "语言模型 {model} 选定了分析，并撰写了总结和各项发现前的段落。"
        "所有数字均由 Planloom 计算，文中的数字已逐一核对。",
    ),
    (True, False): Note(
        "The language model {model} chose the analyses; templates worded the findings.",
        "语言模型 {model} 选定了分析；文字由模板生成。",
    ),
    (False, True): Note(
        "Rules chose the analyses; the language model {model} worded the summary and the "
        "paragraphs above the findings. Planloom computed every number and checked each one in "
        "the text.",
        "分析由规则选定；语言模型 {model} 撰写了总结和各项发现前的段落。"
        "所有数字均由 Planloom 计算，文中的数字已逐一核对。",
    ),
    (False, False): Note(
        "Rules chose the analyses and templates worded the findings; nothing of the language "
        "model {model} could be used.",
        "分析由规则选定，文字由模板生成；没有采用语言模型 {model} 的任何内容。",
    ),
}
_NO_WORDS = Note(
    "The model could not word the findings ({why}).", "模型未能撰写文字（{why}）。"
)  # fmt: skip
_SMALL = Note(
    "It is a small model, and the wording of findings is not left to small models.",
    "该模型规模较小，Planloom 不使用小模型撰写文字。",
)
_MODEL_PART = "model"
"""Stands for the model's part among the steps that a plan does without."""
_NO_CHOICE = Note(
    "The choice of analyses and the wording by the model: {why}", "由模型选定分析并撰写文字：{why}"
)
_NO_WORDING = Note("The wording by the model: {why}", "由模型撰写文字：{why}")
_PARTLY_REFUSED = Note(
    "Some of the model's text stated what no fact gives and was left out; the templates' text "
    "stands there.",
    "模型撰写的部分文字含有无事实依据的内容，未予采用，相应位置保留模板文字。",
)
_ALL_REFUSED = Note(
    "The model's text stated what no fact gives, so it was refused and the templates' text stayed.",
    "模型撰写的文字含有无事实依据的内容，因此未予采用，保留模板文字。",
)


def _category_values(view: TaskView, choice: FileChoice) -> tuple[str, ...]:
    table = cast("TableSummary", view.value(f"summary{choice.number}"))
    return tuple(value for values in table.values.values() for value in values)


def _thought(choice: FileChoice) -> str:
    return " ".join(note.text("en") for note in choice.understanding.understood)


def _reason(error: PlanError | ModelError | BudgetExhaustedError, lang: Lang) -> str:
    line = error.text(lang).strip().split("\n")[0]
    return line if len(line) <= _WHY_CHARS else line[: _WHY_CHARS - 1] + "…"
