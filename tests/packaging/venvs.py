"""Virtual environments that know nothing of this one, and what is run in them."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "holdfast-etag"
AT_MOST = 120.0
STRANGE = ("PYTHON", "HOLDFAST", "_HOLDFAST", "COVERAGE", "COV_", "PYTEST", "VIRTUAL_ENV")


def clean_environment() -> dict[str, str]:
    """Ours, without what would lead back to this repository."""
    return {name: value for name, value in os.environ.items() if not name.startswith(STRANGE)}


class Venv:
    """One of its own for what is to be installed.  Only the first has a pip; it serves the others."""

    def __init__(self, folder: Path, pip: Venv | None = None) -> None:
        self.folder = folder
        self.scripts = Path(sysconfig.get_path("scripts", "venv", {"base": str(folder)}))
        self.pip = pip or self
        options = ["--without-pip"] if pip else []
        subprocess.run([sys.executable, "-m", "venv", *options, str(folder)], check=True, timeout=AT_MOST)

    def run(self, command: str, *arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """What a command of it says, run outside of this repository unless told otherwise."""
        return subprocess.run(
            [self.scripts / command, *arguments],
            cwd=cwd or self.folder,
            env=clean_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=AT_MOST,
            check=False,
        )

    def install(self, *what: str | Path) -> subprocess.CompletedProcess[str]:
        """Install it, by the pip of the first."""
        python = self.scripts / "python"
        return self.pip.run("python", "-m", "pip", "--quiet", "--python", python, "install", *what)

    def fetch(self, *what: str | Path) -> None:
        """Install what has to come from an index, which not everybody can reach."""
        try:
            done = self.install(*what)
        except subprocess.TimeoutExpired:
            said = f"nothing came in {AT_MOST:.0f} s"
        else:
            if done.returncode == 0:
                return
            said = done.stderr.strip()
        if os.environ.get("CI"):
            pytest.fail(f"{what} can't be installed:\n{said}")
        pytest.skip(f"offline? These tests install {' '.join(map(str, what))} from an index: {said.splitlines()[-1]}")


def succeeds(done: subprocess.CompletedProcess[str]) -> str:
    """What it printed; it must have ended well."""
    assert done.returncode == 0, f"{done.args} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
    return done.stdout
