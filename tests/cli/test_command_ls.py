"""`holdfast ls`: which locks it lists, and in which form."""

from __future__ import annotations

import json

import pytest
from commanding import is_sentence

FIELDS = {"key", "kind", "limit", "fence", "held", "holders", "waiting"}
OF_A_HOLDER = {"host", "pid", "name", "fence", "held_for", "remaining", "weight"}


def keys(text: str) -> list[str]:
    return [line.split("\t")[0] for line in text.splitlines()]


def test_nothing_is_no_lines(ask):
    assert ask("ls") == (0, "", "")
    assert ask("ls", "--json") == (0, "", "")


def test_what_is_held_is_listed_by_prefix_and_in_order(ask, locks):
    for key in ("b", "a/2", "a/1", "a"):
        locks.mutex(key).acquire()
    assert keys(ask("ls").stdout) == ["a", "a/1", "a/2", "b"]
    assert keys(ask("ls", "a/").stdout) == ["a/1", "a/2"]
    assert keys(ask("ls", "c").stdout) == []


def test_a_lock_that_was_given_back_is_not_listed_but_one_that_carries_something_is(ask, locks):
    locks.mutex("gone").acquire().release()
    with locks.mutex("kept", payload=b"v1") as lease:
        lease.amend(b"v2")
    assert keys(ask("ls").stdout) == ["kept"]
    assert ask("ls").stdout.split("\t")[2] == "-"


def test_a_line_has_seven_columns(ask, locks):
    lease = locks.semaphore("k", 3).acquire()
    (line,) = ask("ls").stdout.splitlines()
    key, kind, who, since, left, waiting, fence = line.split("\t")
    assert (key, kind, waiting, fence) == ("k", "semaphore of 3", "0", str(lease.fence))
    assert who.partition(":")[2].isdigit()
    assert since.endswith(" ms")
    assert left.endswith(" s")


def test_several_holders_are_counted(ask, client):
    for _ in range(3):
        client().rwlock("k").reader.acquire()
    assert " and 2 more\t" in ask("ls").stdout


def test_json_is_a_document_per_line_with_these_fields(ask, locks):
    lease = locks.semaphore("sem", 5, weight=2).acquire()
    locks.mutex("mutex", payload=b"not shown").acquire()
    mutex, semaphore = map(json.loads, ask("ls", "--json").stdout.splitlines())
    assert set(mutex) == set(semaphore) == FIELDS
    assert (mutex["kind"], mutex["limit"], mutex["held"], mutex["waiting"]) == ("mutex", 1, True, 0)
    assert (semaphore["key"], semaphore["kind"], semaphore["limit"]) == ("sem", "semaphore", 5)
    assert semaphore["fence"] == lease.fence
    (holder,) = semaphore["holders"]
    assert set(holder) == OF_A_HOLDER
    assert (holder["fence"], holder["weight"]) == (lease.fence, 2)
    assert 0 <= holder["held_for"] < 60
    assert 0 < holder["remaining"] <= 30


def test_namespaces_are_apart(ask, locks):
    locks.mutex("outside").acquire()
    assert ask("ls", "--namespace", "shop") == (0, "", "")
    assert ask("run", "k", "--namespace", "shop", "--", "true").returncode == 0
    assert keys(ask("ls", "--namespace", "").stdout) == ["outside"]
    assert ask("ls", env={"HOLDFAST_NAMESPACE": "shop"}) == (0, "", "")
    assert keys(ask("ls", "--namespace", "", env={"HOLDFAST_NAMESPACE": "shop"}).stdout) == ["outside"]


EVIL = "evil\x1b[31m\n\t\u202e\x9b\U000e0001"


@pytest.mark.parametrize("command", [("ls",), ("ls", "--json"), ("show", EVIL), ("show", EVIL, "--json")])
def test_what_a_terminal_would_obey_is_not_printed(ask, locks, command):
    locks.mutex(EVIL).acquire()
    said = ask(*command).stdout
    assert said.replace("\n", "").replace("\t", "").isprintable()
    assert said.count("\n") == (2 if command[1:] == (EVIL,) else 1)
    if "--json" in command:
        assert json.loads(said)["key"] == EVIL


def test_nor_in_what_it_says_of_errors(ask, locks):
    locks.mutex(EVIL).acquire()
    for command in (
        ("wait", EVIL, "--timeout", "0"),
        ("run", EVIL, "--timeout", "0", "--", "true"),
        ("ls", "--url", f"sqlite:////no/such/{EVIL}/folder"),
        ("ls", "a", EVIL),
        ("run", EVIL[:6] * 200, "--", "true"),
        ("run", "k", "--", f"/{EVIL}"),
    ):
        said = ask(*command)
        assert said.returncode != 0
        assert is_sentence(said.stderr)
        assert said.stderr[:-1].isprintable()


# --- stores that are not as they should be ----------------------------------------------------------------------------

COMMANDS = [("ls",), ("show", "k"), ("wait", "k"), ("break", "k", "--reason", "r", "--yes"), ("run", "k", "--", "true")]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_damaged_or_missing_store_is_one_sentence(ask, tmp_path, command):
    broken = tmp_path / "broken.db"
    for content in (b"no database", bytes(range(256)) * 400):
        broken.write_bytes(content)
        said = ask("--url", f"sqlite:///{broken}", *command)
        assert (said.returncode, said.stdout) == (69, "")
        assert is_sentence(said.stderr)
        assert broken.read_bytes() == content
    for url in (
        f"sqlite:///{tmp_path}/no/such.db",
        f"sqlite:///{tmp_path}",
        "redis://nowhere",
        "sqlite://",
        "x",
        "memory:",
    ):
        said = ask("--url", url, *command)
        assert (said.returncode, said.stdout) == (78, ""), url
        assert is_sentence(said.stderr)


def test_an_empty_url_on_the_command_line_is_refused(ask):
    """`--url "$UNSET"` must not end in a file that nobody else uses."""
    said = ask("run", "k", "--url", "", "--", "echo", "ran")
    assert (said.returncode, said.stdout) == (78, "")
    assert "--url is empty" in said.stderr


# --- where it writes to -----------------------------------------------------------------------------------------------


def test_a_reader_that_goes_away_is_no_error(holdfast, start, locks):
    for number in range(300):  # more than a pipe would take
        locks.mutex(f"{number}/{'x' * 400}").acquire()
    process = start("ls")
    assert process.stdout.readline()
    process.stdout.close()
    assert process.wait(20) == 141
    assert process.stderr.read() == ""


@pytest.mark.parametrize("command", [("ls",), ("show", "k"), ("--help",), ("--version",), ("ls", "--json")])
def test_an_output_that_takes_nothing_is_74(environment, locks, command):
    import subprocess

    from commanding import AT_MOST, HOLDFAST

    locks.mutex("k").acquire()
    for where in ("/dev/full", "&-"):
        line = f'exec "$@" >{where}'
        done = subprocess.run(
            ["sh", "-c", line, "sh", *HOLDFAST, *command],
            env=environment, capture_output=True, text=True, timeout=AT_MOST, check=False,
        )  # fmt: skip
        assert done.returncode == 74, where
        assert is_sentence(done.stderr)


def test_a_store_is_not_opened_in_place_of_a_closed_stdout(environment, locks, tmp_path):
    import subprocess

    from commanding import AT_MOST, HOLDFAST

    line = 'exec "$@" <&- >&- 2>&-'
    command = ("run", "k", "--", "sh", "-c", f"echo stray; echo stray >&2; readlink /proc/$$/fd/[012] >{tmp_path}/open")
    subprocess.run(["sh", "-c", line, "sh", *HOLDFAST, *command], env=environment, timeout=AT_MOST, check=False)
    assert (tmp_path / "open").read_text() == ""
    assert (
        keys(subprocess.run([*HOLDFAST, "ls"], env=environment, capture_output=True, text=True, check=True).stdout)
        == []
    )


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_an_encoding_that_lacks_a_character_is_no_error(holdfast, locks, encoding):
    locks.mutex("日本").acquire()
    done = holdfast("ls", env={"PYTHONIOENCODING": encoding})
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(holdfast("ls", "--json", env={"PYTHONIOENCODING": encoding}).stdout)["key"] == "日本"


def test_a_folder_that_is_gone_is_one_sentence(holdfast, tmp_path):
    here = tmp_path / "here"
    here.mkdir()
    run = f'cd {here} && rmdir {here} && exec "$@"'
    from commanding import HOLDFAST

    done = holdfast("run", "k", "--", "sh", "-c", run, "sh", *HOLDFAST, "ls", "--url", "sqlite:///relative.db")
    assert done.returncode in (69, 78)
    assert is_sentence(done.stderr)


def test_no_home_is_no_error_or_one_sentence(holdfast, environment, tmp_path):
    for home in (str(tmp_path), "/proc/none", ""):
        done = holdfast("ls", env={"HOLDFAST_URL": "", "HOME": home, "XDG_STATE_HOME": str(tmp_path / "state")})
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    done = holdfast("ls", env={"HOLDFAST_URL": "", "HOME": "/proc/none", "XDG_STATE_HOME": ""})
    assert done.returncode in (69, 78)
    assert is_sentence(done.stderr)
