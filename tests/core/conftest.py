"""The last lines of a run: how much was searched, and within which bounds."""

from __future__ import annotations

from collections.abc import Callable

import pytest

COUNTED = pytest.StashKey[list[str]]()


@pytest.fixture
def count(pytestconfig: pytest.Config) -> Callable[[str], None]:
    """Keeps a line for the end of the run."""
    return pytestconfig.stash.setdefault(COUNTED, []).append


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    counted = config.stash.get(COUNTED, [])
    if counted:
        terminalreporter.section("searched")
        for line in counted:
            terminalreporter.line(line)
