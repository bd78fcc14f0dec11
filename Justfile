# `just` runs everything that a change must pass.
python := ".venv/bin/python"

all: format lint types imports test

setup:
    python3 -m venv .venv
    {{python}} -m pip install -q -r requirements/dev.txt
    {{python}} -m pip install -q --no-deps -e .

format:
    {{python}} -m ruff format .

lint:
    {{python}} -m ruff check .

types:
    {{python}} -m pyright

imports:
    .venv/bin/lint-imports --no-cache

test *ARGS:
    {{python}} -m pytest {{ARGS}}

# The example reports, into reports/.
report:
    .venv/bin/planloom report examples/data/coffee_orders.csv --goal "How do sales develop month by month, which products sell best, and what share does each store have?" --out reports/coffee
    .venv/bin/planloom report examples/data/tea_orders_zh.csv --goal "分析各月销售额走势、各品类占比和商品排名" --out reports/tea
