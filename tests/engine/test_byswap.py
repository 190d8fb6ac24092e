"""The rules by compare-and-swap: how many round trips, what a lost race costs, and that memory is bounded."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from holdfast.core.codec import dump, load
from holdfast.core.ops import Acquire, Denied, Granted, Release, Want
from holdfast.core.record import EMPTY
from holdfast.core.step import step
from holdfast.engine import byswap
from holdfast.engine.byswap import BySwap
from holdfast.engine.observer import Observer
from holdfast.engine.program import Pause, Send
from holdfast.engine.store import Traits
from holdfast.errors import Contended, OutcomeUnknown
from holdfast.testing.swapping import Load, Rows, Swap, SwappingStore

SECOND = 1_000_000
TTL = 30 * SECOND


class Played(NamedTuple):
    value: object
    trips: list
    pauses: list


class Player:
    """Runs programs on rows, in a time that is set by hand; `between` happens before every request."""

    def __init__(self, rows=None, between=None, start=1_000 * SECOND):
        self.rows = rows if rows is not None else Rows()
        self.between = between
        self.now = start

    def play(self, program):
        trips, pauses, result, error = [], [], None, None
        while True:
            try:
                command = program.send(result) if error is None else program.throw(error)
            except StopIteration as stop:
                return Played(stop.value, trips, pauses)
            error = None
            if isinstance(command, Send):
                trips.append(command.request)
                try:
                    if self.between:
                        self.between(command.request)
                    result = self.rows.answer(command.request)
                except OutcomeUnknown as raised:
                    error = raised
            elif isinstance(command, Pause):
                pauses.append(command.until - self.now)
                result = False
            else:  # the time, of one kind or the other
                result = self.now


def store(kind="clocked"):
    inner = SwappingStore(Traits())
    return BySwap(Observer(inner) if kind == "clockless" else inner, chance=lambda: 0.5)


def test_the_trips_of_a_lock_that_nobody_else_wants():
    ours, player = store(), Player()
    for _ in range(3):
        assert len(player.play(ours.apply("k", Acquire("a.1", Want(ttl=TTL)))).trips) == 1
        player.now += 1
        assert len(player.play(ours.apply("k", Release("a.1"))).trips) == 1


def test_a_denial_is_believed_only_when_it_was_read():
    ours, theirs, player = store(), store(), Player()
    player.play(theirs.apply("k", Acquire("b.1", Want(ttl=TTL))))
    denied = player.play(ours.apply("k", Acquire("a.1", Want(ttl=TTL))))
    assert (type(denied.value), [type(trip) for trip in denied.trips]) == (Denied, [Swap]), "the bet brought it back"
    again = player.play(ours.apply("k", Acquire("a.1", Want(ttl=TTL))))
    assert (type(again.value), [type(trip) for trip in again.trips]) == (Denied, [Load]), "a poll is one read, no write"


def test_a_bet_that_is_lost_costs_no_read():
    ours, theirs, player = store(), store(), Player()
    player.play(ours.apply("k", Acquire("a.1", Want("semaphore", 2, 1, TTL))))
    player.play(theirs.apply("k", Acquire("b.1", Want("semaphore", 2, 1, TTL))))
    released = player.play(ours.apply("k", Release("a.1")))
    assert [type(trip) for trip in released.trips] == [Swap, Swap]


def test_races_are_lost_with_pauses_and_not_for_ever():
    rows = Rows()

    def overtake(request):
        """Somebody else always writes first."""
        if isinstance(request, Swap):
            there = rows.rows.get("k")
            record = load(there[1]) if there else EMPTY
            record, _ = step(
                record, Acquire(f"x.{len(record.grants)}", Want("semaphore", 1000, 1, TTL)), 1_000 * SECOND
            )
            rows.rows["k"] = (next(rows._versions), dump(record))

    player = Player(rows, overtake)
    pauses = []
    program = store().apply("k", Acquire("a.1", Want("semaphore", 1000, 1, TTL)))
    with pytest.raises(Contended, match="before us 100 times in a row"):
        pauses = player.play(program).pauses
    assert not pauses
    rows.rows.clear()
    times = iter(range(20))
    player.between = lambda request: overtake(request) if next(times, 99) < 19 else None
    played = player.play(store().apply("k", Acquire("a.1", Want("semaphore", 1000, 1, TTL))))
    assert type(played.value) is Granted
    assert played.pauses[0] == byswap.FIRST_PAUSE // 2, "by chance half of the longest"
    assert played.pauses == sorted(played.pauses)
    assert max(played.pauses) <= byswap.LONGEST_PAUSE


def test_after_an_unknown_outcome_nothing_is_bet():
    ours, player = store(), Player()
    player.play(ours.apply("k", Acquire("a.1", Want(ttl=TTL))))

    def lose(_request):
        raise OutcomeUnknown("no answer")

    player.between = lose
    with pytest.raises(OutcomeUnknown):
        player.play(ours.apply("k", Release("a.1")))
    player.between = None
    assert "k" not in ours._seen


def test_what_is_remembered_is_bounded(monkeypatch):
    monkeypatch.setattr(byswap, "REMEMBERED", 10)
    ours, player = store(), Player()
    for number in range(50):
        player.play(ours.apply(f"k{number}", Acquire("a.1", Want(ttl=TTL))))
    assert len(ours._seen) == 10


# --- without a clock -------------------------------------------------------------------------------------------------


def test_nobody_s_clock_is_compared_with_anybody_s():
    """A newcomer whose clock is an hour ahead, or behind, waits one ttl of its own from when it first looked."""
    for start in (1_000 * SECOND, 4_600 * SECOND, 5 * SECOND):
        rows = Rows()
        holder, newcomer = Player(rows), Player(rows, start=start)
        ours, theirs = store("clockless"), store("clockless")
        assert type(holder.play(ours.apply("k", Acquire("a.1", Want(ttl=TTL)))).value) is Granted
        ask = Acquire("b.1", Want(ttl=TTL))
        assert type(newcomer.play(theirs.apply("k", ask)).value) is Denied
        newcomer.now += TTL - 1
        assert type(newcomer.play(theirs.apply("k", ask)).value) is Denied
        newcomer.now += 1
        assert type(newcomer.play(theirs.apply("k", ask)).value) is Granted


def test_a_holder_that_renews_is_believed_in_anew():
    from holdfast.core.ops import Renew

    rows = Rows()
    holder, newcomer = Player(rows), Player(rows)
    ours, theirs = store("clockless"), store("clockless")
    holder.play(ours.apply("k", Acquire("a.1", Want(ttl=TTL))))
    ask = Acquire("b.1", Want(ttl=TTL))
    for _ in range(5):
        assert type(newcomer.play(theirs.apply("k", ask)).value) is Denied
        holder.now += TTL * 2 // 3
        newcomer.now += TTL * 2 // 3
        holder.play(ours.apply("k", Renew("a.1", TTL)))


def test_fences_grow_when_the_clock_goes_back():
    rows = Rows()
    first, second = Player(rows), Player(rows, start=3 * SECOND)
    ours, theirs = store("clockless"), store("clockless")
    before = first.play(ours.apply("k", Acquire("a.1", Want(ttl=TTL)))).value
    first.play(ours.apply("k", Release("a.1")))
    assert second.play(theirs.apply("k", Acquire("b.1", Want(ttl=TTL)))).value.fence > before.fence


def test_the_number_of_watched_keys_is_bounded(monkeypatch):
    monkeypatch.setattr("holdfast.engine.observer.WATCHED", 10)
    observer = Observer(SwappingStore(Traits()))
    ours, player = BySwap(observer), Player()
    for number in range(50):
        player.play(ours.apply(f"k{number:02}", Acquire("a.1", Want(ttl=TTL))))
    player.play(ours.scan("k", "", 100))
    assert len(observer._sightings) == 10
