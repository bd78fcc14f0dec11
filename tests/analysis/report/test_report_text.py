import html

import pytest

from planloom.analysis.report.text import bind_escaped, guard, unguard
from planloom.errors import UnsourcedNumberError
from planloom.notes import Note
from planloom.values import Fact

TOTAL = Fact(
    id="sum.total_x", label=Note("Total", "合计"), value=1234, query="SELECT 1", table="t", rows=1
)
FACTS = {TOTAL.id: TOTAL}


def test_placeholder_is_bound_and_the_rest_escaped():
    text = bind_escaped("<b> {{sum.total_x}} & more", FACTS, "en", escape=html.escape)
    assert text == "&lt;b&gt; 1,234 &amp; more"


def test_data_that_looks_like_a_placeholder_stays_data():
    text = guard("{{sum.total_x}}") + " {{sum.total_x}}"
    assert bind_escaped(text, FACTS, "en", escape=str) == "{{sum.total_x}} 1,234"


def test_guard_can_be_undone():
    assert unguard(guard("a {b} {{c}}")) == "a {b} {{c}}"


def test_unknown_fact_is_refused_with_the_nearest():
    with pytest.raises(UnsourcedNumberError, match=r"sum\.total_x"):
        bind_escaped("{{sum.total}}", FACTS, "en", escape=str)
