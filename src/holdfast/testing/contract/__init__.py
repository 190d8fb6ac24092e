"""What every store must do, as tests; a store that passes them is right.

    from holdfast.testing.contract import StoreContract

    class TestMyStore(StoreContract):
        @pytest.fixture
        def address(self) -> str:
            return "mystore://127.0.0.1:1234"

Every case runs with threads and with asyncio, in a namespace of its own, through the public API.  What the store's
traits say that it does not do is skipped, with that as the reason.
"""

from __future__ import annotations

from holdfast.testing.contract.exclusion import MutexCases
from holdfast.testing.contract.looking import LookingCases
from holdfast.testing.contract.mishaps import MishapCases
from holdfast.testing.contract.rules import RuleCases
from holdfast.testing.contract.several import AllOfCases, ElectionCases, OnceCases, PoolCases
from holdfast.testing.contract.sharing import RWLockCases, SemaphoreCases
from holdfast.testing.contract.stage import Scene, Staged


class StoreContract(
    MutexCases,
    RWLockCases,
    SemaphoreCases,
    PoolCases,
    ElectionCases,
    AllOfCases,
    OnceCases,
    LookingCases,
    MishapCases,
    RuleCases,
    Staged,
):
    """Subclass it, and say by the fixture `address` where a store of yours is; see the module."""


__all__ = ["Scene", "StoreContract"]
