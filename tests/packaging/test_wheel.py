"""What is uploaded has all that it needs and nothing else, and works where nothing else is installed."""

from __future__ import annotations

import configparser
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_string
from pathlib import Path

import pytest
from venvs import ROOT, clean_environment, succeeds


@pytest.fixture(scope="module")
def files(built) -> dict[str, bytes]:
    """What is in the wheel, by its name; `.dist-info` without the version."""
    return contents(built.wheel)


@pytest.fixture(scope="module")
def source(built, tmp_path_factory) -> Path:
    """The sdist, unpacked."""
    folder = tmp_path_factory.mktemp("source")
    with tarfile.open(built.sdist) as archive:
        archive.extractall(folder, filter="data")
    (top,) = folder.iterdir()
    return top


def contents(wheel: Path) -> dict[str, bytes]:
    info = "-".join(wheel.name.split("-")[:2]) + ".dist-info/"
    with zipfile.ZipFile(wheel) as archive:
        return {name.replace(info, ".dist-info/"): archive.read(name) for name in archive.namelist()}


# --- the wheel -------------------------------------------------------------------------------------------------------


def test_the_wheel_is_the_package_and_no_more(files):
    package = ROOT / "src" / "holdfast"
    sources = {path for path in package.rglob("*") if path.is_file() and path.suffix != ".pyc"}
    assert {name for name in files if not name.startswith(".dist-info/")} == {
        path.relative_to(package.parent).as_posix() for path in sources
    }
    assert "holdfast/py.typed" in files
    assert files[".dist-info/licenses/LICENSE"] == (ROOT / "LICENSE").read_bytes()


def test_the_wheel_needs_nothing(files):
    metadata = message_from_string(files[".dist-info/METADATA"].decode())
    needed = metadata.get_all("Requires-Dist", [])
    assert [line for line in needed if "extra ==" not in line] == []
    assert {"cli", "all"} <= set(metadata.get_all("Provides-Extra", []))
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata.get_payload().strip() == (ROOT / "README.md").read_text().strip()


def test_the_wheel_names_the_command_and_the_fixtures(files):
    points = configparser.ConfigParser()
    points.read_string(files[".dist-info/entry_points.txt"].decode())
    assert {name: dict(points[name]) for name in points.sections()} == {
        "console_scripts": {"holdfast": "holdfast.cli:main"},
        "pytest11": {"holdfast": "holdfast.testing.plugin"},
    }


# --- the sdist -------------------------------------------------------------------------------------------------------


def test_the_sdist_has_whatever_is_kept_here(source):
    if not (ROOT / ".git").exists():
        pytest.skip("what is kept here is told by git, and this is no repository of it")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=30)
    kept = {name for name in listed.stdout.splitlines() if not name.startswith(".") and (ROOT / name).exists()}
    assert kept - {path.relative_to(source).as_posix() for path in source.rglob("*")} == set()


def test_the_sdist_makes_the_same_wheel(source, builder, files, tmp_path):
    succeeds(builder.run("hatchling", "build", "-t", "wheel", "-d", tmp_path, cwd=source))
    (wheel,) = tmp_path.glob("*.whl")
    assert contents(wheel) == files


def test_the_sdist_can_be_tested(source):
    """All of its tests are found; and those run that read files outside of `src` and `tests`."""
    collected = here("pytest", "--collect-only", "--quiet", "-p", "no:cacheprovider", cwd=source)
    assert "tests/packaging/test_wheel.py::test_the_sdist_can_be_tested" in collected
    run = here(
        "pytest", "--quiet", "-p", "no:cacheprovider", "tests/docs/test_pages.py", "-k", "link or menu", cwd=source
    )
    assert " passed" in run


def test_the_sdist_has_its_documentation(source, tmp_path):
    pytest.importorskip("mkdocs", reason="mkdocs, of the group `docs`, is not installed")
    here("mkdocs", "build", "--quiet", "--strict", "--site-dir", str(tmp_path), cwd=source)
    assert (tmp_path / "reference" / "locks.html").exists()


def here(module: str, *arguments: str, cwd: Path) -> str:
    """What a tool of this environment says in the folder of another source."""
    environment = {**clean_environment(), "PYTHONPATH": str(cwd / "src")}
    command = [sys.executable, "-m", module, *arguments]
    return succeeds(
        subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=120, check=False)
    )


# --- installed -------------------------------------------------------------------------------------------------------


def test_alone_it_locks(bare):
    code = "import holdfast; locks = holdfast.connect('memory:'); print(locks.mutex('k').acquire().fence > 0)"
    assert succeeds(bare.run("python", "-W", "error", "-c", code)) == "True\n"


def test_alone_every_module_that_needs_nothing_else_can_be_imported(bare):
    code = (
        "import holdfast, importlib, pkgutil\n"
        "for module in pkgutil.walk_packages(holdfast.__path__, 'holdfast.'):\n"
        "    if not module.name.startswith(('holdfast.cli.', 'holdfast.testing.')):\n"
        "        importlib.import_module(module.name)\n"
        "print(holdfast.__file__)"
    )
    assert succeeds(bare.run("python", "-W", "error", "-c", code)).startswith(str(bare.folder))


def test_alone_the_command_says_in_one_sentence_what_to_install(bare):
    said = bare.run("holdfast", "list")
    assert (said.returncode, said.stdout) == (78, "")
    assert said.stderr.count("\n") == 1
    assert 'pip install "holdfast[cli]"' in said.stderr


def test_beside_pytest_it_is_in_nobodys_way(full, tmp_path):
    said = full.run("pytest", "-W", "error", cwd=tmp_path)
    assert said.returncode == 5, said.stdout + said.stderr  # pytest's word for: there are no tests
    assert "no tests ran" in said.stdout


def test_beside_pytest_its_fixtures_are_there(full, tmp_path):
    (tmp_path / "test_it.py").write_text(
        "def test_it(holdfast_locks, holdfast_time):\n"
        "    lease = holdfast_locks.mutex('k').acquire()\n"
        "    holdfast_time.sleep(60)\n"
        "    assert lease.lost == 'suspended'\n"
    )
    assert "1 passed" in succeeds(full.run("pytest", "-W", "error", cwd=tmp_path))
