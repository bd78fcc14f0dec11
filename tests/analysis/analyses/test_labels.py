"""Marks in result tables have words in both languages."""

from __future__ import annotations

import pytest

from planloom.analysis.analyses.labels import is_other, label_note, other_mark


@pytest.mark.parametrize(
    ("key", "en", "zh"),
    [
        (None, "(missing)", "（缺失）"),
        (other_mark(1), "Other (1 category)", "其他（1 类）"),
        (other_mark(1200), "Other (1,200 categories)", "其他（1,200 类）"),
        ("North {x}", "North {x}", "North {x}"),
    ],
)
def test_keys_are_worded(key, en, zh):
    assert (label_note(key).text("en"), label_note(key).text("zh")) == (en, zh)


def test_only_the_mark_is_the_rest():
    assert is_other(other_mark(3))
    assert not any(map(is_other, (None, "other", "⟨other⟩", 3)))
