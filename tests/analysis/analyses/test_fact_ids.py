"""Ids are readable, of the allowed letters, and different for different names."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from planloom.analysis.analyses.fact_ids import prefix, segment, table_name


@given(one=st.text(min_size=1), two=st.text(min_size=1))
def test_segments_are_plain_and_tell_names_apart(one, two):
    assert re.fullmatch(r"[\w\-]+", segment(one))
    assert (segment(one) == segment(two)) == (one == two)


def test_plain_names_stay_as_they_are():
    assert segment("销售额_2024") == "销售额_2024"


def test_the_usual_table_is_not_named():
    assert prefix("share", "cleaned", "a", "b") == "share.a.b"
    assert prefix("share", "orders", "a", "b") == "share.in-orders.a.b"


def test_table_names_are_plain_identifiers():
    assert table_name("share", "share.地区.金额").isidentifier()
    assert table_name("share", "share.地区.金额").isascii()
