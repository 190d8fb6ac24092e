"""Nothing is half there: every backend, primitive and colour is under the contract, or declared unsupported."""

from __future__ import annotations

import ast
import os
import typing

import pytest

from holdfast.engine.store import Primitive
from holdfast.testing.contract import StoreContract
from holdfast.url import BUILT_IN, backend_for, parse

HERE = os.path.dirname(__file__)
PRIMITIVES = typing.get_args(Primitive)


def cases():
    """The cases of the contract, by the primitive that they are about."""
    found = {}
    for name in dir(StoreContract):
        test = getattr(StoreContract, name)
        if name.startswith("test_"):
            found.setdefault(test.primitive, []).append(name)
    return found


def under_contract():
    """The schemes of the stores that the tests put under the contract."""
    with open(os.path.join(HERE, "stores", "test_contract.py"), encoding="utf-8") as file:
        texts = [node.value for node in ast.walk(ast.parse(file.read())) if isinstance(node, ast.Constant)]
    return {text.partition(":")[0] for text in texts if isinstance(text, str) and ":/" in text}


@pytest.mark.parametrize("primitive", PRIMITIVES)
def test_every_primitive_has_its_cases(primitive):
    assert len(cases().get(primitive, ())) >= 2


def test_no_case_is_about_something_else():
    assert set(cases()) == set(PRIMITIVES)


@pytest.mark.parametrize("scheme", sorted(BUILT_IN))
def test_every_backend_is_under_the_contract_in_every_colour_it_has(scheme):
    backend = backend_for(scheme)
    assert scheme in under_contract()
    assert backend.transport or backend.async_transport
    traits = backend.store(parse(f"{scheme}:")).traits
    assert traits.unsupported <= set(PRIMITIVES)


def test_every_client_makes_every_primitive():
    import holdfast

    for client in (holdfast.Client, holdfast.AsyncClient):
        for primitive in PRIMITIVES:
            assert callable(getattr(client, primitive)), primitive
