"""Nobody shares what is exclusive, in whatever order the clients' requests arrive; and a broken rule is found."""

from __future__ import annotations

from functools import partial

import pytest
from explorer import CHECKPOINT, Actor, client_on, explore

from holdfast.core import step as rules
from holdfast.stores.memory import Room
from holdfast.testing import swapping

STORES = ("memory", "swapping", "clockless")


@pytest.fixture(autouse=True)
def schemes(monkeypatch):
    import holdfast

    monkeypatch.setattr("holdfast.url._registered", {})
    holdfast.register("swapping", swapping.swapping)
    holdfast.register("clockless", swapping.clockless)


class Referee:
    """Sees who believes to hold the key, and every fence."""

    def __init__(self) -> None:
        self.leases = []
        self.fences = []

    def enter(self, lease):
        assert all(lease.fence > fence for fence in self.fences), "a fence went back"
        self.fences.append(lease.fence)
        self.leases.append(lease)
        self.look()

    def look(self):
        believers = [lease for lease in self.leases if not lease.ended and lease.loss() is None]
        assert len(believers) <= 1, "two believe that they hold it"


def work(client, lock, referee, rounds, renewing=False):
    """What a client does: take the lock, look around, give it back."""
    for _ in range(rounds):
        lease = yield from lock._acquire(None)
        referee.enter(lease)
        yield CHECKPOINT
        referee.look()
        if renewing:
            yield from lease._renew(None)
            referee.look()
        yield from lease._release()


def time_passes(clock, seconds):
    """At any one moment, so much time passes at once."""
    yield CHECKPOINT
    clock.sleep(seconds)


def begin(clock, *, scheme, clients, rounds, renewing=False, jump=0.0, fair=None):
    swapping._shared.clear()
    referee = Referee()
    made = [client_on(f"{scheme}://explored", clock) for _ in range(clients)]
    actors = [
        Actor(client, work(client, client.mutex("k", ttl=30, fair=fair), referee, rounds, renewing)) for client in made
    ]
    if jump:
        actors.append(Actor(made[0], time_passes(clock, jump)))
    return actors


@pytest.mark.parametrize("scheme", STORES)
@pytest.mark.parametrize(
    ("clients", "rounds", "renewing"), [(2, 2, False), (2, 1, True), (3, 1, False)], ids=["2x2", "2 renewing", "3x1"]
)
def test_nobody_shares(scheme, clients, rounds, renewing, record_property):
    runs = explore(partial(begin, scheme=scheme, clients=clients, rounds=rounds, renewing=renewing), at_most=200_000)
    record_property("runs", runs)
    assert runs > 1


@pytest.mark.parametrize("scheme", STORES)
def test_four_clients(scheme, record_property):
    def try_once(client, lock, referee):
        lease = yield from lock._take(0)
        if lease is not None:
            referee.enter(lease)
            yield CHECKPOINT
            referee.look()
            yield from lease._release()

    def start(clock):
        swapping._shared.clear()
        referee = Referee()
        made = [client_on(f"{scheme}://explored", clock) for _ in range(4)]
        return [Actor(client, try_once(client, client.mutex("k"), referee)) for client in made]

    record_property("runs", explore(start, at_most=200_000))


@pytest.mark.parametrize("scheme", STORES)
def test_nobody_shares_when_a_ttl_passes_at_any_moment(scheme, record_property):
    runs = explore(partial(begin, scheme=scheme, clients=2, rounds=1, jump=31.0), at_most=200_000)
    record_property("runs", runs)


def test_a_blind_write_is_found(monkeypatch):
    blind = swapping.Rows._swap

    def overwrite(self, request):
        there = self.rows.get(request.key)
        return blind(self, request._replace(expected=there[0] if there else None))

    monkeypatch.setattr(swapping.Rows, "_swap", overwrite)
    with pytest.raises(AssertionError, match=r"two believe|a fence went back"):
        explore(partial(begin, scheme="swapping", clients=2, rounds=1), at_most=1_000)


@pytest.mark.parametrize("scheme", ["memory", "swapping"])
def test_a_missing_check_is_found(monkeypatch, scheme):
    monkeypatch.setattr(rules, "fits", lambda record, weight: True)
    with pytest.raises(AssertionError, match="two believe"):
        explore(partial(begin, scheme=scheme, clients=2, rounds=1), at_most=1_000)


def test_a_store_that_forgets_is_found(monkeypatch):
    monkeypatch.setattr(Room, "get", lambda self, key: rules.EMPTY)
    with pytest.raises(AssertionError, match=r"two believe|a fence went back"):
        explore(partial(begin, scheme="memory", clients=2, rounds=1), at_most=1_000)
