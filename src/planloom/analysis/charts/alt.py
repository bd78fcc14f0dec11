"""Says in words what a chart shows, for those who cannot see it."""

from __future__ import annotations

from planloom.analysis.charts.reading import ChartData
from planloom.analysis.results import ChartKind, ChartSpec
from planloom.notes import Lang, Note

_KINDS: dict[ChartKind, Note] = {
    "line": Note("Line chart", "折线图"),
    "bar": Note("Bar chart", "柱状图"),
    "stacked_bar": Note("Stacked bar chart", "堆叠柱状图"),
    "donut": Note("Donut chart", "环形图"),
}
_MANY = 12
_STOPS = ".?!。？！…"


def alt_text(data: ChartData, spec: ChartSpec, lang: Lang) -> str:
    """Return the kind and title, what the axes show, the names in full, and what is largest.

    Numbers are left to the table beside the chart: in a report each would have to be a fact.
    """
    parts = [
        _joined(lang, _KINDS[spec.kind].text(lang), spec.title.text(lang)),
        _axes(spec, lang),
        _names(data, lang) if data.grain is None else "",
        _series(data, lang) if len(data.series) > 1 else _extremes(data, lang),
    ]
    stop, gap = (".", " ") if lang == "en" else ("。", "")
    return gap.join(part if part[-1] in _STOPS else part + stop for part in parts if part)


def _axes(spec: ChartSpec, lang: Lang) -> str:
    x, y = spec.x_title.text(lang), spec.y_title.text(lang)
    if spec.kind == "donut":
        note = Note(
            "Parts of the whole: {y} by {x}", "各部分占比：{y}，按{x}划分", {"x": x, "y": y}
        )
    else:
        note = Note("{y} by {x}", "按{x}显示{y}", {"x": x, "y": y})
    return note.text(lang)


def _names(data: ChartData, lang: Lang) -> str:
    if len(data.names) > _MANY:
        names = _list(data.names[:_MANY], lang)
        return Note("From the first: {names} …", "依次为：{names}……", {"names": names}).text(lang)
    return Note("In order: {names}", "依次为：{names}", {"names": _list(data.names, lang)}).text(
        lang
    )


def _series(data: ChartData, lang: Lang) -> str:
    names = _list([series.name for series in data.series], lang)
    return Note("Shown for: {names}", "分别显示：{names}", {"names": names}).text(lang)


def _extremes(data: ChartData, lang: Lang) -> str:
    known = [(v, n) for v, n in zip(data.values, data.names, strict=True) if v is not None]
    high, low = max(known, key=_value), min(known, key=_value)
    if data.grain is not None or high[0] == low[0]:  # Dates are numbers too.
        return ""
    return Note(
        "Largest: {high}; smallest: {low}", "最大：{high}；最小：{low}",
        {"high": high[1], "low": low[1]},
    ).text(lang)  # fmt: skip


def _value(pair: tuple[float, str]) -> float:
    return pair[0]


def _list(names: tuple[str, ...] | list[str], lang: Lang) -> str:
    return (", " if lang == "en" else "、").join(names)


def _joined(lang: Lang, kind: str, title: str) -> str:
    return f"{kind}: {title}" if lang == "en" else f"{kind}：{title}"
