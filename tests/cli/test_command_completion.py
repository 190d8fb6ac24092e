"""Completion: what the shells load, what they are answered, and a real bash."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest
from commanding import AT_MOST, is_sentence
from screens import PROMPT, Screen

from holdfast.cli.command import SUBCOMMANDS


@pytest.fixture
def complete(ask):
    """What is offered for the last of these words."""

    def offer(*words: str, env=None) -> list[str]:
        typed = " ".join(["holdfast", *words])
        env = {"_HOLDFAST_COMPLETE": "bash_complete", "COMP_WORDS": typed, "COMP_CWORD": str(len(words)), **(env or {})}
        said = ask(env=env)
        assert (said.returncode, said.stderr) == (0, "")
        return [line.partition(",")[2] for line in said.stdout.split()]

    return offer


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script_that_asks_us(ask, shell):
    said = ask(env={"_HOLDFAST_COMPLETE": f"{shell}_source"})
    assert (said.returncode, said.stderr) == (0, "")
    assert f"_HOLDFAST_COMPLETE={shell}_complete" in said.stdout
    if shutil.which(shell):
        assert subprocess.run([shell, "-n"], input=said.stdout, text=True, timeout=AT_MOST, check=False).returncode == 0


def test_help_shows_the_lines_that_load_them(ask):
    said = ask("--help").stdout
    for shell in ("bash", "zsh", "fish"):
        assert f"_HOLDFAST_COMPLETE={shell}_source holdfast" in said


@pytest.mark.parametrize("value", ["tcsh_source", "bash", "yes", "bash_sauce"])
def test_another_shell_is_told_which_there_are(ask, value):
    said = ask(env={"_HOLDFAST_COMPLETE": value})
    assert (said.returncode, said.stdout) == (64, "")
    assert "bash_source, zsh_source, fish_source" in said.stderr
    assert is_sentence(said.stderr)


def test_subcommands(complete):
    assert complete("") == list(SUBCOMMANDS)
    assert complete("sh") == ["show"]
    assert complete("--ver") == ["--version", "--verbose"]


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_options_of_each_subcommand(complete, ask, name):
    offered = complete(name, "--")
    assert {"--url", "--namespace", "--help"} <= set(offered)
    shown = re.findall(r"^  (?:-\w, )?(--[a-z-]+)", ask(name, "--help").stdout.partition("Options:")[2], re.MULTILINE)
    assert set(shown) <= set(offered)


def test_keys_from_the_store(complete, locks):
    for key in ("orders/1", "orders/2", "users/1", "odd\nkey\x1b[2J", "ümlaut"):
        locks.mutex(key).acquire()
    for name in ("show", "wait", "break", "run", "ls"):
        assert complete(name, "") == ["orders/1", "orders/2", "users/1", "ümlaut"]
        assert complete(name, "orders/") == ["orders/1", "orders/2"]
    assert complete("show", "orders/1", "") == []


def test_a_store_and_namespace_that_stand_on_the_line_are_used(complete, ask, tmp_path):
    from holdfast import connect

    url = f"sqlite:///{tmp_path}/other.db"
    with connect(url, namespace="shop") as other:
        other.mutex("there").acquire()
        assert complete("--url", url, "--namespace", "shop", "show", "") == ["there"]
        assert complete("show", "--url", url, "--namespace", "shop", "") == ["there"]
        assert complete("show", "") == []


@pytest.mark.parametrize(
    "url", ["nonsense", "sqlite:////no/such/folder/x", "redis://h", "memory:", "sqlite:////proc/x"]
)
def test_a_store_that_can_not_be_asked_offers_nothing_and_says_nothing(complete, url):
    assert complete("show", "", env={"HOLDFAST_URL": url}) == []


def test_what_is_mistyped_before_is_no_traceback(complete, ask):
    assert complete("shwo", "") is not None
    assert complete("show", "--tiemout", "") is not None
    assert complete("run", "--ttl", "soon", "") is not None
    said = ask(env={"_HOLDFAST_COMPLETE": "bash_complete"})  # a shell that forgot its question
    assert said == (0, "", "")


def test_behind_the_dashes_files_are_offered(ask, complete):
    for words in (("run", "k", "--", "l"), ("run", "k", "--", "ls", "--")):
        env = {"_HOLDFAST_COMPLETE": "bash_complete", "COMP_WORDS": f"holdfast {' '.join(words)}"}
        assert ask(env={**env, "COMP_CWORD": str(len(words))}).stdout == f"file,{words[-1]}\n"


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_in_a_real_bash(environment, tmp_path, locks):
    locks.mutex("orders/42").acquire()
    program = tmp_path / "holdfast"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m holdfast.cli "$@"\n')
    program.chmod(0o755)
    env = {**environment, "PATH": f"{tmp_path}:{environment['PATH']}", "INPUTRC": "/dev/null"}
    terminal = Screen(["bash", "--norc", "--noprofile", "-i"], env)
    try:
        terminal.until(re.escape(PROMPT))
        terminal.sh("bind 'set enable-bracketed-paste off'")
        terminal.sh('eval "$(_HOLDFAST_COMPLETE=bash_source holdfast)"')
        terminal.type("holdfast sh\t")
        terminal.until("holdfast show ")
        terminal.type("ord\t")
        terminal.until("ord.*ers/42 ")
        terminal.type("\n")
        assert "orders/42 is a mutex, held by 1" in terminal.until(re.escape(PROMPT))
    finally:
        terminal.close()
