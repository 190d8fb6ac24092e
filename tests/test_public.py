"""Every public name has a docstring, and is used in the files that type checkers read."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import get_args

import pytest

import holdfast

TYPING = Path(__file__).parent / "typing"
SOURCE = Path(holdfast.__file__).parent

CONSTANTS = {"LossReason": "engine/hold.py", "Event": "observe/events.py", "Seconds": "durations.py"}
"""Names of types that are no classes, and where they stand."""


def used_in_typing():
    """The names of holdfast that those files use: imported from it, or as its attributes."""
    for path in TYPING.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "holdfast":
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "holdfast":
                yield node.attr


@pytest.mark.parametrize("name", [name for name in holdfast.__all__ if name not in CONSTANTS])
def test_it_says_what_it_is(name):
    thing = getattr(holdfast, name)
    assert vars(thing).get("__doc__") if isinstance(thing, type) else thing.__doc__
    for method, member in vars(thing).items() if isinstance(thing, type) else ():
        if not method.startswith("_") and callable(member):
            assert member.__doc__, f"{name}.{method}() does not"


@pytest.mark.parametrize("name", CONSTANTS)
def test_a_type_that_is_no_class_says_what_it_is(name):
    assert get_args(getattr(holdfast, name))
    body = ast.parse((SOURCE / CONSTANTS[name]).read_text(encoding="utf-8")).body
    place = next(n for n, node in enumerate(body) if isinstance(node, ast.AnnAssign) and node.target.id == name)
    assert isinstance(body[place + 1], ast.Expr), "a docstring stands behind it"
    assert isinstance(body[place + 1].value.value, str)


def test_every_name_is_used_where_type_checkers_read():
    assert set(holdfast.__all__) - set(used_in_typing()) == set()


def test_names_are_sorted_and_load():
    assert holdfast.__all__ == sorted(holdfast.__all__)
    assert set(dir(holdfast)) == {*holdfast.__all__, "__version__"}
    named = {name for names in holdfast._WHERE.values() for name in names}
    assert named == set(holdfast.__all__)
    with pytest.raises(AttributeError, match="module 'holdfast' has no attribute 'mutex'"):
        _ = holdfast.mutex
