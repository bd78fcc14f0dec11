"""Which columns and which parts of texts count as personal data, and which do not."""

from __future__ import annotations

import pytest

from planloom.planning.mask import Kind
from planloom.planning.personal_cells import Cells, personal_in, personal_kinds


def kinds(*columns: tuple[str, list[str]]) -> dict[str, Kind]:
    return personal_kinds([Cells(name, "text", values) for name, values in columns])


@pytest.mark.parametrize(
    ("name", "cells", "kind"),
    [
        ("customer_name", ["Ann Lee", "Bob Stone"], "name"),
        ("Surname", ["Lee", "Stone"], "name"),
        ("customer", ["Ann Lee", "Björn Åkesson"], "name"),
        ("name", ["Mary Poe", "Ravi Shan", "James Oh"], "name"),
        ("姓名", ["王芳", "李伟"], "name"),
        ("客户", ["王芳", "欧阳娜娜"], "name"),
        ("x", ["a@b.org", "c@d.de"], "mail"),
        ("x", ["13800138000", "+86 139-1234-5678"], "phone"),
        ("order_phone", ["13800138000"], "phone"),
        ("x", ["110101199003078888"], "id"),
        ("x", ["123-45-6789"], "id"),
        ("x", ["4111 1111 1111 1111", "5555555555554444"], "card"),
        ("x", ["GB82 WEST 1234 5698 7654 32"], "card"),
        ("银行卡号", ["6222021234567890123"], "card"),
        ("收货地址", ["杭州市西湖区文三路 1 号"], "address"),
        ("date_of_birth", ["1990-01-01"], "birthday"),
    ],
)
def test_columns_of_persons_are_found(name: str, cells: list[str], kind: Kind):
    assert kinds((name, cells)) == {name: kind}


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("product_name", ["Blue Widget", "May Lamp"]),
        ("商品名称", ["毛巾", "黄瓜"]),
        ("名称", ["毛巾", "黄瓜", "马桶", "白酒"]),
        ("name", ["Blue Widget", "Red Mug", "Tall Lamp"]),
        ("city", ["San Jose", "Los Angeles"]),
        ("城市", ["杭州", "马鞍山"]),
        ("store", ["Station Hall"]),
        ("customer", ["Acme Corp", "Globex Inc"]),
        ("customer", ["C-001", "C-002"]),
        ("customer_type", ["new", "returning"]),
        ("客户类型", ["新客户", "老客户"]),
        ("order_id", ["15012345678", "15012345679"]),
        ("订单号", ["13912345678"]),
        ("mobile_sales", ["13912345678", "13912345679"]),
        ("device", ["mobile", "desktop"]),
        ("ip_address", ["10.0.0.1"]),
        ("timestamp", ["1700000000000"]),
        ("isbn", ["9783161484100"]),
        ("amount", ["13800138000"]),
    ],
)
def test_columns_of_things_are_left_alone(name: str, cells: list[str]):
    assert kinds((name, cells)) == {}


def test_a_bare_name_is_that_of_whoever_the_other_columns_are_about():
    cells = ["Kestrel Oakes", "Juniper Vale"]
    assert "name" in kinds(("name", cells), ("age", ["30", "31"]))
    assert "name" not in kinds(("name", cells), ("price", ["3", "4"]))


def found(text: str) -> list[str]:
    return [text[start:end] for start, end, _ in personal_in(text)]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("手机号是13800138000，邮箱zhang@x.com.cn。", ["13800138000", "zhang@x.com.cn"]),
        ("身份证110101199003078888，", ["110101199003078888"]),
        ("Call +44 20 7946 0958 or (415) 555-2671.", ["+44 20 7946 0958", "(415) 555-2671"]),
        ("Card 4111-1111-1111-1111, IBAN DE89370400440532013000", [
            "4111-1111-1111-1111", "DE89370400440532013000"]),
    ],
)  # fmt: skip
def test_texts_give_their_addresses_and_numbers(text: str, parts: list[str]):
    assert found(text) == parts


@pytest.mark.parametrize(
    "text",
    [
        "Sales were 13912345678.50 on 2024-01-05 12:30, up 1,234,567.",
        "订单号：15012345678，order #15012345678",
        "ISBN 978-3-16-148410-0, at 1700000000000, version 1.2.3-4567, host 10.0.0.1",
        "sha 0f13800138000ab, card 4111 1111 1111 1112",
        "2023-11-14 to 2024-01-31; 2019-2024",
    ],
)
def test_other_numbers_in_texts_are_left_alone(text: str):
    assert found(text) == []
