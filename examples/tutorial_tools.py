"""The seven tools that tutorials know, as one plan: from a file to a saved Markdown report."""

from planloom import Agent

agent = Agent(writable=["sales-report"])
outcome = agent.run_plan("""
orders = read_csv_file("examples/data/coffee_orders.csv")
summary = get_data_summary(orders)
clean = clean_data(orders, [{"op": "trim_text"}, {"op": "drop_duplicates"}])
trend = perform_analysis(clean, "trend", value="amount", date="order_date")
chart = create_visualization(trend, "line", x="period", y="amount", title="Monthly sales")
report = write_markdown_report("Sales", [
    {"heading": "Trend", "text": "Month by month.", "images": [chart]},
])
saved = save_report(report, "sales-report")
output(saved, summary)
""")

print(outcome.status)
for why in outcome.missing:
    print(why)
