"""Builds the figure of a chart, checks it, and gives it back as bytes."""

# matplotlib's types leave keyword arguments and some results open.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import matplotlib.style
from matplotlib.figure import Figure

from planloom.analysis.charts import alt, style
from planloom.analysis.charts.bar import draw_bar
from planloom.analysis.charts.canvas import Sheet
from planloom.analysis.charts.checking import check_figure
from planloom.analysis.charts.donut import draw_donut
from planloom.analysis.charts.lettering import Lettering, typeface_for
from planloom.analysis.charts.line import draw_line
from planloom.analysis.charts.reading import ChartData, Series, read_chart_data
from planloom.analysis.results import ChartKind, ChartSpec
from planloom.errors import ToolError
from planloom.notes import Lang
from planloom.values import TableRef

PictureFormat = Literal["png", "svg"]


@dataclass(frozen=True, slots=True)
class Picture:
    """A finished chart."""

    files: dict[PictureFormat, bytes]
    width: int
    """Pixels of the PNG."""
    height: int
    alt: str


def render(
    table: TableRef, spec: ChartSpec, *, lang: Lang, formats: tuple[PictureFormat, ...]
) -> Picture:
    """Return the checked picture of a chart; the same input gives the same bytes.

    matplotlib's settings are those of before when it returns.

    Raises:
        ToolError: the table cannot be drawn so, or the picture did not pass its check.
    """
    data = read_chart_data(table, spec, lang)
    words = alt.alt_text(data, spec, lang)
    with _settings():
        lettering = Lettering(typeface_for("".join(_texts(data, spec, lang))))
        with matplotlib.rc_context({"font.family": list(lettering.typeface.families)}):
            figure = _figure(_lettered(data, lettering), _sheet(spec, lettering, lang), spec)
            _check(figure, spec.kind)
            files = {name: _saved(figure, name) for name in formats}
    width, height = figure.canvas.get_width_height()
    return Picture(files, int(width), int(height), words)


@contextmanager
def _settings() -> Iterator[None]:
    """Draw with our settings alone, not the user's, and say nothing about fonts on the way."""
    log = logging.getLogger("matplotlib")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with matplotlib.style.context(["default", dict(style.SETTINGS)]):
            yield
    finally:
        log.setLevel(level)


def _figure(data: ChartData, sheet: Sheet, spec: ChartSpec) -> Figure:
    match spec.kind:
        case "line":
            return draw_line(data, sheet)
        case "donut":
            return draw_donut(data, sheet)
        case _:
            return draw_bar(data, sheet, horizontal=spec.horizontal)


def _check(figure: Figure, kind: ChartKind) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        problems = [problem.text for problem in check_figure(figure)]
    problems += [str(each.message) for each in caught if "Glyph" in str(each.message)]
    if problems:
        raise ToolError(
            f"The {kind} chart did not pass its check: " + " ".join(dict.fromkeys(problems))
        )


def _saved(figure: Figure, name: PictureFormat) -> bytes:
    # No date and no version inside: the same chart is the same file.
    empty = {"Software": None} if name == "png" else {"Date": None, "Creator": None}
    file = io.BytesIO()
    figure.savefig(file, format=name, dpi=style.DPI, metadata=empty)
    return file.getvalue()


def _texts(data: ChartData, spec: ChartSpec, lang: Lang) -> list[str]:
    notes = (spec.title, spec.x_title, spec.y_title)
    series = (each.name for each in data.series)
    own = "…0123456789年月日第周万亿合计无数据" if lang == "zh" else "…"
    return [*(note.text(lang) for note in notes), spec.unit, *data.names, *series, own]


def _lettered(data: ChartData, lettering: Lettering) -> ChartData:
    """Return the data with names that the fonts can draw."""
    return ChartData(
        names=tuple(lettering.drawable(name) for name in data.names),
        series=tuple(
            Series(lettering.drawable(series.name), series.values) for series in data.series
        ),
        grain=data.grain,
        places=data.places,
    )


def _sheet(spec: ChartSpec, lettering: Lettering, lang: Lang) -> Sheet:
    return Sheet(
        lettering=lettering,
        lang=lang,
        unit=spec.unit,
        title=lettering.drawable(spec.title.text(lang)),
        subtitle=lettering.drawable(_subtitle(spec, lang)),
    )


def _subtitle(spec: ChartSpec, lang: Lang) -> str:
    """Return what is measured, in which unit, and of what the categories are."""
    text = spec.y_title.text(lang)
    if spec.unit and spec.unit not in text:
        text += f" ({spec.unit})" if lang == "en" else f"（{spec.unit}）"
    names = spec.x_title.text(lang)
    if spec.kind == "line" or not names:
        return text
    if names[1:].islower():  # A common word, begun with a capital because it stood alone.
        names = names[0].lower() + names[1:]
    return f"{text}, by {names}" if lang == "en" else f"{text}，按{names}"
