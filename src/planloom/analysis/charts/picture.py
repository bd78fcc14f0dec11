"""Builds the figure of a chart, checks it, and gives it back as bytes."""

# matplotlib's types leave keyword arguments and some results open.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
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
from planloom.analysis.charts.reading import ChartData, read_chart_data
from planloom.analysis.numbers.units import unit_word
from planloom.analysis.results import ChartSpec
from planloom.errors import ToolError
from planloom.notes import Lang, Note
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
            _check(figure)
            files: dict[PictureFormat, bytes] = {name: _saved(figure, name) for name in formats}
    width, height = figure.canvas.get_width_height()
    return Picture(files, int(width), int(height), words)


@contextmanager
def _settings() -> Generator[None]:
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
            return draw_line(data, sheet, incomplete=spec.incomplete if data.grain else ())
        case "donut":
            return draw_donut(data, sheet)
        case _:
            return draw_bar(data, sheet, horizontal=spec.horizontal)


def _check(figure: Figure) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        problems = [problem.note for problem in check_figure(figure)]
    problems += [Note.same(str(each.message)) for each in caught if "Glyph" in str(each.message)]
    if problems:
        languages: tuple[Lang, Lang] = ("en", "zh")
        english, chinese = (
            " ".join(dict.fromkeys(problem.text(lang) for problem in problems))
            for lang in languages
        )
        raise ToolError(
            f"The chart did not pass its check. {english}", zh=f"图表未通过检查。{chinese}"
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
    """Return the data with names that the fonts can draw; others become "#3", their number."""
    names = _shown(data.names, lettering)
    series = _shown([series.name for series in data.series], lettering)
    return replace(
        data,
        names=tuple(names),
        series=tuple(
            replace(each, name=name) for name, each in zip(series, data.series, strict=True)
        ),
    )


def _shown(names: Sequence[str], lettering: Lettering) -> list[str]:
    shown = [lettering.drawable(name) for name in names]
    if 2 * shown.count("") > len(shown):
        name = names[shown.index("")]
        raise ToolError(
            f"No font here can draw most names of the chart, such as '{name}'. "
            "Install a font for their script, such as Noto Sans.",
            zh=f"图中多数名称（例如“{name}”）没有字体可以显示。请安装相应文字的字体，"
            "例如 Noto Sans。",
        )
    return [name or f"#{number}" for number, name in enumerate(shown, 1)]


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
    unit = unit_word(spec.unit, lang)
    if unit and unit.casefold() not in text.casefold():
        text += f" ({unit})" if lang == "en" else f"（{unit}）"
    names = spec.x_title.text(lang)
    if spec.kind == "line" or not names:
        return text
    if names[1:].islower():  # A common word, begun with a capital because it stood alone.
        names = names[0].lower() + names[1:]
    return f"{text}, by {names}" if lang == "en" else f"{text}，按{names}"
