"""A tool of your own in a plan, with a built-in tool: tables go by reference, never as rows."""

from planloom import Agent, tool
from planloom.values import TableRef


@tool
def describe_size(table: TableRef) -> str:
    """Say how large a table is.

    Args:
        table: Any table.
    """
    return f"{table.rows} rows of {len(table.columns)} columns"


agent = Agent(tools=[describe_size])
outcome = agent.run_plan("""
# Read the orders, clean them, and compare the sizes.
orders = read_csv_file("examples/data/coffee_orders.csv")
clean = clean_data(orders)
before = describe_size(orders)
after = describe_size(clean)
output(before, after)
""")

print(outcome.status)
for step, value in outcome.results.items():
    print(f"{step}: {value}")
