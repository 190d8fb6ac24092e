"""When to renew, when to give up: one pure function, and the keeper that follows it in virtual time."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise

from hypothesis import given, settings, strategies as st

from holdfast.client import Settings
from holdfast.client_threads import Client
from holdfast.engine.hold import safe_for
from holdfast.engine.keeper import decide, why_lapsed
from holdfast.engine.program import FOREVER, SECOND
from holdfast.errors import StoreUnavailable
from holdfast.stores.memory import MemoryTransport
from holdfast.testing import Faults, FaultyTransport, VirtualClock, VirtualDriver
from holdfast.url import parse

TTL = 30 * SECOND

instants = st.integers(0, 10**15)
ttls = st.integers(1, 7 * 24 * 3600 * SECOND)


SAFE = safe_for(TTL)


def judge(now, *, valid_until=SAFE, ttl=TTL, renewing=True, tries=0):
    return decide(now, valid_until=valid_until, ttl=ttl, renewing=renewing, tries=tries)


def test_it_renews_at_a_third_of_the_ttl():
    due = safe_for(TTL) - TTL * 2 // 3
    assert judge(due - 1).action == "wait"
    assert judge(due - 1).look_again == due
    assert judge(due).action == "renew"
    assert due < TTL // 3


def test_what_failed_is_tried_again_soon_and_until_the_end():
    due = safe_for(TTL) - TTL * 2 // 3
    times = [due]
    while (verdict := judge(times[-1], tries=len(times) - 1)).action != "lapse":
        times.append(verdict.look_again)
    assert times[-1] == safe_for(TTL)
    assert len(times) >= 10
    assert max(after - before for before, after in pairwise(times)) <= TTL // 10


@given(instants, instants, ttls, st.booleans(), st.integers(0, 50))
@settings(derandomize=True, max_examples=500)
def test_it_always_looks_again_and_never_believes_too_long(now, valid_until, ttl, renewing, tries):
    verdict = decide(now, valid_until=valid_until, ttl=ttl, renewing=renewing, tries=tries)
    assert (verdict.action == "lapse") == (now >= valid_until)
    if verdict.action == "lapse":
        assert verdict.look_again == FOREVER
    else:
        assert now < verdict.look_again <= valid_until
    if not renewing:
        assert verdict.action != "renew"


@given(ttls)
@settings(derandomize=True, max_examples=200)
def test_belief_ends_before_the_store_s_own_lease_can(ttl):
    """Even if our clock runs 1 % slower than true, and the store's 1 % faster."""
    assert safe_for(ttl) * 101 <= ttl * 99 + 101


def test_why_it_lapsed():
    assert why_lapsed(100, planned=100, ttl=TTL, failed=False) == "expired"
    assert why_lapsed(100, planned=100, ttl=TTL, failed=True) == "unreachable"
    assert why_lapsed(TTL // 3 + 101, planned=100, ttl=TTL, failed=True) == "suspended"


# --- the keeper ------------------------------------------------------------------------------------------------------


class Odd(FaultyTransport):
    """Raises what a driver should never raise."""

    error = None

    def send(self, request):
        if self.error is not None:
            raise self.error
        return super().send(request)


class Kept:
    def __init__(self):
        self.clock, self.faults = VirtualClock(), Faults()

        def driver(_backend, endpoint, keeper):
            self.transport = Odd(MemoryTransport(endpoint, self.clock.wall), self.faults)
            return VirtualDriver(self.transport, keeper, self.clock)

        self.client = Client(parse("memory:"), None, Settings(), driver)


def test_a_lease_is_kept_for_a_day_by_a_request_each_ten_seconds():
    kept = Kept()
    lease = kept.client.mutex("k").acquire()
    del kept.faults.requests[:]
    kept.clock.advance(24 * 3600)
    lease.ensure()
    assert 24 * 360 <= len(kept.faults.requests) <= 24 * 360 * 1.07


def test_a_store_that_comes_back_in_time_was_never_gone():
    kept = Kept()
    lease = kept.client.mutex("k").acquire()
    for _ in range(5):
        kept.faults.down = True
        kept.clock.advance(18)
        kept.faults.down = False
        kept.clock.advance(12)
        lease.ensure()


def test_it_asks_a_store_that_is_gone_now_and_then_and_not_more():
    kept = Kept()
    lease = kept.client.mutex("k").acquire()
    kept.clock.advance(9)
    del kept.faults.requests[:]
    kept.faults.down = True
    kept.clock.advance(30)
    assert lease.lost == "unreachable"
    assert 5 <= len(kept.faults.requests) <= 20
    assert isinstance(lease.failure, StoreUnavailable)


def test_what_a_driver_should_never_raise_does_not_stop_it():
    kept = Kept()
    lease = kept.client.mutex("k").acquire()
    kept.transport.error = RuntimeError("a bug in a driver")
    with suppress(RuntimeError):  # the real drivers log it, and go on
        kept.clock.advance(12)
    kept.transport.error = None
    kept.clock.advance(60)
    lease.ensure()


def test_a_release_that_could_not_be_said_is_said_later():
    kept = Kept()
    lease = kept.client.mutex("k").acquire()
    kept.faults.down = True
    lease.release()
    kept.faults.down = False
    assert kept.client.inspect("k").holders
    kept.clock.advance(2)
    assert kept.client.inspect("k") is None


def test_leases_that_are_due_together_share_a_request():
    kept = Kept()
    for number in range(500):
        kept.client.mutex(f"k{number}").acquire()
    del kept.faults.requests[:]
    kept.clock.advance(30)
    assert len(kept.faults.requests) <= 3
