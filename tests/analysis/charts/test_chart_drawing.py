import logging
import re
import struct
import subprocess
import sys
from collections.abc import Callable
from datetime import date, datetime, timedelta
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.image import imread

from planloom.analysis.analyses.labels import other_mark
from planloom.analysis.charts.draw import draw
from planloom.analysis.database import connect, write_table
from planloom.analysis.results import Analysis, ChartSpec
from planloom.errors import ToolError
from planloom.notes import Note
from planloom.values import ImageRef, TableRef, file_sha256

Chart = Callable[..., ImageRef]
MONTHS = [date(2023 + n // 12, n % 12 + 1, 1) for n in range(18)]
RANKED = [("North", 1_234_567), ("East", 998_000.5), ("South", 432_100), ("Other (3)", 90_000)]
PARTS = [("Online", 45.0), ("Stores", 30.0), ("Partners", 15.0), ("Fairs", 10.0)]
ROWS = {
    "line": [(month, 1e6 + 3e4 * n, 8e5 - 1e4 * n) for n, month in enumerate(MONTHS)],
    "bar": RANKED,
    "stacked_bar": [(f"2024-Q{q}", 5e5 * q, 4e5, 3e5) for q in (1, 2, 3, 4)],
    "donut": PARTS,
}


@pytest.mark.parametrize("kind", ROWS)
def test_chart_is_a_png_1440_pixels_wide(kind: str, chart: Chart) -> None:
    image = chart(kind, ROWS[kind], unit="$")
    content = Path(image.path).read_bytes()
    assert struct.unpack(">II", content[16:24]) == (image.width, image.height)
    assert (image.width, image.media_type, image.size) == (1440, "image/png", len(content))
    assert image.sha256 == file_sha256(image.path)
    assert 600 <= image.height <= 900
    assert Path(image.path).is_absolute()


@pytest.mark.parametrize("kind", ROWS)
def test_chart_in_chinese_says_so_in_its_alt_text(kind: str, chart: Chart) -> None:
    names = ["月份", "华东", "华南", "华北"][: len(ROWS[kind][0])]
    image = chart(kind, ROWS[kind], lang="zh", title="销售额走势", unit="¥", names=names)
    assert re.match(r"(折线图|柱状图|堆叠柱状图|环形图)：销售额走势。", image.alt)
    assert image.alt.endswith("。")


def test_same_chart_is_the_same_bytes(chart: Chart) -> None:
    files = [
        Path(chart("line", ROWS["line"], formats=("png", "svg"), out=out).path).parent / out
        for out in ("one", "two")
    ]
    for ending in (".png", ".svg"):
        first, second = (file.with_suffix(ending).read_bytes() for file in files)
        assert first == second
        assert b"dc:date" not in first
        assert b"matplotlib" not in first[:600].lower().replace(b"matplotlib.org/", b"")


def test_drawing_leaves_no_trace_in_settings(
    chart: Chart, capfd: pytest.CaptureFixture[str]
) -> None:
    before = dict(mpl.rcParams)
    level = logging.getLogger("matplotlib").level
    chart("bar", RANKED)
    with pytest.raises(ToolError):
        chart("donut", [("a", 1.0), ("b", -1.0)])
    assert dict(mpl.rcParams) == before
    assert logging.getLogger("matplotlib").level == level
    assert capfd.readouterr() == ("", "")


def test_settings_of_the_user_do_not_show(chart: Chart) -> None:
    plain = chart("line", ROWS["line"], out="plain").sha256
    own = {"lines.linewidth": 9, "font.size": 30, "axes.facecolor": "red", "axes.grid": True}
    with mpl.rc_context(own):
        assert chart("line", ROWS["line"], out="own").sha256 == plain


def test_importing_draw_does_not_load_matplotlib() -> None:
    code = (
        "import sys, planloom.analysis.charts.draw, planloom.analysis.charts.fonts\n"
        "sys.exit('matplotlib' in sys.modules or 'duckdb' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_svg_stands_beside_the_png_and_endings_are_not_doubled(
    chart: Chart, tmp_path: Path
) -> None:
    image = chart("donut", PARTS, out="new/sales.2024.png", formats=("svg",))
    assert Path(image.path).name == "sales.2024.png"
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [
        "sales.2024.png",
        "sales.2024.svg",
    ]


def test_chinese_letters_differ_in_the_picture(chart: Chart) -> None:
    """Were they boxes, all titles of four letters would look alike."""
    titles = [
        imread(chart("bar", RANKED, lang="zh", title=title).path)[:110]
        for title in ("春夏秋冬", "东西南北")
    ]
    assert np.abs(titles[0] - titles[1]).sum() > 500


CHINESE = "华东大区上海市浦东新区张江高科技园区" * 3
TOGETHER = [(year, *[-5.0] * 5, None if year > 2020 else 1) for year in range(1980, 2025)]
MIDNIGHT = datetime.fromisoformat("2024-03-05")
LONG = "The name of a product that is sixty characters long, number "
HARD_ROWS = {
    "one bar": ("bar", [("Only", 1234)]),
    "thirty bars": ("bar", [(f"City {n}", 1e6 * 0.9**n) for n in range(30)]),
    "gains, losses, nothing": ("bar", [("a", 5.5), ("b", -3), ("c", None), ("d", 0), ("e", -10)]),
    "long names": (
        "bar",
        [
            (CHINESE, 11),
            *((f"{LONG}{n}", 10 - n) for n in range(4)),
        ],
    ),
    "scripts": ("bar", [("Ελληνικά", 5), ("Русский", 4), ("العربية", 3), ("日本語", 2)]),
    "signs": ("bar", [("$100 - $200", 5), ("a_b^c", 4), ("🚀 Launch", 3), ("tab\tand\nline", 2)]),
    "no names": ("bar", [(None, 5), ("", 4), ("  ", 3), ("\x1b", 2)]),
    "400 days of bars": ("bar", [(date(2024, 1, 1) + timedelta(n), n % 50) for n in range(400)]),
    "one point": ("line", [(date(2024, 3, 1), 5)]),
    "400 days": ("line", [(date(2024, 1, 1) + timedelta(n), n % 50) for n in range(400)]),
    "12 lines": ("line", [(month, *range(n, n + 12)) for n, month in enumerate(MONTHS)]),
    "lines that end together": ("line", TOGETHER),
    "hours": ("line", [(MIDNIGHT + timedelta(hours=n), n) for n in range(60)]),
    "ordered names": ("line", [(f"Stage {n}", n) for n in range(20)]),
    "12 stacks": ("stacked_bar", [("a", *range(1, 13)), ("b", *range(12, 0, -1))]),
    "stacks below zero": ("stacked_bar", [("a", 5, -2), ("b", None, -3), ("c", -1, 4)]),
    "crumbs": ("donut", [("all", 1e6), ("b", 5), ("c", 4), ("d", 3), ("e", 2), ("f", 1)]),
    "huge and tiny": ("bar", [("a", 5.5e12), ("b", 3e-5), ("c", 1.0)]),
}


@pytest.mark.parametrize("case", HARD_ROWS)
def test_hard_tables_pass_the_check(case: str, chart: Chart) -> None:
    kind, rows = HARD_ROWS[case]
    assert chart(kind, rows, unit="$").width == 1440


def test_alt_text_keeps_full_names_and_gives_no_numbers(chart: Chart) -> None:
    values = {"a": 3, "b": 9, "c": 5}
    rows = [(f"{'A very long name ' * 6}{letter}", value) for letter, value in values.items()]
    alt = chart("bar", rows).alt
    assert all(name in alt for name, _ in rows)
    assert f"Largest: {rows[1][0]}; smallest: {rows[0][0]}." in alt
    assert not re.search(r"\d", alt)


def test_names_that_fit_below_stand_and_others_lie(chart: Chart) -> None:
    standing = chart("bar", [(f"P{n}", n) for n in range(1, 5)], out="a")
    lying = chart("bar", [(f"Many words in name {n}" * 3, n) for n in range(1, 15)], out="b")
    assert standing.height == 810
    assert lying.height > 1000


def test_only_the_first_rows_are_drawn_when_asked(chart: Chart) -> None:
    alt = chart("bar", [("a", 3), ("b", 2), ("rest", 90)], first_rows=2).alt
    assert "In order: a, b." in alt


def test_incomplete_ends_are_dashed(chart: Chart, tmp_path: Path) -> None:
    whole = chart("line", ROWS["line"], out="whole", formats=("svg",))
    dashed = chart("line", ROWS["line"], out="d", formats=("svg",), incomplete=("first", "last"))
    counts = [
        Path(image.path).with_suffix(".svg").read_text().count("stroke-dasharray")
        for image in (whole, dashed)
    ]
    assert counts == [0, 4]


def test_marks_and_headings_of_an_analysis_are_put_into_words(
    table_of: Callable[..., TableRef], tmp_path: Path
) -> None:
    table = table_of([(other_mark(4), 3.0, 1.0), (None, 2.0, 5.0)])
    analysis = Analysis(
        **vars(table), kind="share", title=Note.same("t"), keys=("k",), query="", base="cleaned",
        headings=(Note.same("k"), Note("Sum", "合计"), Note("Mean", "平均")), facts=(), findings=(),
    )  # fmt: skip
    spec = ChartSpec(
        kind="stacked_bar", x="k", y=("y0", "y1"), title=Note.same("t"), x_title=Note.same("k"),
        y_title=Note.same("v"),
    )  # fmt: skip
    alt = draw(analysis, spec, lang="zh", out=tmp_path / "c").alt
    assert "其他（4 类）、（缺失）" in alt
    assert "合计、平均" in alt


REFUSED = {
    "too many slices": ("donut", [(f"s{n}", 1) for n in range(9)], "'result' has 9 rows"),
    "negative slice": ("donut", [("a", 5), ("b", -2)], "'b' has the negative value -2"),
    "single slice": ("donut", [("a", 5), ("b", 0)], "has 1 value"),
    "too many bars": ("bar", [(f"b{n}", 1) for n in range(41)], "gives 41 bars"),
    "too many lines": ("line", [("a", *range(13))], "13 are named"),
    "two measures for bars": ("bar", [("a", 1, 2)], "2 are named"),
    "text": ("bar", [("a", "tall")], "'y0' holds text values"),
    "nothing known": ("line", [("a", None), ("b", None)], "no value in 'y0'"),
    "one month twice": ("line", [("2024-03", 1), ("2024-03", 2)], "Mar 2024 more than once"),
    "overflow": ("bar", [("a", 1e300)], "1e+300 is too large"),
    "unknown script": ("bar", [("\ue000\ue001", 2), ("\ue002", 1)], "No font here can draw"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_shown_is_refused_with_value_and_mend(case: str, chart: Chart) -> None:
    kind, rows, message = REFUSED[case]
    with pytest.raises(ToolError, match=re.escape(message)) as refusal:
        chart(kind, rows)
    assert str(refusal.value).endswith(".")
    assert refusal.value.text("zh") != str(refusal.value)


def test_unknown_column_is_named_with_the_nearest(
    table_of: Callable[..., TableRef], tmp_path: Path
) -> None:
    table = table_of([("a", 1)], names=["region", "amount"])
    note = Note.same("t")
    spec = ChartSpec(kind="bar", x="region", y=("amuont",), title=note, x_title=note, y_title=note)
    with pytest.raises(ToolError, match=r"no column 'amuont'.* Did you mean 'amount'\?"):
        draw(table, spec, lang="en", out=tmp_path / "c")
    assert not list(tmp_path.glob("c*"))


def test_empty_table_is_refused(table_of: Callable[..., TableRef], tmp_path: Path) -> None:
    table = table_of([("a", 1)])
    note = Note.same("t")
    spec = ChartSpec(kind="bar", x="k", y=("y0",), title=note, x_title=note, y_title=note)
    with connect(table, writable=tmp_path) as connection:
        empty = write_table(
            connection, "SELECT * FROM result LIMIT 0", tmp_path / "empty.parquet", name="empty"
        )
    with pytest.raises(ToolError, match="'empty' has no rows"):
        draw(empty, spec, lang="en", out=tmp_path / "c")
