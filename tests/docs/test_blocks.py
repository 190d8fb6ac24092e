"""Every block of code in the documentation runs, and shows what it says that it shows.

The blocks of a page are one program, run in order in a folder of their own:

- `python` is executed; `await` may stand at its top level.  What a `print(...)  # so` prints is what its comment says.
- `console` runs what stands behind `$ `, and compares what is printed with the lines that follow, if any do.
- `sh` and `cron` are run for their exit code; `toml`, `ini`, `yaml` and `json` must parse; `text` is for people.
- A block whose first line is a comment that names a file is written to that file instead.

`...` stands for whatever varies.  A `<!-- setup -->` comment is run like a block; above a block that can't be run stands
`<!-- not run: why -->`.
"""

from __future__ import annotations

import ast
import asyncio
import configparser
import inspect
import json
import os
import py_compile
import re
import sqlite3
import subprocess
import sys
import tomllib
from pathlib import Path
from types import FunctionType

import pytest
from pages import Block, blocks, name_of, pages

from holdfast import client_threads

AT_MOST = 30.0
LEFT_OUT_AT_MOST = 12
END = "\x1e"
PRINTS = re.compile(r"^\s*print\(.*\)\s+# (?P<what>.+)$")
CRON_LINE = re.compile(r"^(?:@\w+|(?:\S+\s+){4}\S+)\s+(?P<command>.+)$")
PLAIN = {"text", "mermaid"}


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_page_runs(page: Path, tmp_path: Path, monkeypatch, capfd):
    with Reading(tmp_path, monkeypatch, capfd) as reading:
        for block in blocks(page):
            if not block.not_run:
                reading.run(block)
        for name in reading.written:
            others = [block.text for block in blocks(page) if block.file != name]
            assert any(Path(name).stem in text for text in others), f"nothing on {page} uses {name}"


def test_few_blocks_are_left_out():
    every = [block for page in pages() for block in blocks(page)]
    left_out = [f"{block}: {block.not_run}" for block in every if block.not_run]
    assert len(left_out) <= LEFT_OUT_AT_MOST, "\n".join(left_out)
    assert len(every) > 10 * len(left_out)


class Reading:
    """Somebody who reads one page and does what it says."""

    def __init__(self, folder: Path, monkeypatch, capfd) -> None:
        self.folder = folder / "here"
        self.folder.mkdir()
        self.capfd = capfd
        self.written: list[str] = []
        self.namespace = {"__name__": "__main__"}
        for name in [name for name in os.environ if name.startswith(("HOLDFAST", "_HOLDFAST"))]:
            monkeypatch.delenv(name)
        scripts = os.path.dirname(sys.executable)
        (folder / "store").mkdir()
        monkeypatch.setenv("HOLDFAST_URL", f"sqlite:///{folder}/store/locks.db")
        monkeypatch.setenv("PATH", f"{scripts}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.setenv("LC_ALL", "C.UTF-8")
        monkeypatch.setenv("PYTHONWARNINGS", "ignore:This process:DeprecationWarning")  # of forks with threads, by 3.12
        monkeypatch.setenv("HOME", str(folder))
        monkeypatch.delenv("XDG_STATE_HOME", raising=False)
        monkeypatch.chdir(self.folder)
        monkeypatch.syspath_prepend(self.folder)

    def __enter__(self):
        self.clients = set(client_threads._open_clients)
        self.runner = asyncio.Runner()
        return self

    def __exit__(self, *_):
        self.runner.close()
        for value in self.namespace.values():
            if isinstance(value, sqlite3.Connection):  # which the end of a program closes, and 3.13 misses here
                value.close()
        for client in set(client_threads._open_clients) - self.clients:
            client.close()

    def run(self, block: Block) -> None:
        """Do what one block says."""
        assert block.language in LANGUAGES, f"{block}: how is a block of {block.language!r} to be run?"
        if block.file:
            self.write(block)
        else:
            LANGUAGES[block.language](self, block)

    def write(self, block: Block) -> None:
        path = self.folder / block.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text)
        path.chmod(0o755)
        self.written.append(block.file)
        if block.language == "python":
            py_compile.compile(str(path), doraise=True, cfile=str(self.folder.parent / "compiled"))

    def python(self, block: Block) -> None:
        source = "\n" * (block.line - 1) + block.text
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        code = compile(source, str(block.page), "exec", flags=flags, dont_inherit=True)
        self.capfd.readouterr()
        if inspect.CO_COROUTINE & code.co_flags:
            self.runner.run(FunctionType(code, self.namespace)())
        else:
            exec(code, self.namespace)
        printed = self.capfd.readouterr().out
        promised = [match["what"] for line in block.text.splitlines() if (match := PRINTS.match(line))]
        if promised:
            assert_like("\n".join(promised), printed, block)

    def console(self, block: Block) -> None:
        commands = dialogue(block)
        script = "".join(f"{{ {command}\n}} 2>&1; printf '{END}%s{END}' $?\n" for command, _ in commands)
        answers = self.bash(script, block).split(END)
        for (command, expected), said, code in zip(commands, answers[::2], answers[1::2], strict=False):
            assert code == "0", f"{block}: {command!r} ended with {code} and said:\n{said}"
            if expected:
                assert_like(expected, said, block)

    def sh(self, block: Block) -> None:
        self.bash(f"set -e\n{block.text}", block)

    def cron(self, block: Block) -> None:
        settings = [line for line in block.text.splitlines() if re.match(r"^\w+=", line)]
        commands = [match["command"] for line in block.text.splitlines() if (match := CRON_LINE.match(line))]
        assert commands, f"{block}: no line of a crontab"
        for command in commands:
            self.bash("\n".join(["set -e", *(f"export {setting}" for setting in settings), command]), block)

    def bash(self, script: str, block: Block) -> str:
        done = subprocess.run(
            ["bash", "-c", script],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=AT_MOST,
            check=False,
        )
        assert done.returncode == 0, f"{block}: ended with {done.returncode} and said:\n{done.stdout}{done.stderr}"
        return done.stdout

    def toml(self, block: Block) -> None:
        tomllib.loads(block.text)

    def ini(self, block: Block) -> None:
        configparser.ConfigParser(strict=False, interpolation=None, allow_no_value=True).read_string(block.text)

    def json(self, block: Block) -> None:
        json.loads(block.text)

    def yaml(self, block: Block) -> None:
        yaml = pytest.importorskip("yaml")
        yaml.safe_load(block.text)

    def text(self, block: Block) -> None:
        """For people."""


LANGUAGES = {
    name: getattr(Reading, name) for name in ("python", "console", "sh", "cron", "toml", "ini", "json", "yaml")
}
LANGUAGES |= dict.fromkeys(PLAIN, Reading.text)


def dialogue(block: Block) -> list[tuple[str, str]]:
    """Each command of a console block, and what is shown below it."""
    commands: list[tuple[str, str]] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            commands.append((line[2:], ""))
            continue
        assert commands, f"{block}: a console block begins with a command behind `$ `"
        command, shown = commands[-1]
        if command.endswith("\\") and not shown:
            commands[-1] = (f"{command}\n{line}", "")
        else:
            commands[-1] = (command, f"{shown}{line}\n")
    return commands


def assert_like(expected: str, said: str, block: Block) -> None:
    """What was said is what was expected, `...` standing for anything."""
    wanted = [line.rstrip() for line in expected.strip().splitlines()]
    got = [line.rstrip() for line in said.strip().splitlines()]
    form = "\n".join(".*".join(re.escape(part) for part in line.split("...")) for line in wanted)
    assert re.fullmatch(form, "\n".join(got), re.DOTALL), f"{block}: expected\n{expected}\nand got\n{said}"
