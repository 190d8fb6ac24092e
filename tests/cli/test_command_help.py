"""Help, versions, typing errors, and a command without the packages that it needs."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from commanding import AT_MOST, HOLDFAST, is_sentence

import holdfast as library
from holdfast.cli import usage
from holdfast.cli.command import SUBCOMMANDS, command

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "command.md").read_text()


def options_of(name: str) -> list[str]:
    """The long options of a subcommand; of the command itself, without a name."""
    with click.Context(command, **command.context_settings) as context:
        found = command.get_command(context, name) if name else command
        assert found is not None
        parameters = found.get_params(click.Context(found, parent=context))
        return [form for one in parameters for form in (*one.opts, *one.secondary_opts) if form.startswith("--")]


ALL_OPTIONS = [(name, option) for name in ("", *SUBCOMMANDS) for option in options_of(name)]


# --- help -------------------------------------------------------------------------------------------------------------


def test_nothing_at_all_is_help(ask):
    said = ask()
    assert said.returncode == 0
    assert said == ask("--help") == ask("-h")


@pytest.mark.parametrize("name", ["", *SUBCOMMANDS])
def test_each_help_has_an_example_and_all_options(ask, name):
    said = ask(*name.split(), "--help")
    assert (said.returncode, said.stderr) == (0, "")
    assert f"Usage: holdfast {name}".rstrip() in said.stdout
    assert re.search(rf"^ +holdfast {name}", said.stdout.partition("\n")[2], re.MULTILINE) or name == "demo"
    for option in options_of(name):
        assert option in said.stdout
    assert max(map(len, said.stdout.splitlines())) <= 80


def test_help_names_each_subcommand_and_exit_code(ask):
    said = ask("--help").stdout
    for name, (_, _, what) in SUBCOMMANDS.items():
        assert f"  {name} " in said
        assert what in said
    for code in (0, 64, 69, 75, 76, 78):
        assert str(code) in said


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_the_examples_of_help_are_well_formed(ask, name):
    """Each is parsed, as far as that goes without a store."""
    lines = re.findall(r"^ +(holdfast (?:run|ls|show|wait|break|demo)[^\n]*)", ask(name, "--help").stdout, re.MULTILINE)
    for line in lines:
        words = re.split(r" {2,}| [|&]| -- ", line)[0].replace('"', "'")
        _, sub, *rest = shlex.split(words)
        with click.Context(command) as context:
            found = command.get_command(context, sub)
            assert found is not None
            tail = ["--", "cmd"] if sub == "run" else []
            found.make_context(sub, rest + tail, parent=context)


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_the_page_has_every_option(name):
    chapter = PAGE.partition(f"\n## `holdfast {name}`")[2].partition("\n## ")[0]
    everywhere = PAGE.partition("\n## Options of every")[2].partition("\n## ")[0]
    for option in options_of(name):
        assert f"`{option}" in chapter + everywhere, option


def test_version(ask):
    assert ask("--version") == (0, f"holdfast, version {library.__version__}\n", "")


def test_options_of_all_subcommands_may_stand_before_and_behind(ask, store):
    for arguments in (("--namespace", "n", "-v", "ls"), ("ls", "--namespace", "n", "-v"), ("-v", "ls", "--debug")):
        assert ask("--url", store, *arguments, env={"HOLDFAST_URL": "nonsense"}).returncode == 0


# --- typing errors ----------------------------------------------------------------------------------------------------


def mistyped(word: str) -> list[str]:
    """Two letters swapped, one left out, one doubled."""
    at = len(word) // 2
    forms = [
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        word[:at] + word[at + 1 :],
        word[:at] + word[at] + word[at:],
    ]
    return [form for form in forms if form != word]


@pytest.mark.parametrize(("name", "option"), ALL_OPTIONS)
def test_a_mistyped_option_is_told_the_nearest_one(ask, name, option):
    for wrong in mistyped(option):
        said = ask(*name.split(), wrong)
        assert (said.returncode, said.stdout) == (64, "")
        assert f"no such option '{wrong}'" in said.stderr
        assert f"'{option}'" in said.stderr
        assert said.stderr.endswith(f"see `holdfast {name}".rstrip() + " --help`\n")
        assert is_sentence(said.stderr)
        assert said.stderr.count("(") == said.stderr.count(")")


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_a_mistyped_subcommand_is_told_the_nearest_one(ask, name):
    for wrong in [*mistyped(name + " ")[:1], name + name[-1], name.upper(), name.title()]:
        said = ask(wrong.strip())
        if wrong.strip() == name:
            continue
        assert (said.returncode, said.stdout) == (64, "")
        assert f"did you mean '{name}'?" in said.stderr
        assert is_sentence(said.stderr)


@pytest.mark.parametrize(("ours", "theirs"), [(ours, word) for ours, words in usage.MEANT.items() for word in words])
def test_what_others_call_it(ask, ours, theirs):
    said = ask(theirs, "k")
    assert said.returncode == 64
    assert f"no such command '{theirs}' (did you mean '{ours}'?)" in said.stderr


def test_a_word_like_none_is_told_all(ask):
    for word in ("xyzzy", ""):
        assert "there are run, ls, show, wait, break, demo" in ask(word).stderr


@pytest.mark.parametrize(("name", "option"), [pair for pair in ALL_OPTIONS if pair[1] not in ("--help", "--version")])
def test_an_option_without_its_value_or_with_one_too_many(ask, name, option):
    with click.Context(command) as context:
        found = command.get_command(context, name) if name else command
        assert found is not None
        (takes,) = (one for one in found.params if option in (*one.opts, *one.secondary_opts))
    said = ask(*name.split(), f"{option}=3" if takes.is_flag else option)
    assert (said.returncode, said.stdout) == (64, "")
    assert option in said.stderr
    assert ("does not take a value" if takes.is_flag else "requires an argument") in said.stderr
    assert f"`holdfast {name}".rstrip() + " --help`" in said.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("show",), "missing argument 'KEY'"),
        (("wait", "a", "b"), "unexpected extra argument (b)"),
        (("break", "k", "--reason", "r", "--fence", "zz"), "'zz' is not a valid whole number"),
        (("break", "k", "--reason", "r", "--fence", "0"), "0 is not in the range"),
        (("wait", "k", "--timeout", "5 parsecs"), "write seconds, or a number with a unit"),
        (("run", "k", "--permits", "many", "--", "true"), "'many' is not a valid whole number"),
        (("run", "k", "--ttl", "--", "true"), "option '--ttl' requires an argument"),
        (("run", "k", "ls", "-l"), "write -- before the command"),
        (("run", "k", "ls"), "write -- between the options and the command"),
        (("demo", "please"), "unexpected extra argument (please)"),
    ],
)
def test_other_mistakes_say_what_to_write(ask, arguments, sentence):
    said = ask(*arguments)
    assert (said.returncode, said.stdout) == (64, "")
    assert sentence in said.stderr
    assert is_sentence(said.stderr)
    assert said.stderr.endswith(f"see `holdfast {arguments[0]} --help`\n")


# --- errors -----------------------------------------------------------------------------------------------------------


def test_a_traceback_is_shown_to_those_who_ask_for_it(ask):
    for where in (("--debug", "ls"), ("ls", "--debug")):
        said = ask(*where, env={"HOLDFAST_URL": "nonsense"})
        assert said.returncode == 78
        assert "Traceback" in said.stderr
        assert said.stderr.splitlines()[-1].startswith("holdfast: this is no URL")
    assert "Traceback" not in ask("ls", env={"HOLDFAST_URL": "nonsense"}).stderr
    assert "Traceback" not in ask("ls", "--debug", "--nope").stderr


def test_a_bug_is_said_to_be_one(ask, locks, monkeypatch):
    monkeypatch.setattr("holdfast.cli.tables.row", lambda info: 1 / 0)
    locks.mutex("k").acquire()
    said = ask("ls")
    assert said.returncode == 70
    assert "this is a bug in holdfast: ZeroDivisionError" in said.stderr
    assert is_sentence(said.stderr)


def test_an_error_that_nobody_hears_is_an_exit_code_still(environment):
    for where in ("/dev/full", "&-"):
        line = f'exec "$@" 2>{where}'
        done = subprocess.run(
            ["sh", "-c", line, "sh", *HOLDFAST, "nope"], env=environment, timeout=AT_MOST, check=False
        )
        assert done.returncode == 64


# --- packages that are not there --------------------------------------------------------------------------------------

WITHOUT = """
import sys
hidden = sys.argv[1].split(",")
sys.meta_path = [finder if not hasattr(finder, "find_spec") else
    type("F", (), {"find_spec": staticmethod(lambda name, path=None, target=None, finder=finder:
        None if name.partition(".")[0] in hidden else finder.find_spec(name, path, target))})
    for finder in sys.meta_path]
sys.argv[:2] = ["holdfast"]
from holdfast.cli import main
main()
"""


@pytest.mark.parametrize("missing", ["click", "rich", "click,rich"])
def test_without_its_packages_it_says_what_to_install(environment, missing):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, missing, "ls"],
        env=environment, capture_output=True, text=True, timeout=AT_MOST, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (78, "")
    assert 'pip install "holdfast[cli]"' in done.stderr
    assert is_sentence(done.stderr)


def test_help_and_version_load_nothing_heavy(environment):
    script = (
        "import sys; sys.argv = ['holdfast', '--version']\n"
        "from holdfast.cli import main\n"
        "try: main()\n"
        "except SystemExit: print(*{'rich.console', 'sqlite3', 'asyncio', 'holdfast.cli.run'} & set(sys.modules))"
    )
    alone = {name: value for name, value in environment.items() if not name.startswith("COVERAGE")}  # it loads sqlite3
    done = subprocess.run(
        [sys.executable, "-c", script], env=alone, capture_output=True, text=True, timeout=AT_MOST, check=True
    )
    assert done.stdout.splitlines()[1:] == [""]
