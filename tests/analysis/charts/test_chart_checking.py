from collections.abc import Iterator

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from planloom.analysis.charts.checking import check_figure


@pytest.fixture(autouse=True)
def own_settings() -> Iterator[None]:
    with mpl.rc_context({"font.family": ["DejaVu Sans"]}):
        yield


def sound_figure() -> Figure:
    figure = Figure(figsize=(6, 4), dpi=100)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.1, 0.1, 0.8, 0.8))
    axes.bar([0, 1, 2], [3, 2, 1])
    axes.set_xticks([0, 1, 2], ["a", "b", "c"])
    return figure


def kinds(figure: Figure) -> set[str]:
    return {problem.kind for problem in check_figure(figure)}


def test_sound_figure_has_no_problem() -> None:
    assert check_figure(sound_figure()) == ()


def test_label_cut_at_the_edge_is_found() -> None:
    figure = sound_figure()
    figure.text(0.9, 0.5, "a name that leaves the page")
    (problem,) = check_figure(figure)
    assert problem.kind == "cut"
    assert "'a name that leaves the page' is cut off" in problem.note.text("en")
    assert "超出了图片边缘" in problem.note.text("zh")


def test_overlapping_labels_are_found() -> None:
    figure = sound_figure()
    figure.axes[0].set_xticks([0, 0.1, 2], ["first name", "second name", "c"])
    (problem,) = check_figure(figure)
    assert problem.kind == "overlap"
    assert "'first name' and 'second name'" in problem.note.text("en")


def test_letters_without_a_glyph_are_found() -> None:
    figure = sound_figure()
    figure.text(0.5, 0.95, "销售额 total")
    with pytest.warns(UserWarning, match="Glyph"):
        problems = check_figure(figure)
    assert [problem.kind for problem in problems] == ["missing_glyph"]
    assert "'销'" in problems[0].note.text("en")
    assert "'t'" not in problems[0].note.text("en")


def test_font_that_is_used_counts_not_fonts_that_exist() -> None:
    figure = sound_figure()
    figure.text(0.5, 0.95, "Привет", family=["STIXNonUnicode"])
    with pytest.warns(UserWarning, match="Glyph"):
        assert kinds(figure) == {"missing_glyph"}


def test_blank_name_among_names_is_found() -> None:
    figure = sound_figure()
    figure.axes[0].set_xticks([0, 1, 2], ["a", "  ", "c"])
    assert kinds(figure) == {"empty_label"}


@pytest.mark.parametrize("values", [[], [np.nan, np.nan]])
def test_figure_without_marks_is_found(values: list[float]) -> None:
    figure = Figure()
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.plot(range(len(values)), values)
    axes.axhline(0)
    assert kinds(figure) == {"no_data"}


@pytest.mark.parametrize("lying", [False, True])
def test_bars_cut_off_above_zero_are_found(*, lying: bool) -> None:
    figure = Figure()
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    if lying:
        axes.barh([0, 1], [30, 31])
        axes.set_xlim(29, 32)
    else:
        axes.bar([0, 1], [30, 31])
        axes.set_ylim(29, 32)
    assert kinds(figure) == {"not_from_zero"}


def test_line_that_runs_backwards_is_found() -> None:
    figure = Figure()
    FigureCanvasAgg(figure)
    figure.add_subplot().plot([1, 3, 2], [1, 2, 3])
    assert kinds(figure) == {"order"}


def test_bars_thinner_than_a_pixel_are_found() -> None:
    figure = sound_figure()
    figure.axes[0].bar(np.linspace(0, 2, 50), np.ones(50), width=0.001)
    assert kinds(figure) == {"crowded"}
