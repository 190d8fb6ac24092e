"""The arrows between the layers, read from the imports; see ARCHITECTURE.md."""

from __future__ import annotations

import ast
from pathlib import Path

import holdfast

SOURCE = Path(holdfast.__file__).parent

KNOWS = {
    "core": {"core"},
    "engine": {"core", "engine", "errors", "observe"},
    "observe": {"observe"},
    "errors": set(),
    "stores": {"core", "engine", "stores", "errors", "url"},
    "drive": {"core", "engine", "drive", "errors", "observe", "stores"},
    "cli": {"cli", ""},
}
"""What a layer may import of holdfast; "" is the public API.  Whatever is not named here is the API, which knows all
but those who use it."""

USERS = {"cli", "testing"}
WAITING = {"asyncio", "concurrent", "multiprocessing", "select", "signal", "socket", "subprocess", "threading", "time"}
"""What blocks, sleeps, spawns or reads clocks: for drive/ alone, and for those who use the API."""

A_MUTEX = "a mutex around a few operations on dictionaries, held over no I/O"
EXCEPTIONS = {
    ("cli/bell.py", "holdfast.observe.events"): "events are public there; hooks tell them apart by their type",
    ("stores/sqlite/connection.py", "holdfast.drive.clock"): "leases in the file are counted by the machine's clock",
    ("stores/sqlite/connection.py", "time"): "SQLite's own waiting for its file sleeps for whole milliseconds",
    ("stores/sqlite/doorbell.py", "select"): "a transport: it watches the pipes of its neighbours",
    ("stores/sqlite/doorbell.py", "socket"): "a transport: it wakes its neighbours",
    ("stores/sqlite/doorbell.py", "time"): "a transport: it waits a moment for one that is just dying",
    ("stores/sqlite/presence.py", "time"): "how old a file of the dead is, by the clock that dated it",
    ("stores/sqlite/transport.py", "asyncio"): "a transport: what may wait for the disk goes to a thread",
    ("stores/sqlite/transport.py", "threading"): "one thread at a time is inside of a connection",
    ("stores/memory.py", "time"): "its leases are counted by the process' own clock",
    ("stores/memory.py", "threading"): A_MUTEX,
    ("engine/keeper.py", "threading"): A_MUTEX,
    ("engine/queueing.py", "threading"): A_MUTEX,
    ("client_threads.py", "threading"): "which thread it is that asks",
    ("client_tasks.py", "asyncio"): "which task it is that asks",
    ("lease.py", "asyncio"): "cancels the task whose lease is lost",
    ("info.py", "time"): "shows an instant as the time of day, to people",
}


def imports():
    """Each import: its file, its line, and the module it names."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            named = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                assert not node.level, f"{path}:{node.lineno}: imports here are absolute"
                named = [node.module]
                named += [f"{node.module}.{alias.name}" for alias in node.names if is_module(node.module, alias.name)]
            for module in named:
                yield path.relative_to(SOURCE).as_posix(), node.lineno, module


def is_module(package, name):
    return package.startswith("holdfast") and any(
        (SOURCE.joinpath(*package.split(".")[1:], name + end)).exists() for end in ("", ".py")
    )


def broken_rule(file, module):
    """The rule that this import breaks, if any."""
    layer = file.partition("/")[0].removesuffix(".py")
    top, _, rest = module.partition(".")
    if top in WAITING and layer not in {"drive", *USERS}:
        return "only drive/ blocks, sleeps, spawns and reads clocks"
    if top != "holdfast":
        return None
    other = rest.partition(".")[0]
    if layer in KNOWS and other not in KNOWS[layer]:
        return f"{layer} knows only {', '.join(sorted(KNOWS[layer] - {''})) or 'nothing'} and what is not of holdfast"
    return f"only they themselves import {other}" if other in USERS and layer not in {other, "testing"} else None


def test_imports_follow_the_arrows():
    broken = [
        f"src/holdfast/{file}:{line}: {module}: {rule}"
        for file, line, module in imports()
        if (rule := broken_rule(file, module)) and (file, module) not in EXCEPTIONS
    ]
    assert broken == [], "\n" + "\n".join(broken)


def test_no_exception_is_left_over():
    there = {(file, module) for file, _, module in imports() if broken_rule(file, module)}
    assert set(EXCEPTIONS) == there & set(EXCEPTIONS), set(EXCEPTIONS) - there
