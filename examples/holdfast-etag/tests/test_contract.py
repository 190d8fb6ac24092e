"""All that holdfast asks of a store."""

from __future__ import annotations

import pytest

from holdfast.testing.contract import StoreContract


class TestEtag(StoreContract):
    @pytest.fixture
    def address(self, url: str) -> str:
        return url
