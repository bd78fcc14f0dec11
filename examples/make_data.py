"""Make the two example data sets, in English and in Chinese, with the dirt that real exports have.

Run `python examples/make_data.py`; the same files come out every time. What is wrong in them on
purpose is listed beside each `DIRT` constant, so that the report's data-quality part can be judged.
"""

from __future__ import annotations

import csv
import io
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

DATA = Path(__file__).parent / "data"
FIRST_DAY = date(2024, 1, 1)
LAST_DAY = date(2025, 9, 17)  # a Wednesday: the last month is incomplete


@dataclass(frozen=True)
class Product:
    name: str
    category: str
    price: float
    summer: float
    """How much more it sells in July than in January; 0 means no season."""


@dataclass(frozen=True)
class Store:
    name: str
    region: str
    weight: float
    opened: date = FIRST_DAY


ENGLISH_PRODUCTS = (
    Product("Espresso Beans 1kg", "Coffee", 24.50, -0.1),
    Product("House Blend 500g", "Coffee", 13.90, -0.1),
    Product("Decaf 500g", "Coffee", 14.40, 0.0),
    Product("Cold Brew 6-pack", "Cold drinks", 17.80, 0.9),
    Product("Iced Latte Can", "Cold drinks", 3.20, 0.9),
    Product("Green Tea 100g", "Tea", 9.60, 0.0),
    Product("Chai Mix 400g", "Tea", 11.20, -0.4),
    Product("French Press", "Equipment", 34.00, -0.2),
    Product("Hand Grinder", "Equipment", 59.00, -0.2),
    Product("Travel Mug", "Equipment", 21.50, 0.1),
    Product("Shortbread Box", "Bakery", 8.40, -0.3),
    Product("Almond Biscotti", "Bakery", 7.10, -0.2),
)
ENGLISH_STORES = (
    Store("Harbour Street", "North", 1.5),
    Store("Station Hall", "North", 1.1),
    Store("Old Market", "South", 1.3),
    Store("Riverside", "South", 0.8),
    Store("University", "West", 1.0),
    Store("Airport", "West", 0.7, date(2024, 9, 2)),
)
ENGLISH_DIRT = """amount written as $1,234.50; 14 exact duplicate rows; channel in mixed spelling
and with blanks; missing stores and quantities (N/A); two ragged lines; a Total line and a note at
the end; order ids with leading zeros"""

CHINESE_PRODUCTS = (
    Product("明前龙井 250克", "茶叶", 268.0, -0.1),
    Product("茉莉花茶 200克", "茶叶", 88.0, 0.1),
    Product("陈年普洱 357克", "茶叶", 328.0, -0.2),
    Product("冷泡茶 12瓶", "饮品", 72.0, 0.9),
    Product("酸梅汤 6瓶", "饮品", 48.0, 1.0),
    Product("桂花糕礼盒", "糕点", 98.0, -0.4),
    Product("绿豆糕 500克", "糕点", 46.0, 0.5),
    Product("紫砂壶", "茶具", 459.0, -0.2),
    Product("玻璃公道杯", "茶具", 69.0, 0.0),
    Product("旅行茶具套装", "茶具", 199.0, 0.2),
)
CHINESE_STORES = (
    Store("南京东路店", "上海", 1.6),
    Store("徐家汇店", "上海", 1.2),
    Store("湖滨银泰店", "杭州", 1.3),
    Store("西溪店", "杭州", 0.7),
    Store("观前街店", "苏州", 0.9),
    Store("新街口店", "南京", 1.0, date(2024, 5, 6)),
)
CHINESE_DIRT = """GB18030 编码；表头上方有标题行；金额带 ¥ 和千分位；9 行完全重复；
渠道写法不一并带空格；门店、数量有缺失（无、-）；一行字段过少；
末尾有合计行和备注行；订单号以 0 开头"""


def daily_orders(
    products: Sequence[Product], stores: Sequence[Store], *, per_day: float, source: random.Random
) -> Iterator[tuple[date, Store, Product, int]]:
    """Yield one (day, store, product, quantity) for each order, in order of time."""
    day = FIRST_DAY
    while day <= LAST_DAY:
        growth = 1 + 0.22 * (day - FIRST_DAY).days / 365
        weekend = 1.35 if day.weekday() >= 5 else 1.0
        december = 1.5 if day.month == 12 and day.day < 25 else 1.0
        open_stores = [store for store in stores if store.opened <= day]
        expected = per_day * growth * weekend * december * len(open_stores) / len(stores)
        for _ in range(max(0, round(source.gauss(expected, expected * 0.15)))):
            store = source.choices(open_stores, [store.weight for store in open_stores])[0]
            warmth = -math.cos(2 * math.pi * (day.timetuple().tm_yday - 20) / 365)
            weights = [max(0.05, 1 + product.summer * warmth) for product in products]
            product = source.choices(products, weights)[0]
            quantity = source.choices((1, 2, 3, 4, 6, 12), (58, 22, 9, 6, 4, 1))[0]
            yield day, store, product, quantity
        day += timedelta(days=1)


def english() -> str:
    """Return the text of the English data set; its faults: ENGLISH_DIRT."""
    source = random.Random(20240101)
    spellings = (
        "Online",
        "Online",
        "Online",
        "online",
        " Online",
        "In store",
        "In store",
        "IN STORE",
    )
    rows: list[list[str]] = []
    orders = daily_orders(ENGLISH_PRODUCTS, ENGLISH_STORES, per_day=5.2, source=source)
    for number, (day, store, product, quantity) in enumerate(orders, 1):
        amount = round(product.price * quantity * source.choice((1, 1, 1, 1, 0.9)), 2)
        rows.append([
            f"{number:07d}",
            day.strftime("%d/%m/%Y"),
            "" if source.random() < 0.006 else store.name,
            store.region,
            product.category,
            product.name,
            "N/A" if source.random() < 0.004 else str(quantity),
            f"${amount:,.2f}",
            source.choice(spellings),
        ])  # fmt: skip
    for position in sorted(source.sample(range(200, len(rows)), 14), reverse=True):
        rows.insert(position, rows[position])
    rows[777] = rows[777][:5]
    rows[2222] = [*rows[2222], "checked", "ok"]
    header = ["order_id", "order_date", "store", "region", "category", "product", "quantity",
              "amount", "channel"]  # fmt: skip
    rows.append(["Total", "", "", "", "", "", "", f"${_total(rows, 7):,.2f}", ""])
    return _csv_text([header, *rows]) + "Exported from the till system. Figures are unaudited.\n"


def chinese() -> str:
    """Return the text of the Chinese data set; its faults: CHINESE_DIRT."""
    source = random.Random(20240501)
    spellings = ("线上", "线上", "线上", " 线上", "线下", "线下", "线下 ", "线下")
    rows: list[list[str]] = []
    orders = daily_orders(CHINESE_PRODUCTS, CHINESE_STORES, per_day=4.4, source=source)
    for number, (day, store, product, quantity) in enumerate(orders, 1):
        amount = product.price * quantity * source.choice((1, 1, 1, 0.95, 0.88))
        rows.append([
            f"00{number:06d}",
            f"{day.year}/{day.month}/{day.day}",
            store.region,
            "无" if source.random() < 0.005 else store.name,
            product.category,
            product.name,
            "-" if source.random() < 0.004 else str(quantity),
            f"¥{amount:,.2f}",
            source.choice(spellings),
        ])  # fmt: skip
    for position in sorted(source.sample(range(100, len(rows)), 9), reverse=True):
        rows.insert(position, rows[position])
    rows[1500] = rows[1500][:4]
    rows.append(["合计", "", "", "", "", "", "", f"¥{_total(rows, 7):,.2f}", ""])
    header = ["订单号", "下单日期", "城市", "门店", "品类", "商品", "数量", "金额", "渠道"]
    return "门店销售明细\n" + _csv_text([header, *rows]) + "备注：数据由收银系统导出，未经审计。\n"


def _dollars(cell: str) -> float:
    return float(cell.lstrip("$¥").replace(",", ""))


def _total(rows: Sequence[Sequence[str]], column: int) -> float:
    """Add up what an export would add up: every row with an amount, also the damaged ones."""
    return sum(_dollars(row[column]) for row in rows if len(row) > column)


def _csv_text(rows: Sequence[Sequence[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def main() -> None:
    DATA.mkdir(exist_ok=True)
    (DATA / "coffee_orders.csv").write_text(english(), encoding="utf-8", newline="\n")
    (DATA / "tea_orders_zh.csv").write_text(chinese(), encoding="gb18030", newline="\n")


if __name__ == "__main__":
    main()
