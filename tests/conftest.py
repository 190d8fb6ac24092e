"""What all tests share: figures that a test found, shown at the end of the run."""

from __future__ import annotations


def pytest_terminal_summary(terminalreporter):
    """Show what tests recorded by `record_property`: how many states, runs, requests."""
    lines = [
        f"{report.nodeid}: " + ", ".join(f"{name} {value}" for name, value in report.user_properties)
        for report in terminalreporter.getreports("passed")
        if getattr(report, "when", "") == "call" and report.user_properties
    ]
    if lines:
        terminalreporter.section("figures")
        for line in lines:
            terminalreporter.write_line(line)
