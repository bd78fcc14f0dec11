"""Reports over random clean tables: what the templates say passes the check of numbers."""

from __future__ import annotations

import random
from datetime import date, timedelta
from pathlib import Path

import pytest

from planloom.analysis.analyses.overview import overview
from planloom.analysis.analyses.ranking import ranking
from planloom.analysis.analyses.share import share
from planloom.analysis.analyses.trend import trend
from planloom.analysis.cleaning import clean_table
from planloom.analysis.loading.load import load_file
from planloom.analysis.recipe import Recipe, SourceFile
from planloom.analysis.report.compose import compose
from planloom.analysis.report.deliverable import check_numbers
from planloom.analysis.report.html import to_html
from planloom.analysis.report.markdown import to_markdown
from planloom.analysis.report.material import Finding, Material, Reading
from planloom.analysis.results import Analysis
from planloom.notes import Lang

SHOPS: dict[Lang, list[str]] = {
    "en": ["North", "Store 12", "5th Avenue", "Old Town", "X100", "2nd hand"],
    "zh": ["南京路店", "第一百货", "12号店", "万达店", "三明店", "X100"],
}
NAMES: dict[Lang, list[str]] = {
    "en": ["order_date", "shop", "amount", "qty"],
    "zh": ["下单日期", "门店", "金额", "数量"],
}


def make_file(folder: Path, seed: int, lang: Lang) -> Path:
    """Write a table whose size, spread, drift and gaps depend on the seed."""
    source = random.Random(seed)
    names, shops = NAMES[lang], SHOPS[lang][: source.randint(1, 6)]
    drift, noise = source.uniform(-1, 1), source.choice((0, 0.2, 0.9))
    days, rows = source.choice((20, 90, 400, 1100)), [",".join(names)]
    for number in range(source.choice((3, 40, 300))):
        day = date(2023, 1, 1) + timedelta(days=source.randrange(days))
        level = 100 * (1 + drift * (day - date(2023, 1, 1)).days / days)
        amount = level * (1 + noise * source.uniform(-1, 1)) * source.choice((1, 1, 1, -0.2))
        quantity = source.choice((1, 1, 2, 3, number % 7))
        rows.append(f"{day},{source.choice(shops)},{amount:.2f},{quantity}")
    path = folder / f"sales_{seed}.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def analyses(table, names: list[str], folder: Path) -> list[Analysis]:
    day, shop, amount, quantity = names
    made: list[Analysis] = []

    def out() -> Path:
        path = folder / f"a{len(made)}"
        path.mkdir()
        return path

    made.append(overview(table, measures=[amount], date=day, categories=[shop], out=out()))
    made.append(trend(table, date=day, value=amount, out=out()))
    made.append(trend(table, date=day, value=amount, by=shop, grain="month", out=out()))
    made.append(trend(table, date=day, how="count", out=out()))
    made.append(share(table, category=shop, value=amount, out=out()))
    made.append(ranking(table, category=shop, value=amount, out=out()))
    made.append(ranking(table, category=shop, value=quantity, how="mean", out=out()))
    return made


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("seed", range(100, 150))
def test_own_templates_pass_the_check(lang: Lang, seed: int, tmp_path: Path):
    loaded = load_file(make_file(tmp_path, seed, lang), out=tmp_path)
    table = loaded.tables[0]
    cleaned = clean_table(table.table, (), out=tmp_path / "cleaned.parquet")
    findings = [Finding(analysis=a) for a in analyses(cleaned.table, NAMES[lang], tmp_path)]
    source = SourceFile(file=loaded.file, path=loaded.path, sha256=loaded.sha256)
    material = Material(
        goal="", lang=lang, loaded=loaded, table=table, traps=(), cleaned=cleaned,
        findings=tuple(findings), reading=Reading(),
        recipe=Recipe(source=source, table=0, operations=(), conditions=()),
    )  # fmt: skip
    document = compose(material)
    check_numbers(document, to_markdown(document))
    check_numbers(document, to_html(document))
