"""What the tests of processes share: programs that are run for real, and what they say."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

AT_MOST = 30.0


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/locks.db"


@pytest.fixture
def start(url, tmp_path):
    """Start a Python program, with `locks`, a client of the store; what is left of it at the end is killed."""
    started = []

    def launch(text, **how):
        path = tmp_path / f"program{len(started)}.py"
        path.write_text(f"import holdfast, os, signal, sys\nURL = {url!r}\n" + textwrap.dedent(text))
        process = subprocess.Popen(
            [sys.executable, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            **how,
        )
        started.append(process)
        return process

    yield launch
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def run(start):
    """Run such a program to its end: what it printed.  It must end well, and say nothing on stderr."""

    def to_the_end(text):
        process = start(text)
        out, err = process.communicate(timeout=AT_MOST)
        assert (process.returncode, err) == (0, "")
        return out.split()

    return to_the_end
