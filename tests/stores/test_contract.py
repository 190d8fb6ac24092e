"""Every store that comes with holdfast, and those of the tests, keep the contract."""

from __future__ import annotations

from itertools import count

import pytest

import holdfast
from holdfast.testing.contract import StoreContract
from holdfast.testing.swapping import clockless, swapping

numbers = count()


class TestMemory(StoreContract):
    @pytest.fixture
    def address(self):
        return f"memory://contract-{next(numbers)}"


class TestSqlite(StoreContract):
    @pytest.fixture
    def address(self, tmp_path):
        return f"sqlite:///{tmp_path}/locks.db"


class TestSwapping(StoreContract):
    """The way of a store with conditional writes and a clock."""

    @pytest.fixture
    def address(self, monkeypatch):
        monkeypatch.setattr("holdfast.url._registered", {})
        holdfast.register("swapping", swapping)
        return f"swapping://contract-{next(numbers)}"


class TestClockless(StoreContract):
    """The way of a store with conditional writes and no clock."""

    @pytest.fixture
    def address(self, monkeypatch):
        monkeypatch.setattr("holdfast.url._registered", {})
        holdfast.register("clockless", clockless)
        return f"clockless://contract-{next(numbers)}"
