"""How prose names periods, in both languages."""

from __future__ import annotations

from dataclasses import dataclass

from planloom.analysis.analyses.aggregation import Measure, titled
from planloom.analysis.analyses.periods import Grain
from planloom.notes import Note


@dataclass(frozen=True, kw_only=True)
class GrainWords:
    """The words for one grain."""

    en: str
    adjective: str
    preposition: str
    zh: str
    """As a noun: 月份."""
    every: str
    """Before a measure: 每月."""
    counted: str
    """After a number: 个月."""
    stepwise: str
    """For comparisons one by one: 逐月."""

    def subject(self, measure: Measure) -> tuple[str, str]:
        """Return how a sentence begins that tells of the measure, a template over `{value}`."""
        zh = f"{self.every}{measure.zh}"
        if measure.how == "sum":
            return f"{self.adjective} {measure.en}", zh
        return f"The {measure.en} per {self.en}", zh

    def inner_subject(self, measure: Measure) -> str:
        """Return the English subject as it stands inside a sentence, a template over `{value}`."""
        en, _ = self.subject(measure)
        return en[:1].lower() + en[1:]

    def title(self, measure: Measure) -> Note:
        """Return the title of the measure over time."""
        zh = f"{self.every}{measure.zh}"
        if measure.how == "sum":
            return Note(f"{self.adjective} {measure.en}", zh, measure.args)
        return titled(f"{measure.en} per {self.en}", zh, measure.args)


GRAIN_WORDS: dict[Grain, GrainWords] = {
    "day": GrainWords(
        en="day", adjective="Daily", preposition="on",
        zh="日期", every="每日", counted="天", stepwise="逐日",
    ),
    "week": GrainWords(
        en="week", adjective="Weekly", preposition="in",
        zh="周", every="每周", counted="周", stepwise="逐周",
    ),
    "month": GrainWords(
        en="month", adjective="Monthly", preposition="in",
        zh="月份", every="每月", counted="个月", stepwise="逐月",
    ),
    "quarter": GrainWords(
        en="quarter", adjective="Quarterly", preposition="in",
        zh="季度", every="每季度", counted="个季度", stepwise="逐季",
    ),
    "year": GrainWords(
        en="year", adjective="Yearly", preposition="in",
        zh="年份", every="每年", counted="年", stepwise="逐年",
    ),
}  # fmt: skip


def period_heading(grain: Grain) -> Note:
    """Return what a column of periods is called."""
    words = GRAIN_WORDS[grain]
    return Note(words.en.title(), words.zh)
