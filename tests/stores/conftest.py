"""What the tests of SQLite share: a file of their own."""

from __future__ import annotations

import pytest


@pytest.fixture
def path(tmp_path):
    return tmp_path / "locks.db"


@pytest.fixture
def url(path):
    return f"sqlite:///{path}"
