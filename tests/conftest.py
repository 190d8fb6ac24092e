"""What all tests share: figures that tests found, shown at the end of the run."""

from __future__ import annotations


def pytest_terminal_summary(terminalreporter):
    """Show what tests recorded by `record_property`, a line for each test function: how many states, runs, requests."""
    lines = {}
    for report in terminalreporter.getreports("passed"):
        if getattr(report, "when", "") != "call":
            continue
        name, _, case = report.nodeid.partition("[")
        for what, number in report.user_properties:
            lines.setdefault((name, what), []).append(f"{case.rstrip(']')} {number}".strip())
    if lines:
        terminalreporter.section("figures")
    for (name, what), figures in lines.items():
        terminalreporter.write_line(f"{name.partition('::')[2]}, {what}: {', '.join(figures)}")
