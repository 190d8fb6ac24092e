"""Errors: their tree, and what every one of them can do."""

from __future__ import annotations

import ast
import builtins
import copy
import pickle
from pathlib import Path

import pytest

import holdfast
from holdfast import HoldfastError, errors

TREE = {
    "HoldfastError": ("Exception",),
    "LockError": ("HoldfastError",),
    "AcquireTimeout": ("LockError", "TimeoutError"),
    "LeaseLost": ("LockError",),
    "NotHeld": ("LockError",),
    "WouldDeadlock": ("LockError",),
    "StoreError": ("HoldfastError",),
    "StoreUnavailable": ("StoreError", "ConnectionError"),
    "OutcomeUnknown": ("StoreUnavailable",),
    "Contended": ("StoreError",),
    "BadRecord": ("StoreError",),
    "ConfigError": ("HoldfastError", "ValueError"),
}
SOURCE = Path(holdfast.__file__).parent


def test_the_tree_is_the_one_in_the_docstring():
    found = {
        name: tuple(base.__name__ for base in kind.__bases__)
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, Exception)
    }
    assert found == TREE
    drawn = [line.partition("── ")[2].split()[0] for line in errors.__doc__.splitlines() if "── " in line]
    assert ["HoldfastError", *drawn] == list(TREE)


@pytest.mark.parametrize("name", TREE)
def test_each_can_be_had_from_holdfast_itself(name):
    assert getattr(holdfast, name) is getattr(errors, name)
    assert name in holdfast.__all__


def raised(locks, other, time, faults):
    """Real errors, as users meet them."""

    def caught(call):
        try:
            call()
        except HoldfastError as error:
            return error
        raise AssertionError("nothing was raised")

    lease = locks.mutex("k").acquire()
    yield caught(lambda: other.mutex("k").acquire(0))
    yield caught(lambda: locks.mutex("k").acquire())
    yield caught(lambda: other.semaphore("k", 2).acquire(0))
    faults.lose(lease, "stolen")
    yield caught(lease.ensure)
    lease.release()
    lease = locks.mutex("k").acquire()
    lease.release()
    yield caught(lease.renew)
    yield caught(lambda: locks.pool("k").acquire(0))
    yield caught(lambda: locks.pool("k").acquire(member="x"))


def real_errors(locks, other, time, faults):
    return list(raised(locks, other, time, faults))


def same(one, two):
    assert type(one) is type(two)
    assert one.args == two.args
    assert str(one) == str(two)
    assert vars(one) == vars(two)


def test_every_error_that_users_meet_names_its_key_pickles_and_copies(locks, other, time, faults):
    errors_met = real_errors(locks, other, time, faults)
    assert len({type(error) for error in errors_met}) == 5
    for error in errors_met:
        assert error.key == "k"
        assert "'k'" in str(error)
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            same(error, pickle.loads(pickle.dumps(error, protocol)))
        same(error, copy.copy(error))
        same(error, copy.deepcopy(error))


@pytest.mark.parametrize("name", TREE)
def test_each_kind_pickles_and_copies_with_all_it_knows(name):
    error = getattr(holdfast, name)("what went wrong: what to do", key="k", more=(1, "x"))
    error.add_note("a note")
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        same(error, again)
        assert (again.key, again.more, again.__notes__) == ("k", (1, "x"), ["a note"])
        assert str(again) == "what went wrong: what to do"


@pytest.mark.parametrize("name", [name for name, bases in TREE.items() if bases[-1] in dir(builtins)])
def test_those_that_are_also_built_in_ones_are_caught_as_such(name):
    kind = getattr(holdfast, name)
    with pytest.raises(getattr(builtins, TREE[name][-1])):
        raise kind("message")


def test_what_an_error_does_not_know_is_empty():
    assert (holdfast.AcquireTimeout("m").holders, holdfast.AcquireTimeout("m").key) == ((), "")
    assert (holdfast.LeaseLost("m").reason, holdfast.LeaseLost("m").fence) == ("", 0)
    assert holdfast.BadRecord("m").key == ""


def messages():
    """Every message in the source: where it stands, and its text, with {} for what is filled in."""
    for path in sorted(SOURCE.rglob("*.py")):
        if {"cli", "testing"} & set(path.relative_to(SOURCE).parts):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in TREE and node.args:
                text = written(node.args[0])
                if text:
                    yield pytest.param(text, id=f"{path.name}:{node.lineno}")


def written(node):
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
    if isinstance(node, ast.BinOp):
        return written(node.left) + (written(node.right) or "{}")
    return ""


@pytest.mark.parametrize("text", list(messages()))
def test_each_message_is_one_sentence_that_ends_with_what_to_do(text):
    assert text[0] in "{\"'" or text[0].islower() or text.startswith("SQLite"), "it begins like the rest of a sentence"
    assert not text.endswith((".", "!", " "))
    assert ". " not in text.replace("...", "")
    assert "\n" not in text
    assert ":" in text or ";" in text or ", not " in text, "what is wrong, and then what to do"
