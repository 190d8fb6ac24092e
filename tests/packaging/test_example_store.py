"""A store in a package of its own works as its users and its author find it: installed, far from this repository."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import pytest
from venvs import EXAMPLE, ROOT, clean_environment, succeeds

SERVED = """
from threading import Thread
import holdfast
from server import Server

server = Server(user="user", password="password")
Thread(target=server.serve_forever, daemon=True).start()
"""


def test_it_is_found_by_its_scheme_alone(full, tmp_path):
    """As its README says, word by word but for the port."""
    (block,) = re.findall(r"```python\n(.*?)```", (EXAMPLE / "README.md").read_text(), re.DOTALL)
    assert "@host:8080/" in block
    shutil.copy(EXAMPLE / "tests" / "server.py", tmp_path)
    (tmp_path / "user.py").write_text(
        SERVED
        + block.replace('"etag://user:password@host:8080/locks"', 'f"etag://user:password@{server.host}/locks"')
        + "print(locks, list(server.rows), holdfast.__file__)\n"
    )
    said = succeeds(full.run("python", "-W", "error", "user.py", cwd=tmp_path))
    assert re.match(r"<Client of etag://user:\*\*\*@127.0.0.1:\d+/locks> \[':lock:orders/42'\] ", said)
    assert str(full.folder) in said


def test_where_it_is_not_installed_its_scheme_is_unknown(bare):
    said = bare.run("python", "-c", "import holdfast; holdfast.connect('etag://127.0.0.1:1')")
    assert "ConfigError: no backend serves etag:// URLs" in said.stderr


def test_it_passes_its_own_tests(full, tmp_path):
    """The contract, and what is particular to it."""
    shutil.copy(EXAMPLE / "pyproject.toml", tmp_path)
    shutil.copytree(EXAMPLE / "tests", tmp_path / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    said = succeeds(full.run("pytest", "--quiet", "-p", "no:cacheprovider", cwd=tmp_path))
    passed = re.search(r"(\d+) passed", said)
    assert passed is not None
    assert int(passed[1]) > 100


def test_its_types_are_complete(tmp_path):
    pytest.importorskip("mypy", reason="mypy, of the group `dev`, is not installed")
    paths = (ROOT / "src", EXAMPLE / "src", EXAMPLE / "tests")
    names = [path.stem for path in (EXAMPLE / "tests").glob("*.py")]
    modules = [word for name in names for word in ("-m", name)]
    succeeds(
        subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "-p", "holdfast_etag", *modules],
            cwd=tmp_path,
            env={**clean_environment(), "MYPYPATH": os.pathsep.join(map(str, paths))},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    )
