from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from planloom.planning.react.paging import PagedToolbox
from planloom.planning.react.toolbox import Observation

TEXT = "".join(f"line {number}\n" for number in range(5000))


def call(box: PagedToolbox, name: str, arguments: Mapping[str, Any]) -> Observation:
    return asyncio.run(box.call(name, arguments, "c1"))


@pytest.fixture
def paged(tools: Any) -> PagedToolbox:
    return PagedToolbox(tools(dump=lambda: TEXT, short=lambda: "short"), 1200)


def test_short_results_and_tools_are_as_they_were(paged: PagedToolbox) -> None:
    before = paged.specs
    assert call(paged, "short", {}).text == "short"
    assert paged.specs is before
    assert [spec.name for spec in before] == ["dump", "short"]


def test_long_result_is_shown_by_head_and_tail(paged: PagedToolbox) -> None:
    shown = call(paged, "dump", {}).text
    assert len(shown) < 1400
    assert shown.startswith("line 0\n")
    assert shown.endswith("line 4999\n")
    assert f"of {len(TEXT):,} characters left out" in shown
    assert 'read_result(id="r1", start=800)' in shown
    assert [spec.name for spec in paged.specs] == ["dump", "short", "read_result", "search_result"]
    assert paged.specs is paged.specs


def test_all_of_a_long_result_can_be_read_page_by_page(paged: PagedToolbox) -> None:
    call(paged, "dump", {})
    read = ""
    while len(read) < len(TEXT):
        page = call(paged, "read_result", {"id": "r1", "start": len(read)}).text
        read += page.rpartition("\n[characters")[0]
    assert read == TEXT


def test_page_is_bounded_whatever_is_asked_for(paged: PagedToolbox) -> None:
    call(paged, "dump", {})
    assert len(call(paged, "read_result", {"id": "r1", "chars": 10**9}).text) < 1400


def test_text_is_found_with_its_place(paged: PagedToolbox) -> None:
    call(paged, "dump", {})
    found = call(paged, "search_result", {"id": "r1", "text": "LINE 4321"}).text
    place = int(found.split(":")[0].removeprefix("at "))
    assert TEXT[place:].startswith("line 4321")
    many = call(paged, "search_result", {"id": "r1", "text": "line"}).text
    assert "more places]" in many
    assert len(many) < 2500
    none = call(paged, "search_result", {"id": "r1", "text": "nowhere"})
    assert "does not occur" in none.text


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("read_result", {"id": "r9"}, "There are: r1."),
        ("read_result", {"id": "r1", "start": 10**9}, "must be below that"),
        ("read_result", {"id": "r1", "start": "x"}, "whole numbers"),
        ("search_result", {}, "There are: r1."),
    ],
)
def test_wrong_pages_are_failures(
    paged: PagedToolbox, name: str, arguments: dict[str, object], said: str
) -> None:
    call(paged, "dump", {})
    seen = call(paged, name, arguments)
    assert not seen.ok
    assert said in seen.text


def test_tools_of_the_same_name_are_not_offered_twice(tools: Any) -> None:
    paged = PagedToolbox(tools(read_result=lambda: TEXT), 1000)
    paged.keep("x")
    assert [spec.name for spec in paged.specs] == ["read_result", "search_result"]


def test_equal_long_results_are_compared_by_their_whole_text(paged: PagedToolbox) -> None:
    first, second = call(paged, "dump", {}), call(paged, "dump", {})
    assert first.text != second.text
    assert first.fingerprint == second.fingerprint != ""
