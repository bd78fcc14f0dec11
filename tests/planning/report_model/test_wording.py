"""Having a scripted model word findings: what is sent, what is kept, what is refused."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

import pytest

from planloom.analysis.results import Analysis
from planloom.errors import ModelError
from planloom.models.scripted import ScriptedModel, ScriptedReply
from planloom.notes import Lang, Note
from planloom.planning.report_model.wording import TRIES, WordedAnalysis, Words, word_findings
from planloom.values import Column, Fact


def fact(fact_id: str, value: float | str, unit: str = "") -> Fact:
    return Fact(
        id=fact_id, label=Note("First", "第一"), value=value, unit=unit, query="", table="t", rows=1
    )  # fmt: skip


def ranking(facts: Sequence[Fact] = ()) -> WordedAnalysis:
    own = (fact("ranking.top", "Ann Lee"), fact("ranking.amount", 1200.0, "$"), *facts)
    analysis = Analysis(
        path="/t.parquet", rows=2, name="result", sha256="",
        columns=(Column(name="customer", type="text"), Column(name="amount", type="number")),
        kind="ranking", title=Note.same("Ranking"), headings=(Note.same("customer"),),
        keys=("customer",), query="", base="t", facts=own,
        findings=(Note("{{ranking.top}} leads.", "{{ranking.top}} 领先。"),),
    )  # fmt: skip
    return WordedAnalysis(id="ranking", analysis=analysis)


def word(
    replies: Sequence[ScriptedReply], lang: Lang = "en", *, hidden: frozenset[str] = frozenset(),
    facts: Sequence[Fact] = (),
) -> tuple[Words, ScriptedModel]:  # fmt: skip
    model = ScriptedModel(replies)
    words = asyncio.run(
        word_findings(model, "who spends most", [ranking(facts)], lang, hidden=hidden)
    )
    return words, model


def said(summary: str, paragraph: str) -> str:
    return json.dumps({"summary": summary, "ranking": paragraph}, ensure_ascii=False)


GOOD = said("{{ranking.top}} leads.", "It came to {{ranking.amount}}.")


def test_texts_over_facts_are_kept():
    words, model = word([GOOD])
    assert words.summary == "{{ranking.top}} leads."
    assert words.paragraphs == {"ranking": "It came to {{ranking.amount}}."}
    assert len(model.requests) == 1


def test_the_language_of_the_report_decides_the_language_of_the_prompt():
    good = said("{{ranking.top}} 领先。", "合计 {{ranking.amount}}。")
    words, model = word([good], "zh")
    assert words.summary == "{{ranking.top}} 领先。"
    assert "撰写" in str(model.requests[0].messages[0])


def test_a_refused_text_is_asked_for_again_with_the_reason():
    words, model = word([said("Up 47%: {{ranking.top}}.", "{{ranking.amount}}"), GOOD])
    assert words.summary == "{{ranking.top}} leads."
    assert words.paragraphs == {"ranking": "{{ranking.amount}}"}
    assert "'47%' is written out" in str(model.requests[1].messages[-1])


def test_what_is_never_right_is_left_out_and_the_rest_stays():
    bad = said("{{ranking.top}} leads.", "{{ranking.nobody}} leads.")
    words, model = word([bad] * TRIES)
    assert words.summary
    assert words.paragraphs == {}
    assert "ranking.nobody" in words.refused["ranking"]
    assert len(model.requests) == TRIES


@pytest.mark.parametrize("reply", ["", "no json", "[]", '{"summary": 3}'])
def test_replies_of_another_form_give_no_words(reply: str):
    words, _ = word([reply] * TRIES)
    assert not words.summary
    assert not words.paragraphs


def test_names_of_persons_are_not_sent_when_hidden():
    assert "Ann Lee" in str(word([GOOD])[1].requests[0].messages)
    words, model = word([GOOD], hidden=frozenset({"customer"}))
    assert "Ann Lee" not in str(model.requests[0].messages)
    assert "ranking.top | First | (hidden)" in str(model.requests[0].messages[1])
    assert words.summary == "{{ranking.top}} leads."


def test_the_prompt_does_not_grow_with_the_facts():
    many = [fact(f"ranking.more.{i}", float(i)) for i in range(400)]
    _, model = word([GOOD], facts=many)
    assert len(str(model.requests[0].messages)) < 6_000


def test_groups_that_no_fact_names_are_refused():
    model = ScriptedModel(
        [said("Cy Roth spends {{ranking.amount}}.", "{{ranking.amount}}")] * TRIES
    )
    words = asyncio.run(
        word_findings(model, "who spends most", [ranking()], "en", values=("Cy Roth",))
    )
    assert "'Cy Roth'" in words.refused["summary"]


def test_texts_that_passed_stay_when_the_model_dies_afterwards():
    words, _ = word([said("{{ranking.top}} leads.", "Up 47%."), ModelError("no connection")])
    assert words.summary == "{{ranking.top}} leads."
    assert "no connection" in str(words.stopped)


def test_errors_of_the_model_are_raised():
    with pytest.raises(ModelError):
        word([ModelError("no connection")])


def test_nothing_is_asked_without_analyses():
    model = ScriptedModel([])
    assert asyncio.run(word_findings(model, "x", [], "en")) == Words()
