"""A lease: believed in for so long, renewed, amended, given back; and lost, for a reason that is told in every way."""

from __future__ import annotations

import os
import pickle

import pytest
from worlds import steal

import holdfast
from holdfast import ConfigError, LeaseLost, NotHeld


def lose_expired(lease, _other, time, _faults):
    time.advance(31)


def lose_stolen(lease, _other, time, _faults):
    steal(lease)
    time.advance(11)


def lose_broken(lease, other, time, _faults):
    other.break_lock("k", reason="stuck")
    time.advance(11)


def lose_unreachable(_lease, _other, time, faults):
    faults.down = True
    time.advance(31)


def lose_suspended(_lease, _other, time, _faults):
    time.sleep(60)


LOSSES = {
    "expired": lose_expired,
    "stolen": lose_stolen,
    "broken": lose_broken,
    "unreachable": lose_unreachable,
    "suspended": lose_suspended,
}
WHY = {
    "expired": "its time ran out and it was not renewed",
    "stolen": "the store says that it holds it no more",
    "broken": "it was taken away by force by pid .*: stuck",
    "unreachable": "the store could not be reached to renew it",
    "suspended": "this process did not run for longer than the lease lasts",
}


@pytest.fixture(params=LOSSES)
def losing(request, other, time, faults):
    """The reason, and what makes a lease of 30 s be lost for it."""
    return request.param, lambda lease: LOSSES[request.param](lease, other, time, faults)


def lock_for(locks, reason, **how):
    return locks.mutex("k", ttl=30, renew=reason != "expired", **how)


# --- lost -------------------------------------------------------------------------------------------------------------


def test_it_knows_why_it_is_lost(locks, losing):
    reason, lose = losing
    lease = lock_for(locks, reason).acquire()
    assert lease.lost is None
    lose(lease)
    assert lease.lost == reason
    assert lease.remaining == 0.0
    assert reason in repr(lease)


def test_ensure_raises_the_loss(locks, losing):
    reason, lose = losing
    lease = lock_for(locks, reason).acquire()
    lease.ensure()
    lose(lease)
    with pytest.raises(LeaseLost, match=WHY[reason]) as caught:
        lease.ensure()
    assert (caught.value.key, caught.value.reason, caught.value.fence) == ("k", reason, lease.fence)
    assert str(caught.value).endswith("acquire the lock again")


def test_on_lost_is_called_once_with_the_lease(locks, losing):
    reason, lose = losing
    told = []
    lease = lock_for(locks, reason, on_lost=told.append).acquire()
    lose(lease)
    assert lease.lost == reason
    lose(lease)
    assert told == [lease]


def test_the_block_ends_with_the_loss(locks, losing):
    reason, lose = losing
    with pytest.raises(LeaseLost, match=WHY[reason]), lock_for(locks, reason) as lease:
        lose(lease)


def test_the_bodys_own_error_wins_and_has_the_loss_as_context(locks, losing):
    reason, lose = losing
    with pytest.raises(RuntimeError, match="yours") as caught, lock_for(locks, reason) as lease:
        lose(lease)
        raise RuntimeError("yours")
    assert isinstance(caught.value.__context__, LeaseLost)
    assert caught.value.__context__.reason == reason


def test_the_loss_comes_behind_the_contexts_that_the_error_has(locks, faults):
    with pytest.raises(RuntimeError) as caught, locks.mutex("k") as lease:
        faults.lose(lease)
        try:
            raise KeyError("first")
        except KeyError:
            raise RuntimeError("second")  # noqa: B904 (the context is what this is about)
    assert isinstance(caught.value.__context__, KeyError)
    assert isinstance(caught.value.__context__.__context__, LeaseLost)


def test_the_loss_in_hand_raised_again_is_not_its_own_context(locks, faults):
    with pytest.raises(LeaseLost) as caught, locks.mutex("k") as lease:
        faults.lose(lease)
        lease.ensure()
    seen, error = [], caught.value
    while error is not None:
        assert error not in seen
        seen.append(error)
        error = error.__context__


def test_a_lost_lease_is_never_good_again(locks, losing, faults, time):
    reason, lose = losing
    lease = lock_for(locks, reason).acquire()
    lose(lease)
    faults.down = False
    time.advance(100)
    assert lease.lost == reason
    for use in (lease.renew, lambda: lease.amend(b"x"), lease.downgrade):
        with pytest.raises(LeaseLost):
            use()


def test_release_after_a_loss_is_no_error_and_harms_nobody(locks, other, losing, faults):
    reason, lose = losing
    lease = lock_for(locks, reason).acquire()
    lose(lease)
    assert lease.lost == reason
    faults.down = False
    with other.mutex("k").acquire(timeout=60) as theirs:
        lease.release()
        lease.release()
        assert other.inspect("k").fence == theirs.fence
        theirs.renew()
    assert lease.lost == reason


def test_the_failure_is_the_cause_when_the_store_was_away(locks, time, faults):
    lease = locks.mutex("k", ttl=30).acquire()
    lose_unreachable(lease, None, time, faults)
    with pytest.raises(LeaseLost) as caught:
        lease.ensure()
    assert isinstance(caught.value.__cause__, holdfast.StoreUnavailable)


def test_it_is_lost_before_anybody_else_can_have_it(locks, other, time, faults):
    """By this process' clock alone: the store may be away."""
    lease = locks.mutex("k", ttl=10).acquire()
    faults.down = True
    for _ in range(1_000):
        time.advance(0.01)
        if lease.lost:
            break
    faults.down = False
    assert other.mutex("k").try_acquire() is None
    time.advance(0.2)
    assert other.mutex("k").try_acquire() is not None


def test_a_short_absence_of_the_store_is_survived(locks, time, faults):
    lease = locks.mutex("k", ttl=30).acquire()
    for _ in range(10):
        faults.down = True
        time.advance(19)
        faults.down = False
        time.advance(19)
    lease.ensure()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_holds_nothing(locks):
    told = []
    lease = locks.mutex("k", on_lost=told.append).acquire()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with pytest.raises(LeaseLost, match="it belongs to the process that this one was forked from") as caught:
                lease.ensure()
            outcome = (lease.lost, lease.remaining, caught.value.reason, lease.release())
            os.write(write, pickle.dumps(outcome))
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    with open(read, "rb") as answer:
        assert pickle.load(answer) == ("forked", 0.0, "forked", None)
    lease.ensure()


# --- held -------------------------------------------------------------------------------------------------------------


def test_what_remains_gets_less_and_is_renewed(locks, time):
    lease = locks.mutex("k", ttl=30).acquire()
    before = lease.remaining
    assert 29 < before < 30
    time.advance(5)
    assert lease.remaining == pytest.approx(before - 5)
    time.advance(5)
    assert lease.remaining > before - 2


def test_renew_by_hand(locks, other, time):
    lease = locks.mutex("k", ttl=10, renew=False).acquire()
    for _ in range(10):
        time.advance(9)
        lease.renew()
    lease.renew(ttl=100)
    time.advance(95)
    lease.ensure()
    assert other.mutex("k").try_acquire() is None


def test_renew_never_shortens(locks, other, time):
    lease = locks.mutex("k", ttl=100, renew=False).acquire()
    before = lease.remaining
    lease.renew(ttl=1)
    lease.renew(ttl=0)
    assert lease.remaining == before
    time.advance(98)
    lease.ensure()
    assert other.mutex("k").try_acquire() is None


def test_renewed_once_for_less_it_goes_on_renewing_itself_for_its_ttl(locks, time, faults):
    lease = locks.mutex("k", ttl=100).acquire()
    lease.renew(ttl=1)
    time.advance(1000)
    assert lease.remaining > 60
    lease.renew(ttl=0)
    time.advance(1000)
    lease.ensure()


def test_a_ttl_to_renew_for_has_the_same_grammar(locks):
    lease = locks.mutex("k").acquire()
    with pytest.raises(ConfigError, match="ttl is -1 s"):
        lease.renew(-1)
    with pytest.raises(ConfigError, match="not str"):
        lease.renew("30")


def test_amend_replaces_what_the_lock_carries(locks, other):
    with locks.mutex("k", payload=b"1") as lease:
        lease.amend(b"2")
        assert lease.payload == b"2"
        assert other.inspect("k").payload == b"2"
    assert other.inspect("k").payload == b"2"
    with other.mutex("k") as lease:
        assert lease.payload == b"2"
        lease.amend(b"")
        assert lease.payload is None
    assert other.inspect("k") is None


def test_what_a_lock_carries_is_small(locks):
    with locks.mutex("k", payload=b"x" * 65_536) as lease:
        for refuse in (
            lambda: lease.amend(b"x" * 65_537),
            lambda: locks.mutex("other", payload=b"x" * 65_537),
            lambda: locks.pool("p").add("m", b"x" * 65_537),
        ):
            with pytest.raises(ConfigError, match=r"65537 bytes is too big.*65536 at most"):
                refuse()
        lease.ensure()


def test_nobody_renews_for_months(locks):
    with locks.mutex("k") as lease, pytest.raises(ConfigError, match="too long: renew for 604800 s at most"):
        lease.renew(1e9)


def test_what_is_amended_is_bytes(locks):
    with locks.mutex("k") as lease, pytest.raises(ConfigError, match="a payload is bytes, not str"):
        lease.amend("text")


def test_release_twice_is_once(locks, other, faults):
    lease = locks.mutex("k").acquire()
    lease.release()
    with other.mutex("k"):
        faults.requests.clear()
        lease.release()
        assert faults.requests == []
        assert other.inspect("k").holders


def test_a_released_lease_is_not_lost_but_of_no_use(locks):
    lease = locks.mutex("k").acquire()
    lease.release()
    assert (lease.lost, lease.remaining) == (None, 0.0)
    assert "released" in repr(lease)
    for use in (lease.ensure, lease.renew, lambda: lease.amend(b"x")):
        with pytest.raises(NotHeld, match="the lease on 'k' was released: acquire the lock again") as caught:
            use()
        assert caught.value.key == "k"


def test_released_in_its_own_block_it_ends_quietly(locks, other, time):
    with locks.mutex("k") as lease:
        lease.release()
        time.advance(100)
        assert other.mutex("k").try_acquire() is not None


def test_a_release_the_store_did_not_hear_is_said_again_later(locks, other, time, faults):
    lease = locks.mutex("k", ttl=300).acquire()
    faults.down = True
    lease.release()
    faults.down = False
    assert other.mutex("k").try_acquire() is None
    time.advance(5)
    assert other.mutex("k").try_acquire() is not None


def test_a_renewal_of_which_no_answer_came_is_asked_for_again(locks, time, faults):
    lease = locks.mutex("k", ttl=30, renew=False).acquire()
    time.advance(20)
    faults.lose_reply()
    lease.renew()
    assert lease.remaining > 29


def test_it_can_be_released_by_another_thread(locks, other):
    import threading

    lease = locks.mutex("k").acquire()
    thread = threading.Thread(target=lease.release)
    thread.start()
    thread.join()
    assert other.mutex("k").try_acquire() is not None


async def test_the_same_in_asyncio(world, time):
    locks, other = world.async_client(), world.async_client()
    async with locks.mutex("k", ttl=30, payload=b"1") as lease:
        await time.elapse(300)
        lease.ensure()
        await lease.amend(b"2")
        await lease.renew(ttl=100)
        assert lease.remaining > 90
    assert (await other.inspect("k")).payload == b"2"
    with pytest.raises(NotHeld):
        await lease.renew()
    with pytest.raises(LeaseLost, match="broken"):
        async with locks.mutex("k") as lease:
            await other.break_lock("k")
            await time.elapse(30)
