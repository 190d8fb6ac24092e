"""What importing holdfast loads: next to nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import holdfast

SOURCE = str(Path(holdfast.__file__).parent.parent)
HEAVY = {
    "asyncio",
    "dataclasses",
    "importlib.metadata",
    "inspect",
    "logging",
    "sqlite3",
    "ssl",
    "click",
    "rich",
    "pytest",
}


def loaded(code):
    """The modules that this code loads, in a bare interpreter: without site, and what it brings."""
    program = f"import sys; sys.path.insert(0, {SOURCE!r}); before = set(sys.modules)\n{code}\n"
    program += "print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-S", "-E", "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_it_loads_nothing_of_it():
    modules = loaded("import holdfast")
    assert not modules & HEAVY
    assert [name for name in modules if name.startswith("holdfast")] == ["holdfast"]


def test_looking_at_its_names_loads_nothing():
    assert [name for name in loaded("import holdfast; dir(holdfast)") if name.startswith("holdfast")] == ["holdfast"]


def test_a_client_for_threads_loads_nothing_heavy():
    modules = loaded("import holdfast\nwith holdfast.connect('memory:') as locks, locks.mutex('k'): locks.inspect('k')")
    assert not modules & HEAVY
    assert "holdfast.client_tasks" not in modules


@pytest.mark.parametrize("name", ["LeaseLost", "ConfigError"])
def test_an_error_alone_loads_no_client(name):
    modules = loaded(f"import holdfast; holdfast.{name}")
    assert {name for name in modules if name.startswith("holdfast")} == {"holdfast", "holdfast.errors"}
