"""`holdfast demo`: it claims what it saw, ends well only if all of it came true, and leaves nothing behind."""

from __future__ import annotations

import io
import json
import os
import signal
import time
from contextlib import suppress

import pytest
from commanding import AT_MOST, gone, is_sentence, read_until, until

from holdfast.cli import bell, crew, demo, endings, worker


@pytest.fixture
def folder(environment, tmp_path):
    """Where a demonstration works."""
    path = tmp_path / "tmp"
    path.mkdir()
    environment["TMPDIR"] = str(path)
    return path


def descendants(pid: int) -> set[int]:
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            pids = {int(number) for number in file.read().split()}
    except FileNotFoundError:
        return set()
    return pids.union(*map(descendants, pids))


def stopped(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "T"
    except FileNotFoundError:
        return False


# --- what it shows ----------------------------------------------------------------------------------------------------


def test_all_that_it_claims_comes_true(holdfast, folder):
    begun = time.monotonic()
    done = holdfast("demo")
    assert time.monotonic() - begun < AT_MOST
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    for title in ("Without a lock", "With a lock", "A holder is killed", "A holder is paused"):
        assert title in done.stdout
    assert done.stdout.count("✓") == 6
    assert "✗" not in done.stdout
    assert list(folder.iterdir()) == []


def test_json_is_a_claim_per_line_with_what_was_seen(holdfast, folder, tmp_path):
    """And it needs no store, nor touches one."""
    done = holdfast("demo", "--json", env={"HOLDFAST_URL": "no", "HOLDFAST_TTL": "soon", "HOLDFAST_NAMESPACE": "n"})
    assert list((tmp_path / "store").iterdir()) == []
    assert (done.returncode, done.stderr) == (0, "")
    claims = [json.loads(line) for line in done.stdout.splitlines()]
    assert [claim["true"] for claim in claims] == [True] * 6
    assert all(claim["claim"] for claim in claims)
    free, locked, kill, higher, told, refused = claims
    assert 0 < free["lost"] < free["updates"] == 400
    assert (locked["lost"], locked["updates"]) == (0, 400)
    assert 0 < kill["milliseconds"] < kill["ttl"] * 1000
    assert higher["fences"] == sorted(higher["fences"])
    assert told["reason"] in ("expired", "suspended", "stolen")
    assert refused["fences"][0] < refused["fences"][1]


def test_an_output_without_check_marks_has_words(monkeypatch):
    output = io.TextIOWrapper(io.BytesIO(), "ascii")
    monkeypatch.setattr("sys.stdout", output)
    stage = demo.Stage(as_json=False)
    stage.claim("this", true=True)
    stage.claim("that", true=False)
    assert output.buffer.getvalue() == b"  ok this\n  NOT TRUE that\n"


# --- what does not come true ------------------------------------------------------------------------------------------


class Lying(crew.Crew):
    """A crew whose findings are not what was promised."""

    counted = (399, 1.0)

    def count(self, workers, times, locked):
        return self.counted if locked == "locked" else super().count(workers, times, locked)


def test_what_does_not_come_true_is_said_to_and_is_1(ask, folder, monkeypatch):
    monkeypatch.setattr(demo, "Crew", Lying)
    monkeypatch.setattr(worker, "read", lambda path: (1, "the sleeper"))  # the register's own word, not the sleeper's
    said = ask("demo", "--json")
    assert said.returncode == 1
    assert [json.loads(line)["true"] for line in said.stdout.splitlines()] == [True, False, True, True, True, False]
    assert "not as promised: 1 of 400 updates were lost" in said.stderr
    assert "; its late write is refused" in said.stderr
    assert is_sentence(said.stderr)


def test_a_part_that_fails_is_one_sentence(ask, folder, monkeypatch):
    monkeypatch.setattr(demo, "Crew", Failing)
    said = ask("demo")
    assert said.returncode == 1
    assert "ended early" in said.stderr
    assert is_sentence(said.stderr)
    assert list(folder.iterdir()) == []


class Failing(crew.Crew):
    """A crew of whom one can't do its part."""

    def hire(self, *arguments):
        return super().hire(*("/no/such/file" if word.endswith("counter") else word for word in arguments))


# --- it is interrupted ------------------------------------------------------------------------------------------------

SCENES = ["Without a lock", "With a lock", "A holder is killed", "A holder is paused"]


@pytest.mark.parametrize("scene", SCENES)
def test_interrupted_in_any_scene_it_leaves_nothing(start, folder, scene):
    process = start("demo", process_group=0)
    read_until(process, scene)
    until(lambda: descendants(process.pid))
    helpers = descendants(process.pid)
    os.killpg(process.pid, signal.SIGINT)  # as the terminal does: the helpers get it too
    rest, stderr = process.communicate(timeout=AT_MOST)
    assert (process.returncode, stderr) == (130, "")
    assert "Traceback" not in rest
    assert all(map(gone, helpers))
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_so_it_does_when_it_is_ended(start, folder, number):
    process = start("demo")
    read_until(process, "With a lock")
    process.send_signal(number)
    with suppress(ProcessLookupError):
        for again in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # the impatient
            process.send_signal(again)
    assert process.wait(AT_MOST) in {128 + one for one in (number, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    assert list(folder.iterdir()) == []


def test_cleaning_up_is_not_interrupted_again():
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
    before = [signal.getsignal(number) for number in numbers]
    try:
        with pytest.raises(endings.Interrupted):
            bell.interrupt(signal.SIGTERM, None)
        assert {signal.getsignal(number) for number in numbers} == {signal.SIG_IGN}
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


@pytest.mark.parametrize(("scene", "helpers"), [("With a lock", 4), ("A holder is paused", 2)])
def test_killed_it_leaves_no_process(start, folder, scene, helpers):
    """Not even the one that it has stopped."""
    process = start("demo")
    read_until(process, scene)
    until(lambda: len(descendants(process.pid)) == helpers)
    left = descendants(process.pid)
    if helpers == 2:
        until(lambda: any(map(stopped, left)))
    process.kill()
    process.wait()
    until(lambda: all(map(gone, left)))


def test_a_reader_that_goes_away_ends_it_with_nothing_left(start, folder):
    process = start("demo")
    assert process.stdout.readline()
    process.stdout.close()
    assert process.wait(AT_MOST) == 141
    assert process.stderr.read() == ""
    assert list(folder.iterdir()) == []
