"""The command in a terminal: Ctrl-C, Ctrl-Z, job control, tables and prompts."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sys
from collections.abc import Callable, Iterator

import pytest
from commanding import AT_MOST, HOLDFAST, gone, until
from screens import END, INTERRUPT, PROMPT, SHELL, SUSPEND, Screen

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")


@pytest.fixture
def screen(environment: dict[str, str]) -> Iterator[Callable[..., Screen]]:
    """Open a terminal with the command in it, and no shell."""
    screens: list[Screen] = []

    def open_one(*arguments: str, program: tuple[str, ...] = HOLDFAST, columns: int = 100) -> Screen:
        screens.append(Screen([*program, *arguments], environment, columns))
        return screens[-1]

    yield open_one
    for one in screens:
        one.close()


@pytest.fixture
def shell(screen: Callable[..., Screen], environment: dict[str, str], tmp_path) -> Screen:
    """A terminal with a shell that knows `holdfast`."""
    program = tmp_path / "bin" / "holdfast"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m holdfast.cli "$@"\n')
    program.chmod(0o755)
    environment["PATH"] = f"{program.parent}:{environment['PATH']}"
    opened = screen(program=SHELL)
    opened.until(re.escape(PROMPT))
    return opened


COUNTS = """
import signal, sys
heard = []
signal.signal(signal.SIGINT, lambda *_: (heard.append(1), print(f"<int {len(heard)}>", flush=True)))
print("<on>", flush=True)
for line in sys.stdin:
    print(f"<read {line.strip()}>", flush=True)
sys.exit(len(heard))
"""


# --- keys -------------------------------------------------------------------------------------------------------------


def test_ctrl_c_reaches_the_command_once_and_what_it_does_about_it_is_its_own(screen, script):
    terminal = screen("run", "k", "--", script(COUNTS))
    terminal.until("<on>")
    for number in (1, 2):
        terminal.type(INTERRUPT)
        terminal.until(f"<int {number}>")
    terminal.type(f"hello\n{END}")
    assert "<int" not in terminal.rest()
    assert terminal.process.returncode == 2


def test_ctrl_c_ends_a_command_that_does_nothing_about_it(shell, locks):
    shell.type("holdfast run k -- sh -c 'echo on; exec cat'; echo code $?\n")
    shell.until("on\n")
    shell.type(INTERRUPT)
    shell.until("code 130\n")
    assert locks.inspect("k") is None


def test_ctrl_c_while_it_waits_ends_it(screen, locks):
    locks.mutex("k").acquire()
    terminal = screen("run", "k", "-v", "--", "true")
    until(lambda: locks.inspect("k").waiting)
    terminal.type(INTERRUPT)
    assert terminal.rest() == "^C"
    assert terminal.process.returncode == 130
    assert locks.inspect("k").waiting == 0


def reads(terminal: Screen) -> None:
    """Until what runs there is a `cat` that reads.  (A shell that is just starting it can't be stopped: vfork.)"""
    terminal.type("typed\n")
    terminal.until("typed\ntyped\n")


def test_ctrl_z_stops_the_job_and_fg_goes_on(shell, locks):
    shell.type("holdfast run k -- sh -c 'echo on; cat; exit 7'\n")
    shell.until("\non\n")
    reads(shell)
    shell.type(SUSPEND)
    shell.until(r"Stopped[^\n]*\n")
    shell.until(re.escape(PROMPT))
    assert "Stopped" in shell.sh("jobs")
    shell.type("fg\n")
    shell.until("holdfast run k [^\n]*\n")
    reads(shell)
    shell.type(END)
    shell.until(re.escape(PROMPT))
    assert shell.sh("echo code $?") == "code 7\n"
    assert locks.inspect("k") is None


def test_a_job_that_slept_longer_than_its_lease_is_ended_when_it_wakes(shell):
    shell.type("holdfast run k --ttl 0.3 -- sh -c 'echo on; cat'\n")
    shell.until("\non\n")
    reads(shell)
    shell.type(SUSPEND)
    shell.until(r"Stopped[^\n]*\n")
    shell.until(re.escape(PROMPT))
    assert "mine\n" in shell.sh("holdfast run k -- echo mine")
    shell.sh("sleep 0.5")  # for a guard that would not know that nothing runs, and wake it
    assert "Stopped" in shell.sh("jobs")
    shell.type("fg\n")
    assert "is lost" in shell.until(re.escape(PROMPT))
    assert shell.sh("echo code $?") == "code 76\n"


def test_in_the_background_it_runs_and_stops_only_to_read(shell):
    shell.type("holdfast run k -- sh -c 'echo \"<on>\"; read line; echo got $line'&\n")
    shell.until("<on>\n")
    shell.type("\n")  # a shell tells of its jobs at a prompt
    until(lambda: "Stopped" in shell.sh("jobs"))
    shell.type("fg\n")
    shell.until("holdfast run k [^\n]*\n")
    shell.type("this\n")
    shell.until("got this\n")


def test_without_a_shell_ctrl_z_stops_nothing_for_good(screen):
    """As in `docker run -t`: nobody is there who would continue it."""
    terminal = screen("run", "k", "--", "sh", "-c", "echo on; cat; exit 3")
    terminal.until("on\n")
    for _ in range(3):
        reads(terminal)
        terminal.type(SUSPEND)
    reads(terminal)
    terminal.type(END)
    terminal.rest()
    assert terminal.process.returncode == 3


def test_without_a_shell_a_command_that_is_stopped_does_not_stop_the_keeper(screen, locks):
    terminal = screen("run", "k", "--ttl", "1", "--", "sh", "-c", "echo pid $$; read line; exit 3")
    pid = int(terminal.until(r"pid \d+\n").split()[-1])
    os.kill(pid, signal.SIGSTOP)
    until(lambda: _stat(pid) == " T ")
    fence, left = _lease(locks)
    until(lambda: _lease(locks)[1] >= left)  # it is renewed
    assert _lease(locks)[0] == fence
    os.kill(pid, signal.SIGCONT)
    terminal.type("\n")
    terminal.rest()
    assert terminal.process.returncode == 3


def _stat(pid: int) -> str:
    with open(f"/proc/{pid}/stat") as stat:
        return stat.read().rpartition(")")[2][:3]


def _lease(locks) -> tuple[int, float]:
    (holder,) = locks.inspect("k").holders
    return holder.fence, holder.remaining


def test_hanging_up_ends_it(screen, locks):
    terminal = screen("run", "k", "--", "sh", "-c", "echo pid $$; exec cat")
    pid = int(terminal.until(r"pid \d+\n").split()[-1])
    terminal.hang_up()
    terminal.process.wait(AT_MOST)
    assert gone(pid)
    assert locks.inspect("k") is None


# --- full-screen commands ---------------------------------------------------------------------------------------------


def test_what_a_killed_command_did_to_the_terminal_is_undone(shell):
    shell.type("holdfast run k -- sh -c 'stty raw -echo; kill -9 $$'; echo code $?\n")
    shell.until("code 137\n")
    shell.until(re.escape(PROMPT))
    modes = shell.sh("stty -a").split()
    assert "echo" in modes
    assert "icanon" in modes


@pytest.mark.skipif(shutil.which("less") is None, reason="needs less")
@pytest.mark.parametrize("line", ["holdfast run k -- less -X {}", "holdfast run k -- cat {} | less -X"])
def test_a_pager_as_the_command_or_behind_it_has_the_keyboard(shell, tmp_path, line):
    (tmp_path / "lines").write_text("".join(f"line {number}\n" for number in range(500)))
    shell.type(line.format(tmp_path / "lines") + "; echo code $?\n")
    shell.until("line 20\n")
    shell.type("G")
    shell.until("line 499\n")
    shell.type("q")
    shell.until(r"code \d+\n")


# --- what is shown ----------------------------------------------------------------------------------------------------


def shown(text: str) -> list[str]:
    """The lines, without colours."""
    return [line.rstrip() for line in re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", text).splitlines() if line.strip()]


def test_ls_is_a_table_in_a_terminal_and_plain_when_piped(shell, locks):
    locks.mutex("orders/42").acquire()
    heading, line, row = shown(shell.sh("holdfast ls"))
    assert heading.split() == ["KEY", "KIND", "HELD", "BY", "SINCE", "LEFT", "WAITING", "FENCE"]
    assert set(line) == {"─", " "}
    assert row.split()[:2] == ["orders/42", "mutex"]
    assert shown(shell.sh("holdfast ls | cut -f 1,2")) == ["orders/42\tmutex"]
    assert json.loads(shell.sh("holdfast ls --json"))["key"] == "orders/42"


def test_ls_says_that_there_is_nothing(screen):
    assert shown(screen("ls").rest()) == ["No lock is held or waited for."]


@pytest.mark.parametrize("columns", [3, 12, 25, 40, 60, 79, 200])
def test_a_table_fits_and_never_cuts_a_key(screen, locks, columns):
    keys = ["a", "orders/42", "x" * 150, "\u65e5\u672c\u8a9e" * 9]
    for key in keys:
        locks.mutex(key).acquire()
    lines = shown(screen("ls", columns=columns).rest())
    if columns >= 12:
        assert max(map(_cells, lines)) <= columns
        assert ("HELD BY" in lines[0]) is (columns > 12)
    column = "".join(line.split()[0] for line in lines)
    for key in keys:
        assert key in column


def _cells(line: str) -> int:
    from rich.cells import cell_len

    return cell_len(line)


def test_demo_has_colours_in_a_terminal_only(screen, holdfast):
    terminal = screen("demo")
    assert "\x1b[" in terminal.until("updates were lost")
    terminal.type(INTERRUPT)
    terminal.rest()
    assert terminal.process.returncode == 130


# --- break asks -------------------------------------------------------------------------------------------------------

ASK = ("break", "k", "--reason", "test")
QUESTION = r"Take it away by force\? \[y/N\]: "


def test_break_shows_the_holder_and_takes_it_after_a_yes(screen, locks):
    lease = locks.mutex("k").acquire()
    terminal = screen(*ASK)
    asked = terminal.until(QUESTION)
    assert f"k: {locks.inspect('k').holders[0].host} pid {os.getpid()} " in asked
    assert f"fence {lease.fence}" in asked
    terminal.type("y\n")
    assert "k was taken from its holder." in terminal.rest()
    assert terminal.process.returncode == 0
    assert locks.inspect("k") is None


@pytest.mark.parametrize("answer", ["n\n", "\n", "nope\n", END])
def test_break_leaves_it_alone_after_anything_else(screen, locks, answer):
    locks.mutex("k").acquire()
    terminal = screen(*ASK)
    terminal.until(QUESTION)
    terminal.type(answer)
    assert "'k' was left alone" in terminal.rest()
    assert terminal.process.returncode == 1
    assert locks.inspect("k").holders


def test_break_can_be_interrupted(screen, locks):
    locks.mutex("k").acquire()
    terminal = screen(*ASK)
    terminal.until(QUESTION)
    terminal.type(INTERRUPT)
    assert "Traceback" not in terminal.rest()
    assert terminal.process.returncode == 130
    assert locks.inspect("k").holders


def test_break_does_not_ask_about_what_nobody_holds_nor_with_yes(screen, locks):
    assert shown(screen(*ASK).rest()) == ["k is not held: nothing done."]
    locks.mutex("k").acquire()
    assert shown(screen(*ASK, "--yes").rest()) == ["k was taken from its holder."]


def test_break_takes_it_only_from_those_it_has_shown(screen, locks):
    first = locks.mutex("k").acquire()
    terminal = screen(*ASK)
    terminal.until(QUESTION)
    first.release()
    later = locks.mutex("k").acquire()
    terminal.type("y\n")
    assert "is not held" in terminal.rest()
    later.ensure()
    assert locks.inspect("k").holders[0].fence == later.fence


def test_break_takes_it_from_all_that_it_has_shown(screen, locks, client):
    gone_soon = [client().semaphore("k", 5).acquire() for _ in range(2)]
    terminal = screen(*ASK)
    assert terminal.until(QUESTION).count("fence ") == len(gone_soon)
    later = locks.semaphore("k", 5).acquire()
    terminal.type("yes\n")
    terminal.rest()
    assert [holder.fence for holder in locks.inspect("k").holders] == [later.fence]


def test_break_with_a_fence_asks_about_that_holder(screen, client, locks):
    one, other = (client().semaphore("k", 5).acquire() for _ in range(2))
    terminal = screen(*ASK, "--fence", str(one.fence))
    asked = terminal.until(QUESTION)
    assert str(one.fence) in asked
    assert str(other.fence) not in asked
    terminal.type("y\n")
    terminal.rest()
    assert [holder.fence for holder in locks.inspect("k").holders] == [other.fence]
