from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planloom.models.sse import EventReader


def events(*pieces: bytes) -> list[bytes]:
    reader = EventReader()
    found = [data for piece in pieces for data in reader.feed(piece)]
    return [*found, *reader.finish()]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_lines_end_in_any_way(end: bytes):
    assert events(end.join([b": hello", b"event: x", b"data: a", b"data:b", b"", b""])) == [b"a\nb"]


def test_last_event_may_lack_its_empty_line():
    assert events(b"data: a\n\ndata: b") == [b"a", b"b"]


def test_fields_without_data_are_no_events():
    assert events(b"id: 1\n\n: ping\n\nretry: 5\n\n") == []


@given(
    st.lists(st.sampled_from(["a", "{}", "爱", " x: y", ":"]), min_size=1, max_size=6),
    st.sampled_from(["\n", "\r\n"]),
    st.lists(st.integers(0, 200), max_size=8),
)
def test_cuts_change_nothing(texts: list[str], end: str, cuts: list[int]):
    whole = "".join(f"data: {text}{end}{end}" for text in texts).encode()
    edges = sorted({0, len(whole), *(cut for cut in cuts if cut < len(whole))})
    pieces = [whole[a:b] for a, b in pairwise(edges)]
    assert events(*pieces) == [text.encode() for text in texts]
