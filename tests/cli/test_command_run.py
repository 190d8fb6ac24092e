"""`holdfast run`: exit codes, what the command gets, and when it runs at all."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import time

import pytest
from commanding import AT_MOST, HOLDFAST, end, is_sentence, wait_for_waiter

UNREACHABLE = "sqlite:////proc/locks.db"


# --- exit codes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [0, 1, 7, 255])
def test_its_exit_code_is_the_commands(holdfast, code):
    done = holdfast("run", "k", "--", "sh", "-c", f"exit {code}")
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "")


@pytest.mark.parametrize("name", ["TERM", "KILL", "SEGV", "PIPE"])
def test_a_command_ended_by_a_signal_gives_128_and_its_number(holdfast, name):
    done = holdfast("run", "k", "--", "sh", "-c", f"ulimit -c 0; kill -{name} $$")
    assert done.returncode == 128 + getattr(signal, f"SIG{name}")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("run", "k", "ls"), "write -- between"),
        (("run", "k", "ls", "-l"), "no such option '-l'"),
        (("run", "k"), "write -- between"),
        (("run", "k", "--"), "no command behind the --"),
        (("run", "--", "ls"), "missing argument 'KEY'"),
        (("run", "k", "extra", "--", "ls"), "unexpected extra argument"),
        (("run", "k", "--timeout", "soon", "--", "ls"), "'soon' is no duration"),
        (("run", "k", "--timeout", "-1", "--", "ls"), "'-1' is no duration"),
        (("run", "k", "--ttl", "0", "--", "ls"), "no time at all"),
        (("run", "k", "--permits", "0", "--", "ls"), "0 is not in the range"),
        (("run", "k", "--shared", "--permits", "2", "--", "ls"), "exclude each other"),
        (("run", "k", "--shared", "--exclusive", "--", "ls"), "exclude each other"),
        (("run", "k", "--once-every", "1h", "--shared", "--", "ls"), "needs the lock alone"),
        (("run", "k", "--at-least-once", "--", "ls"), "say which period"),
        (("run", "k", "--conflict-exit-code", "256", "--", "ls"), "256 is not in the range"),
    ],
)
def test_bad_usage_is_64(ask, arguments, sentence):
    done = ask(*arguments)
    assert (done.returncode, done.stdout) == (64, "")
    assert sentence in done.stderr.lower() or sentence in done.stderr
    assert is_sentence(done.stderr)


@pytest.mark.parametrize(
    ("key", "env", "sentence"),
    [
        ("k", {"HOLDFAST_URL": "nonsense"}, "no URL"),
        ("k", {"HOLDFAST_URL": "sqlight:///x"}, "did you mean 'sqlite'?"),
        ("k", {"HOLDFAST_TTL": "soon"}, "HOLDFAST_TTL is 'soon'"),
        ("k", {"HOLDFAST_TTL": "365d"}, "ttl"),
        ("", {}, "empty key"),
    ],
)
def test_bad_configuration_is_78(holdfast, key, env, sentence):
    done = holdfast("run", key, "--", "true", env=env)
    assert done.returncode == 78
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_unreachable_store_is_69(holdfast):
    done = holdfast("run", "k", "--", "echo", "ran", env={"HOLDFAST_URL": UNREACHABLE})
    assert (done.returncode, done.stdout) == (69, "")
    assert done.stderr.count("\n") == 1


def test_the_url_of_the_command_line_wins(holdfast, store):
    env = {"HOLDFAST_URL": UNREACHABLE}
    assert holdfast("run", "k", "--url", store, "--", "true", env=env).returncode == 0
    assert holdfast("--url", store, "run", "k", "--", "true", env=env).returncode == 0


def test_not_in_time_is_75_and_says_who_holds_it(holdfast, hold):
    holder = hold("k")
    done = holdfast("run", "k", "--timeout", "0", "--", "echo", "ran")
    assert (done.returncode, done.stdout) == (75, "")
    assert str(holder.pid) in done.stderr
    assert done.stderr.count("\n") == 1
    assert end(holder) == 0


def test_not_in_time_can_be_quiet(holdfast, hold):
    holder = hold("k")
    done = holdfast("run", "k", "--timeout", "10ms", "--conflict-exit-code", "0", "--", "echo", "ran")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert holdfast("run", "k", "--timeout", "0", "--conflict-exit-code", "9", "--", "true").returncode == 9
    assert end(holder) == 0


def test_a_key_of_another_kind_is_78(holdfast, hold):
    holder = hold("k")
    done = holdfast("run", "k", "--permits", "3", "--", "true")
    assert done.returncode == 78
    assert "in use as a mutex" in done.stderr
    assert end(holder) == 0


# --- programs that can't be run ---------------------------------------------------------------------------------------


def test_what_is_not_there_is_127_and_what_may_not_run_126_before_the_store_is_asked(holdfast, tmp_path):
    plain = tmp_path / "plain"
    plain.write_text("#!/bin/sh\n")
    env = {"HOLDFAST_URL": UNREACHABLE, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    (tmp_path / "folder").mkdir()
    for program, code in (
        ("", 127),
        ("folder", 127),
        ("no-such-thing", 127),
        (f"{tmp_path}/no", 127),
        (str(plain), 126),
        ("plain", 126),
    ):
        done = holdfast("run", "k", "--", program, env=env)
        assert done.returncode == code, done.stderr
        assert done.stderr.count("\n") == 1
    assert holdfast("run", "k", "--", str(tmp_path), env=env).returncode == 126


def test_what_fails_to_start_under_the_lock_says_so_and_leaves_it(holdfast, tmp_path):
    for content, code in (("#!/no/such/interpreter\n", 127), ("no format at all", 126)):
        program = tmp_path / "program"
        program.write_text(content)
        program.chmod(0o755)
        done = holdfast("run", "k", "--", str(program))
        assert done.returncode == code
        assert "could not be started" in done.stderr
    assert holdfast("wait", "k", "--timeout", "0").returncode == 0


# --- what the command gets --------------------------------------------------------------------------------------------


def test_the_command_is_told_its_key_and_fence(holdfast):
    seen = [holdfast("run", "a key/ü", "--", "sh", "-c", "echo $HOLDFAST_KEY; echo $HOLDFAST_FENCE") for _ in range(2)]
    (key, first), (_, second) = (done.stdout.splitlines() for done in seen)
    assert key == "a key/ü"
    assert 0 < int(first) < int(second)


def test_no_password_reaches_the_command_nor_any_message(ask):
    canary = "canary%2Fbird"
    urls = (f"redis://user:{canary}@localhost:1/0", f"sqlight:///x?password={canary}", f"postgresql://u:{canary}@h/d")
    for url in urls:
        for arguments in (
            ("run", "k", "--", "env"),
            ("run", "k", "--url", url, "--", "env"),
            ("run", "k", "--url", url, "--debug", "--", "env"),
            ("run", "k", url, "--", "env"),
            ("ls", url, "--url", url),
            ("show", "k", url),
            ("show", "k", "--debug"),
            ("ls", "--json", f"--timout={url}"),
        ):
            done = ask(*arguments, env={"HOLDFAST_URL": url})
            assert done.returncode in (64, 69, 78), (arguments, done)
            assert "canary" not in done.stdout + done.stderr


def test_the_environment_of_the_command_has_no_password(holdfast, store):
    done = holdfast("run", "k", "--url", store, "--", "env", env={"HOLDFAST_URL": "redis://:canary@localhost"})
    assert done.returncode == 0
    assert "canary" not in done.stdout
    assert "HOLDFAST_URL" not in done.stdout
    assert f"HOLDFAST_URL={store}" in holdfast("run", "k", "--", "env").stdout


def test_stdin_and_stdout_pass_through_untouched(holdfast):
    data = os.urandom(1 << 20)
    done = holdfast("run", "k", "--", "cat", stdin=data)
    assert done.stdout == data
    assert done.stderr == b""


def test_descriptors_pass_through_and_ours_do_not(holdfast):
    read, write = os.pipe()
    try:
        done = holdfast("run", "k", "--", "sh", "-c", f"echo x >/dev/fd/{write}; ls /proc/self/fd", pass_fds=(write,))
    finally:
        os.close(write)
    with open(read) as passed:
        assert passed.read() == "x\n"
    assert len(done.stdout.split()) == 5  # the three, the one passed on, and the folder that ls reads


def test_signals_that_python_ignores_are_as_usual_for_the_command(holdfast):
    done = holdfast("run", "k", "--", "grep", "SigIgn", "/proc/self/status")
    ignored = int(done.stdout.split()[1], 16)
    assert not ignored >> (signal.SIGPIPE - 1) & 1
    assert not ignored >> (signal.SIGXFSZ - 1) & 1
    assert not ignored >> (signal.SIGTTOU - 1) & 1


# --- when it runs -----------------------------------------------------------------------------------------------------


def test_one_at_a_time_in_turn(holdfast, hold, start):
    holder = hold("k")
    assert holdfast("wait", "k", "--held", "--timeout", "0").returncode == 0
    waiter = start("run", "k", "--", "echo", "mine")
    wait_for_waiter(holdfast, "k")
    assert end(holder) == 0
    assert waiter.communicate(timeout=AT_MOST) == ("mine\n", "")
    assert holdfast("wait", "k", "--free", "--timeout", "0").returncode == 0


def test_readers_share_and_a_writer_does_not(holdfast, hold):
    readers = [hold("k", "--shared"), hold("k", "--shared")]
    assert holdfast("run", "k", "--exclusive", "--timeout", "0", "--", "true").returncode == 75
    assert [end(reader) for reader in readers] == [0, 0]
    writer = hold("k", "--exclusive")
    assert holdfast("run", "k", "--shared", "--timeout", "0", "--", "true").returncode == 75
    assert end(writer) == 0


def test_so_many_permits(holdfast, hold):
    holders = [hold("k", "--permits", "2"), hold("k", "--permits", "2")]
    assert holdfast("run", "k", "--permits", "2", "--timeout", "0", "--", "true").returncode == 75
    assert end(holders.pop()) == 0
    assert holdfast("run", "k", "--permits", "2", "--timeout", "0", "--", "true").returncode == 0


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_interrupted_while_it_waits_it_leaves_quietly(holdfast, hold, start, number, code):
    holder = hold("k")
    waiter = start("run", "k", "--", "echo", "ran")
    wait_for_waiter(holdfast, "k")
    waiter.send_signal(number)
    assert waiter.communicate(timeout=AT_MOST) == ("", "")
    assert waiter.returncode == code
    assert json.loads(holdfast("show", "k", "--json").stdout)["waiting"] == 0
    assert end(holder) == 0


def test_killed_while_it_waits_its_command_never_runs(holdfast, hold, start):
    holder = hold("k")
    waiter = start("run", "k", "--", "echo", "ran")
    wait_for_waiter(holdfast, "k")
    waiter.kill()
    assert waiter.communicate(timeout=AT_MOST) == ("", "")
    assert end(holder) == 0


# --- signals ----------------------------------------------------------------------------------------------------------

HEARS = """
import os, signal, sys
numbers = [getattr(signal, name) for name in sys.argv[1:]]
signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
os.write(1, b"on\\n")
while True:
    number = signal.sigwait(numbers)
    os.write(1, (signal.Signals(number).name + "\\n").encode())
    if number == signal.SIGUSR2:
        sys.exit(5)
"""
PASSED_ON = ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGALRM", "SIGCONT", "SIGWINCH", "SIGUSR2")


def test_signals_are_passed_on(start, script):
    process = start("run", "k", "--", script(HEARS), *PASSED_ON)
    assert process.stdout.readline() == "on\n"
    for name in PASSED_ON:
        process.send_signal(getattr(signal, name))
        assert process.stdout.readline() == f"{name}\n"
    assert process.communicate(timeout=AT_MOST) == ("", "")
    assert process.returncode == 5


def test_what_was_ignored_when_it_began_stays_ignored(environment, script):
    """`nohup holdfast run ...`, and the shells that start what is in the background without Ctrl-C."""
    line = 'trap "" HUP INT; exec "$@"'
    program = ("sh", "-c", "kill -HUP $PPID $$; kill -INT $PPID $$; echo alive")
    done = subprocess.run(
        ["sh", "-c", line, "sh", *HOLDFAST, "run", "k", "--", *program],
        env=environment, capture_output=True, text=True, timeout=AT_MOST, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "alive\n", "")


def test_a_signal_ends_a_command_that_does_nothing_about_it(start, locks):
    process = start("run", "k", "--", "sh", "-c", "echo on; exec sleep 60")
    assert process.stdout.readline() == "on\n"
    process.terminate()
    assert process.communicate(timeout=AT_MOST) == ("", "")
    assert process.returncode == 143
    assert locks.inspect("k") is None


def test_the_command_is_a_group_of_its_own(holdfast):
    done = holdfast("run", "k", "--", "sh", "-c", "ps -o pid=,pgid= -p $$")
    pid, group = done.stdout.split()
    assert pid == group != str(os.getpgrp())


# --- where it is told -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "env", "ttl"),
    [
        ((), {}, 30),
        ((), {"HOLDFAST_TTL": "90s"}, 90),
        (("--ttl", "2m"), {}, 120),
        (("--ttl", "2m"), {"HOLDFAST_TTL": "90s"}, 120),
        (("--ttl", "2m"), {"HOLDFAST_TTL": "nonsense"}, 120),
    ],
)
def test_the_ttl_of_the_command_line_wins(holdfast, options, env, ttl):
    done = holdfast("run", "k", *options, "--", *HOLDFAST, "show", "k", "--json", env=env)
    (holder,) = json.loads(done.stdout)["holders"]
    assert ttl - 10 < holder["remaining"] <= ttl


def test_namespaces_do_not_meet(holdfast, hold):
    holder = hold("k", "--namespace", "one")
    try_it = ("run", "k", "--timeout", "0", "--", "sh", "-c", "echo $HOLDFAST_KEY")
    assert holdfast(*try_it).stdout == "k\n"
    assert holdfast(*try_it, env={"HOLDFAST_NAMESPACE": "two"}).stdout == "k\n"
    assert holdfast(*try_it, env={"HOLDFAST_NAMESPACE": "one"}).returncode == 75
    assert holdfast("--namespace", "two", *try_it, env={"HOLDFAST_NAMESPACE": "one"}).stdout == "k\n"
    assert end(holder) == 0


def test_a_closed_stdout_is_the_commands_own_affair(environment):
    for code, where in ((0, "&-"), (0, "/dev/full")):
        line = f'exec "$@" >{where}'
        done = subprocess.run(
            ["sh", "-c", line, "sh", *HOLDFAST, "run", "k", "--", "true"],
            env=environment, capture_output=True, text=True, timeout=AT_MOST, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (code, "")


# --- once per period --------------------------------------------------------------------------------------------------


def test_once_per_period(holdfast):
    run = ("run", "k", "--once-every", "1h")
    first = holdfast(*run, "--", "sh", "-c", "echo ran $HOLDFAST_KEY; test -n $HOLDFAST_FENCE")
    assert (first.returncode, first.stdout) == (0, "ran k\n")
    second = holdfast(*run, "--", "echo", "ran")
    assert (second.returncode, second.stdout, second.stderr) == (0, "", "")
    assert "ran in this period already" in holdfast(*run, "-v", "--", "echo", "ran").stderr
    assert holdfast("run", "k", "--once-every", "1ms", "--", "echo", "ran").stdout == "ran\n"
    assert holdfast("run", "other", "--once-every", "1h", "--", "echo", "ran").stdout == "ran\n"


def test_a_failed_run_uses_the_period_up_unless_told_otherwise(holdfast):
    assert holdfast("run", "k", "--once-every", "1h", "--", "false").returncode == 1
    assert holdfast("run", "k", "--once-every", "1h", "--", "echo", "ran").stdout == ""
    again = ("run", "again", "--once-every", "1h", "--at-least-once", "--")
    assert holdfast(*again, "sh", "-c", "exit 9").returncode == 9
    assert holdfast(*again, "echo", "ran").stdout == "ran\n"
    assert holdfast(*again, "echo", "ran").stdout == ""


def test_a_lock_that_was_not_to_be_had_uses_no_period_up(holdfast, hold):
    holder = hold("k")
    run = ("run", "k", "--once-every", "1h", "--timeout", "0", "--", "echo", "ran")
    assert holdfast(*run).returncode == 75
    assert end(holder) == 0
    assert holdfast(*run).stdout == "ran\n"


# --- where there are no process groups --------------------------------------------------------------------------------

PLAIN = """
import sys, os
from holdfast.cli import run, command, plain
run.Job._prepare = lambda self, program: plain.Guarded(program, self._command, run.for_child(self._key), self._losses)
sys.exit(command.start(sys.argv[1:]))
"""


@pytest.mark.parametrize("options", [(), ("--grace", "0.2")])
def test_the_way_of_other_systems_runs_and_ends_the_command(environment, holdfast, script, options):
    program = script(PLAIN)

    def plain(*arguments: str) -> subprocess.Popen:
        return subprocess.Popen([program, *arguments], env=environment, stdout=-1, stderr=-1, text=True)

    with plain("run", "k", "--", "sh", "-c", "echo $HOLDFAST_KEY; exit 3") as process:
        assert process.communicate(timeout=AT_MOST) == ("k\n", "")
    assert process.returncode == 3
    stubborn = "trap '' TERM; " if options else ""
    with plain("run", "k", "--ttl", "0.3", *options, "--", "sh", "-c", f"{stubborn}echo on; exec sleep 60") as process:
        assert process.stdout.readline() == "on\n"
        assert holdfast("break", "k", "--reason", "test", "--yes").returncode == 0
        process.wait(AT_MOST)
        assert process.returncode == 76
        assert "broken" in process.stderr.read()


def test_nothing_is_left_in_the_folder_of_clients(holdfast, tmp_path):
    begun = time.monotonic()
    assert holdfast("run", "k", "--", "true").returncode == 0
    assert time.monotonic() - begun < AT_MOST
    left = [path for path in (tmp_path / "store").rglob("*") if path.is_file() and stat.S_ISREG(path.stat().st_mode)]
    assert [path.name for path in left] == ["locks.db"]
