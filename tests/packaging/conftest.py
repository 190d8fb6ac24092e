"""What is built once for all these tests: the wheels and the sdist, and environments that have nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from venvs import EXAMPLE, ROOT, Venv, succeeds


class Built(NamedTuple):
    """Files as they would be uploaded."""

    wheel: Path
    sdist: Path
    example: Path


@pytest.fixture(scope="session")
def builder(tmp_path_factory) -> Venv:
    """An environment with what builds packages, and with pip."""
    venv = Venv(tmp_path_factory.mktemp("builder") / "venv")
    venv.fetch("hatchling>=1.25")
    return venv


@pytest.fixture(scope="session")
def built(builder: Venv, tmp_path_factory) -> Built:
    """The wheel and the sdist of this repository, and the wheel of the example."""
    dist = tmp_path_factory.mktemp("dist")
    succeeds(builder.run("hatchling", "build", "-d", dist / "ours", cwd=ROOT))
    succeeds(builder.run("hatchling", "build", "-t", "wheel", "-d", dist / "example", cwd=EXAMPLE))
    (wheel,), (sdist,) = (dist / "ours").glob("*.whl"), (dist / "ours").glob("*.tar.gz")
    (example,) = (dist / "example").glob("*.whl")
    return Built(wheel, sdist, example)


@pytest.fixture(scope="session")
def bare(builder: Venv, built: Built, tmp_path_factory) -> Venv:
    """An environment with the wheel alone, installed without an index: it must need nothing."""
    venv = Venv(tmp_path_factory.mktemp("bare") / "venv", builder)
    succeeds(venv.install("--no-index", built.wheel))
    return venv


@pytest.fixture(scope="session")
def full(builder: Venv, built: Built, tmp_path_factory) -> Venv:
    """An environment with both wheels and pytest, as whoever writes a store has one."""
    venv = Venv(tmp_path_factory.mktemp("full") / "venv", builder)
    venv.fetch("pytest>=8.2")
    succeeds(venv.install("--no-index", built.wheel, built.example))
    return venv
