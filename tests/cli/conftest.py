"""The fixtures of the command's tests: the command itself as a real process, and a store of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from commanding import AT_MOST, HOLDFAST, Said

from holdfast import Client, connect


@pytest.fixture
def store(tmp_path: Path) -> str:
    (tmp_path / "store").mkdir()
    return f"sqlite:///{tmp_path}/store/locks.db"


@pytest.fixture
def environment(store: str) -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("HOLDFAST", "_HOLDFAST"))}
    return {**clean, "HOLDFAST_URL": store, "LC_ALL": "C.UTF-8"}


@pytest.fixture
def holdfast(environment: dict[str, str]) -> Callable[..., subprocess.CompletedProcess]:
    """Run the command to its end."""

    def run(*arguments: str, stdin: str | bytes = "", env: dict[str, str] | None = None, **how):
        how.setdefault("text", isinstance(stdin, str))
        return subprocess.run(
            [*HOLDFAST, *arguments],
            input=stdin,
            capture_output=True,
            timeout=AT_MOST,
            env={**environment, **(env or {})},
            check=False,
            **how,
        )

    return run


@pytest.fixture
def ask(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Run the command in this process: for what needs no terminal, no signal and no child."""
    from holdfast.cli.command import start

    def run(*arguments: str, env: dict[str, str] | None = None) -> Said:
        with monkeypatch.context() as patched:
            for name in [name for name in os.environ if "HOLDFAST" in name]:
                patched.delenv(name)
            for name, value in {**environment, **(env or {})}.items():
                patched.setenv(name, value)
            code = start(arguments)
        return Said(code, *capsys.readouterr())

    return run


@pytest.fixture
def locks(store: str) -> Iterator[Client]:
    """A client of the same store, in this process."""
    with connect(store) as client:
        yield client


@pytest.fixture
def client(store: str) -> Iterator[Callable[[], Client]]:
    """More clients of it."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(connect(store))


@pytest.fixture
def start(environment: dict[str, str]) -> Iterator[Callable[..., subprocess.Popen]]:
    """Start the command; whatever is left of it at the test's end is killed."""
    started: list[subprocess.Popen] = []

    def launch(*arguments: str, env: dict[str, str] | None = None, **how) -> subprocess.Popen:
        process = subprocess.Popen(
            [*HOLDFAST, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**environment, **(env or {})},
            text=True,
            **how,
        )
        started.append(process)
        return process

    yield launch
    for process in started:
        process.kill()
        process.wait(AT_MOST)
        for pipe in (process.stdin, process.stdout, process.stderr):
            with suppress(OSError):
                pipe.close()


@pytest.fixture
def hold(start: Callable[..., subprocess.Popen]) -> Callable[..., subprocess.Popen]:
    """Start a holder of a lock, and wait until it holds it; it ends when its stdin is closed."""

    def begin(key: str, *options: str) -> subprocess.Popen:
        process = start("run", key, *options, "--", "sh", "-c", "echo held; cat")
        assert process.stdout.readline() == "held\n"
        return process

    return begin


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], str]:
    """Write a program in Python, and return its path."""

    def write(text: str) -> str:
        path = tmp_path / f"script{len(list(tmp_path.glob('script*')))}.py"
        path.write_text(f"#!{sys.executable}\n{text}")
        path.chmod(0o755)
        return str(path)

    return write
