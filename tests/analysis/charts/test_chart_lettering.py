import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planloom.analysis.charts.lettering import Lettering, spread, typeface_for

LETTERING = Lettering(typeface_for("销售额"))
TEXTS = st.text("abcdefghij 销售额，（）-", min_size=1, max_size=60)


@settings(deadline=None, max_examples=40)
@given(TEXTS, st.integers(40, 300), st.integers(1, 3))
def test_wrapped_text_fits_its_box(text: str, width: int, lines: int) -> None:
    wrapped = LETTERING.wrap(text, width, size=14, lines=lines).split("\n")
    assert len(wrapped) <= lines
    assert all(LETTERING.width(line, 14) <= width for line in wrapped)
    kept = "".join(wrapped).replace(" ", "")
    if kept.endswith("…"):
        assert text.replace(" ", "").startswith(kept[:-1])
    else:
        assert kept == text.replace(" ", "")


def test_words_are_kept_whole_and_chinese_marks_begin_no_line() -> None:
    assert LETTERING.wrap("alpha beta gamma", 80, size=14, lines=3).split("\n") == [
        "alpha beta",
        "gamma",
    ]
    width = LETTERING.width("销售额", 14) + 1
    assert LETTERING.wrap("销售额，合计", width, size=14, lines=3).split("\n")[1][0] == "额"


def test_fits_tells_whether_no_word_must_be_broken() -> None:
    assert LETTERING.fits("alpha beta", 45, size=14, lines=2)
    assert not LETTERING.fits("alphabeta", 45, size=14, lines=2)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("🚀 Launch", "Launch"),
        ("a\tb\r\n c\x00\x1b", "a b c"),
        ("e\u0301", "é"),
        ("\ue000", ""),
        ("🚀", ""),
        ("Shop 𐤀𐤁 North", "Shop … North"),
    ],
)
def test_only_what_the_fonts_can_draw_is_shown(text: str, shown: str) -> None:
    assert LETTERING.drawable(text) == shown


@given(st.lists(st.tuples(st.floats(-50, 350), st.floats(5, 30)), min_size=1, max_size=10))
def test_spread_labels_neither_overlap_nor_leave_their_room(
    labels: list[tuple[float, float]],
) -> None:
    wanted, sizes = zip(*labels, strict=True)
    places = spread(wanted, sizes, 0, 300)
    halves = [size / 2 for size in sizes]
    boxes = sorted((place - half, place + half) for place, half in zip(places, halves, strict=True))
    assert all(high <= low + 1e-6 for (_, high), (low, _) in itertools.pairwise(boxes))
    assert boxes[0][0] >= -1e-6
    assert boxes[-1][1] <= 300 + 1e-6


def test_labels_with_room_stay_where_they_are_wanted() -> None:
    assert spread([50, 10, 90], [10, 10, 10], 0, 100) == [50, 10, 90]
