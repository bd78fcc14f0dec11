"""Small data files of known content."""

from __future__ import annotations

import random
from datetime import date, timedelta
from pathlib import Path

import pytest


def order_lines(header: str, names: tuple[str, ...], *, days: int = 150) -> list[str]:
    """Return CSV lines of two orders a day from 2024-01-01 on, the same each time."""
    source = random.Random(7)
    lines = [header]
    for number in range(days * 2):
        day = date(2024, 1, 1) + timedelta(days=number // 2)
        name = source.choice(names)
        lines.append(f"{number:05d},{day.isoformat()},{name},{source.randint(1, 400) / 4:.2f}")
    return lines


@pytest.fixture(scope="session")
def orders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """English orders with one duplicate, one ragged line and a total that adds up."""
    lines = order_lines("order_id,order_date,store,amount", ("North", "South", "East"))
    amounts = [float(line.split(",")[3]) for line in lines[1:]]
    lines.append(lines[42])
    total = sum(amounts) + float(lines[42].split(",")[3])
    lines += ["99999,2024-05-29", f"Total,,,{total:.2f}"]
    path = tmp_path_factory.mktemp("data") / "orders.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def chinese_orders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Chinese orders in GB18030."""
    lines = order_lines("订单号,下单日期,门店,金额", ("南京路店", "西溪店", "观前街店"))
    path = tmp_path_factory.mktemp("data") / "订单.csv"
    path.write_text("\n".join(lines) + "\n", encoding="gb18030")
    return path
