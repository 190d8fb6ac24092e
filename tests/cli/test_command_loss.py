"""The lease is lost while the command runs, or holdfast itself is stopped or killed: nothing runs on unguarded."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest
from commanding import AT_MOST, gone, is_sentence, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

TTL = ("--ttl", "0.4")

FAMILY = """
# A leader and its child, in one process group; each says what it hears of, and ends then, unless told otherwise.
import os, signal, sys
heard = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1)
signal.pthread_sigmask(signal.SIG_BLOCK, heard)
def say(*words):
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())  # at once: both write to one pipe
who = "leader" if os.fork() else "other"
say("pid", os.getpid())
while True:
    number = signal.sigwait(heard)
    say(who, signal.Signals(number).name)
    if f"{who}-stays" not in sys.argv:
        os._exit(0)
"""


class Family:
    """`holdfast run` of FAMILY, with its ttl and grace."""

    def __init__(self, process: subprocess.Popen, pids: list[int]) -> None:
        self.process = process
        self.pids = pids
        """The leader's, then the other's."""

    def end(self) -> tuple[int, list[str], str]:
        """Its exit code, what was heard of, and the sentence."""
        stdout, stderr = self.process.communicate(timeout=AT_MOST)
        return self.process.returncode, sorted(stdout.splitlines()), stderr


@pytest.fixture
def family(start, script) -> Callable[..., Family]:
    def begin(*arguments: str, options: tuple[str, ...] = (*TTL, "--grace", "20")) -> Family:
        process = start("run", "k", *options, "--", script(FAMILY), *arguments, process_group=0)
        lines = [process.stdout.readline() for _ in range(2)]
        assert all(lines), process.communicate()
        pids = [int(line.split()[1]) for line in lines]
        return Family(process, sorted(pids, key=lambda pid: os.getpgid(pid) != pid))  # either may be heard first

    return begin


def until_gone(*pids: int) -> None:
    until(lambda: all(map(gone, pids)))


# --- broken from outside ----------------------------------------------------------------------------------------------


def test_all_of_the_group_get_term_and_the_exit_code_is_76(family, ask):
    running = family()
    ask("break", "k", "--yes", "--reason", "the host is gone")
    code, heard, sentence = running.end()
    assert (code, heard) == (76, ["leader SIGTERM", "other SIGTERM"])
    assert is_sentence(sentence)
    assert "(broken)" in sentence
    assert "the host is gone" in sentence
    assert sentence.endswith("its command was ended\n")


def test_what_does_not_go_is_killed_after_the_grace(family, ask):
    running = family("leader-stays", options=(*TTL, "--grace", "0.1"))
    ask("break", "k", "--yes", "--reason", "r")
    code, heard, _ = running.end()
    assert (code, heard) == (76, ["leader SIGTERM", "other SIGTERM"])
    assert all(map(gone, running.pids))


def test_so_is_what_stays_when_the_command_itself_has_gone(family, ask):
    running = family("other-stays", options=(*TTL, "--grace", "0.1"))
    ask("break", "k", "--yes", "--reason", "r")
    assert running.end()[0] == 76
    assert all(map(gone, running.pids))


def test_no_grace_is_no_grace(family, ask):
    running = family("leader-stays", "other-stays", options=(*TTL, "--grace", "0"))
    ask("break", "k", "--yes", "--reason", "r")
    assert running.end()[0] == 76
    assert all(map(gone, running.pids))


def test_the_grace_is_granted(start, ask, script):
    """It cleans up for as long as it needs: until this test says that it is done."""
    program = """
import signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
print("on", flush=True)
signal.sigwait([signal.SIGTERM])
print("cleaning", flush=True)
print("clean after", sys.stdin.readline().strip(), flush=True)
"""
    process = start("run", "k", *TTL, "--", script(program))
    assert process.stdout.readline() == "on\n"
    ask("break", "k", "--yes", "--reason", "r")
    assert process.stdout.readline() == "cleaning\n"
    assert ask("run", "k", "--", "true").returncode == 0  # somebody else has the lock meanwhile
    process.stdin.write("this\n")
    process.stdin.flush()
    assert process.communicate(timeout=AT_MOST)[0] == "clean after this\n"
    assert process.returncode == 76


def test_signals_are_passed_on_during_the_grace(family, ask):
    running = family("leader-stays")
    ask("break", "k", "--yes", "--reason", "r")
    assert {running.process.stdout.readline() for _ in range(2)} == {"leader SIGTERM\n", "other SIGTERM\n"}
    running.process.send_signal(signal.SIGUSR1)
    assert running.process.stdout.readline() == "leader SIGUSR1\n"
    os.kill(running.pids[0], signal.SIGKILL)
    os.kill(running.pids[1], signal.SIGKILL) if not gone(running.pids[1]) else None
    assert running.end()[0] == 76


def test_a_stopped_command_is_ended_too(family, ask):
    running = family()
    for pid in running.pids:
        os.kill(pid, signal.SIGSTOP)
    ask("break", "k", "--yes", "--reason", "r")
    assert running.end()[:2] == (76, ["leader SIGTERM", "other SIGTERM"])


def test_it_runs_on_while_the_lease_is_renewed(family, locks):
    running = family()
    (first,) = locks.inspect("k").holders
    until(lambda: locks.inspect("k").holders[0].held_for > 1.2)  # three times its ttl
    assert running.process.poll() is None
    (later,) = locks.inspect("k").holders
    assert later.fence == first.fence
    running.process.terminate()
    assert running.end() == (0, ["leader SIGTERM", "other SIGTERM"], "")


# --- the store goes away ----------------------------------------------------------------------------------------------


def test_a_store_that_goes_away_is_a_loss(family, tmp_path):
    running = family()
    shutil.rmtree(tmp_path / "store")
    code, heard, sentence = running.end()
    assert (code, heard) == (76, ["leader SIGTERM", "other SIGTERM"])
    assert is_sentence(sentence)


# --- the keeper does not run ------------------------------------------------------------------------------------------


def test_while_holdfast_is_stopped_the_command_does_not_outlast_the_lease(family, locks):
    running = family()
    running.process.send_signal(signal.SIGSTOP)
    assert {running.process.stdout.readline() for _ in range(2)} == {"leader SIGTERM\n", "other SIGTERM\n"}
    until_gone(*running.pids)
    locks.mutex("k").acquire().release()
    running.process.send_signal(signal.SIGCONT)
    code, heard, sentence = running.end()
    assert (code, heard) == (76, [])
    assert is_sentence(sentence)
    assert "is lost" in sentence


def test_nor_does_one_that_ignores_term(family):
    running = family("leader-stays", "other-stays", options=(*TTL, "--grace", "0.1"))
    running.process.send_signal(signal.SIGSTOP)
    until_gone(*running.pids)
    running.process.send_signal(signal.SIGCONT)
    code, _, sentence = running.end()
    assert code == 76
    assert sentence.endswith("its command was ended\n")


def test_holdfast_that_wakes_in_time_goes_on(family, locks):
    running = family(options=("--ttl", "20"))
    running.process.send_signal(signal.SIGSTOP)
    running.process.send_signal(signal.SIGCONT)
    running.process.terminate()
    assert running.end() == (0, ["leader SIGTERM", "other SIGTERM"], "")
    assert locks.inspect("k") is None


# --- holdfast is killed -----------------------------------------------------------------------------------------------


def children(pid: int) -> list[int]:
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(number) for number in file.read().split()]


def test_a_command_whose_holdfast_is_killed_is_killed_with_all_it_started(family, ask):
    running = family("leader-stays", "other-stays")
    running.process.kill()
    until_gone(*running.pids)
    assert running.end()[:2] == (-9, [])
    assert ask("run", "k", "--", "true").returncode == 0


def test_even_if_its_group_is_killed(family):
    """As `kill -9 %1` does, or a batch system."""
    running = family("leader-stays", "other-stays")
    os.killpg(running.process.pid, signal.SIGKILL)
    until_gone(*running.pids)


def test_even_if_the_guard_was_killed_before(family):
    running = family()
    (guard,) = set(children(running.process.pid)) - set(running.pids)
    os.kill(guard, signal.SIGKILL)
    until_gone(guard)
    running.process.kill()
    until_gone(running.pids[0])
    os.kill(running.pids[1], signal.SIGKILL)


def test_a_guard_that_was_killed_is_no_trouble(family):
    running = family()
    (guard,) = set(children(running.process.pid)) - set(running.pids)
    os.kill(guard, signal.SIGKILL)
    running.process.terminate()
    assert running.end() == (0, ["leader SIGTERM", "other SIGTERM"], "")


def test_nothing_is_left_of_a_run(family):
    running = family()
    helpers = children(running.process.pid)
    running.process.terminate()
    running.end()
    assert all(map(gone, [*helpers, *running.pids]))


def test_a_guard_holds_no_pipe_open(family):
    """What reads the command's output sees its end when the command has ended, not when holdfast has."""
    running = family()
    (guard,) = set(children(running.process.pid)) - set(running.pids)
    assert len(os.listdir(f"/proc/{guard}/fd")) == 1
