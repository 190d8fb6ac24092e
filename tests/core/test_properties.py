"""The rules against another telling of them, and what holds of them, and of a record's bytes, whatever comes."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from ledger import Ledger, told

from holdfast.core import step as rules
from holdfast.core.codec import Unreadable, dump, load
from holdfast.core.ops import (
    Acquire,
    Amend,
    Denied,
    Dismiss,
    Enrol,
    Granted,
    Mismatch,
    Noted,
    NotHeld,
    Op,
    Pass,
    Release,
    Released,
    Renew,
    Reply,
    Revoke,
    Revoked,
    Shrink,
    Want,
)
from holdfast.core.record import EMPTY, FOREVER, MANY, Broken, Grant, Record, Waiter, handed
from holdfast.core.step import bury, settle, step

STEADY = settings(
    derandomize=True, database=None, deadline=None, max_examples=150, suppress_health_check=list(HealthCheck)
)
RANDOM = settings(STEADY, derandomize=False, max_examples=20_000, print_blob=True)

OWNERS = ("ann", "bob", "cyd", "dan", "eve")
LOCKS = (("mutex", 1), ("semaphore", 3), ("rwlock", MANY), ("election", 1))
HEAVY = {"ann": MANY, "bob": 1, "cyd": 2, "dan": MANY, "eve": 1}
"""What each owner wants, or all of the lock if it has less; the same each time, as the nonce of one attempt does."""

owners = st.sampled_from(OWNERS)
spans = st.integers(1, 9)


def wanted(owner: str, lock: tuple[str, int], ttl: int, payload: bytes | None) -> Want:
    kind, limit = lock
    return Want(kind, limit, min(HEAVY[owner], limit), ttl, payload)


def plain(reply: Reply) -> tuple[object, ...]:
    """A reply as the ledger words it."""
    match reply:
        case Granted(_, fence, since, expires, payload, waiting):
            return "granted", fence, since, expires, payload, waiting
        case Denied(_, free_at, grants, ahead):
            return "denied", free_at, frozenset(grant.owner for grant in grants), ahead
        case NotHeld(_, broken):
            return "not held", broken
        case Mismatch(_, kind, limit):
            return "mismatch", kind, limit
        case Revoked(_, broken_owners):
            return "revoked", frozenset(broken_owners)
        case Released(_):
            return ("released",)
    assert type(reply) is Noted
    return ("noted",)


class Comparison(RuleBasedStateMachine):
    """Everything that can be asked, by five owners, of one record and of one ledger."""

    def __init__(self) -> None:
        super().__init__()
        self.record = EMPTY
        self.ledger = Ledger()
        self.now = 1_791_504_000_000_000
        self.highest = 0
        self.marks = 0
        self.lock = LOCKS[0]

    def ask(self, op: Op) -> None:
        self.record, reply = rules.step(self.record, op, self.now)
        assert reply.now == self.now
        assert plain(reply) == self.ledger.ask(op, self.now)

    @initialize(lock=st.sampled_from(LOCKS))
    def choose(self, lock: tuple[str, int]) -> None:
        self.lock = lock

    @rule(length=st.integers(1, 12))
    def pass_time(self, length: int) -> None:
        self.now += length

    @rule(owner=owners, ttl=spans, linger=st.integers(0, 9))
    def acquire(self, owner: str, ttl: int, linger: int) -> None:
        self.ask(Acquire(owner, wanted(owner, self.lock, ttl, None), linger, f"host of {owner}"))

    @rule(owner=owners, lock=st.sampled_from(LOCKS), payload=st.sampled_from([None, b"", b"note"]))
    def acquire_another_kind(self, owner: str, lock: tuple[str, int], payload: bytes | None) -> None:
        self.ask(Acquire(owner, wanted(owner, lock, 5, payload), 4))

    @rule(owner=owners, ttl=spans)
    def renew(self, owner: str, ttl: int) -> None:
        self.ask(Renew(owner, ttl))

    @rule(owner=owners)
    def release(self, owner: str) -> None:
        self.ask(Release(owner))

    @rule(owner=owners, heir=owners, ttl=spans)
    def hand_over(self, owner: str, heir: str, ttl: int) -> None:
        self.ask(Pass(owner, heir, ttl, "heir"))

    @rule(owner=owners, weight=st.integers(1, 2))
    def shrink(self, owner: str, weight: int) -> None:
        self.ask(Shrink(owner, weight))

    @rule(owner=owners, payload=st.binary(max_size=3), length=spans)
    def amend(self, owner: str, payload: bytes, length: int) -> None:
        self.ask(Amend(owner, payload, self.now + length))

    @rule(owner=owners, again=st.booleans(), one=st.booleans())
    def revoke(self, owner: str, again: bool, one: bool) -> None:
        self.marks += not again
        fences = [grant.fence for grant in self.record.grants]
        self.ask(Revoke(f"m{self.marks}", "ops", "stuck", fences[-1] if fences and one else None))

    @rule(payload=st.sampled_from([None, b"gpu"]))
    def enrol(self, payload: bytes | None) -> None:
        self.ask(Enrol(payload))

    @rule()
    def dismiss(self) -> None:
        self.ask(Dismiss())

    @rule(gone=st.frozensets(owners, max_size=3))
    def bury(self, gone: frozenset[str]) -> None:
        self.record = rules.bury(self.record, gone, self.now)
        self.ledger.bury(gone, self.now)

    @invariant()
    def both_say_the_same(self) -> None:
        assert told(self.record) == self.ledger.says()

    @invariant()
    def the_bytes_are_the_record(self) -> None:
        assert load(dump(self.record)) == self.record

    @invariant()
    def settling_comes_to_rest(self) -> None:
        settled = settle(self.record, self.now)
        assert settle(settled, self.now) is settled
        assert settle(settle(self.record, self.now), self.now + 20) == settle(settled, self.now + 20)


def test_the_rules_are_what_a_ledger_says() -> None:
    run_state_machine_as_test(Comparison, settings=settings(STEADY, max_examples=200, stateful_step_count=40))


@pytest.mark.wide
def test_the_rules_are_what_a_ledger_says_at_length() -> None:
    run_state_machine_as_test(Comparison, settings=settings(RANDOM, max_examples=10_000, stateful_step_count=60))


@pytest.mark.parametrize("name", ["fits", "serve", "vacate", "_extend", "mint"])
def test_the_ledger_notices_another_rule(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = {
        "fits": lambda record, weight: not record.grants,
        "serve": lambda record, now: record,
        "vacate": lambda record, now: record,
        "_extend": lambda record, mine, ttl, now: (record, rules._granted(record, mine, now)),
        "mint": lambda record, now: record.fence + 1,
    }
    monkeypatch.setattr(rules, name, wrong[name])
    with pytest.raises((AssertionError, ValueError)):
        run_state_machine_as_test(Comparison, settings=settings(STEADY, phases=[Phase.generate], max_examples=200))


# --- records of any kind ---------------------------------------------------------------------------------------------

instants = st.integers(0, 30)
names = st.text(alphabet="abcdef0123456789.", min_size=1, max_size=6)
texts = st.one_of(
    st.text(st.characters(codec=None, exclude_categories=()), max_size=12),
    st.sampled_from(["", " ", "  two  ", "%", "%20", "%2520", "%0A", "a\nb", "\r\n", "\n\n", "\ud800", "\ud83d\ude00"]),
    st.sampled_from(["\0", "\x85", "\u2028", "g x 1 2 3", "\x1b[31m", "+", "-", "e\u0301", "\U0010ffff"]),
)
payloads = (
    st.none() | st.binary(max_size=20) | st.sampled_from([b"", b"\n", b"\n\n", b"a\n\nb\n\n", b"\xff\xfe", b"1 0"])
)

grants = st.builds(Grant, names, instants, instants, instants, spans, st.integers(1, MANY), texts)
waiters = st.builds(Waiter, names, instants, spans, spans, st.integers(1, MANY), texts)
breaks = st.builds(Broken, names, instants, texts, texts, names)


def several(entries: st.SearchStrategy) -> st.SearchStrategy:
    return st.lists(entries, max_size=4, unique_by=lambda entry: entry.owner).map(tuple)


def holding_or_waiting(record: Record) -> Record:
    """Nobody does both."""
    holders = {grant.owner for grant in record.grants}
    return record._replace(queue=tuple(waiter for waiter in record.queue if waiter.owner not in holders))


records = st.builds(
    Record,
    st.integers(0, FOREVER),
    st.sampled_from([kind for kind, _ in LOCKS]),
    st.integers(1, MANY),
    several(grants),
    several(waiters),
    several(breaks),
    payloads,
    st.sampled_from([0, 5, 15, FOREVER]),
).map(holding_or_waiting)


@given(records)
@settings(STEADY, max_examples=600)
def test_a_record_comes_back_from_its_bytes(record: Record) -> None:
    assert load(dump(record)) == record


@given(records, st.data())
@settings(STEADY, max_examples=400)
def test_broken_bytes_are_a_record_or_unreadable(record: Record, data: st.DataObject) -> None:
    whole = bytearray(dump(record))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(whole) - 1))
        whole[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3) | st.just(b" \n\n"))
        if not whole:
            break
    readable(bytes(whole))


@given(records)
@settings(STEADY, max_examples=60)
def test_every_beginning_of_the_bytes_is_a_record_or_unreadable(record: Record) -> None:
    whole = dump(record)
    for end in range(len(whole)):
        readable(whole[:end])


@given(st.binary(max_size=200) | st.binary(max_size=60).map(b"1 ".__add__))
@settings(STEADY, max_examples=400)
def test_any_bytes_are_a_record_or_unreadable(data: bytes) -> None:
    readable(data)


def readable(data: bytes) -> None:
    """It loads, and says the same when it is written again; or it is refused, in the one way there is."""
    try:
        record = load(data)
    except Unreadable:
        return
    assert load(dump(record)) == record


# --- time ------------------------------------------------------------------------------------------------------------


@given(records, instants)
@STEADY
def test_settling_twice_is_settling_once(record: Record, now: int) -> None:
    settled = settle(record, now)
    assert settle(settled, now) is settled
    for entry in (*settled.grants, *settled.queue):
        assert entry.expires > now
    assert all(broken.until > now for broken in settled.broken)


@given(records, instants, st.integers(0, 30))
@STEADY
def test_time_only_takes_from_those_who_have(record: Record, now: int, later: int) -> None:
    """Settling gives nobody a new place in line, ends nobody before their time, and never goes back."""
    settled = settle(record, now)
    called = handed(record, settled)
    assert settled.fence >= record.fence
    assert [g for g in settled.grants if g.owner not in called] == [g for g in record.grants if g.expires > now]
    assert all(waiter in record.queue for waiter in settled.queue)
    after = settle(settled, now + later)
    assert after.fence >= settled.fence
    assert set(after.broken) <= set(settled.broken)


@given(records, st.frozensets(names, max_size=3), instants)
@STEADY
def test_the_buried_are_gone_and_nobody_else(record: Record, strangers: frozenset[str], now: int) -> None:
    entries = (*record.grants, *record.queue)
    gone = strangers | {entry.owner for entry in entries[::2]}
    after = bury(record, gone, now)
    assert gone.isdisjoint(entry.owner for entry in (*after.grants, *after.queue))
    assert bury(after, gone, now) is after
    stayed = {grant.owner for grant in record.grants if grant.owner not in gone and grant.expires > now}
    assert stayed <= {grant.owner for grant in after.grants} or not any(entry.owner in gone for entry in entries)
    if gone.isdisjoint(entry.owner for entry in entries):
        assert after is record


# --- shifting, on which the search rests -----------------------------------------------------------------------------

wants = st.builds(wanted, owners, st.sampled_from(LOCKS), spans, st.none())
asks = st.one_of(
    st.builds(Acquire, owners, wants, st.integers(0, 9)),
    st.builds(Renew, owners, spans),
    st.builds(Pass, owners, owners, spans),
    st.builds(Shrink, owners, st.integers(1, 2)),
    st.builds(Release, owners),
    st.builds(Revoke, st.sampled_from(["m1", "m2"]), st.just("ops"), st.just("why")),
    st.just(Enrol(b"gpu")),
    st.just(Dismiss()),
)


@given(st.lists(st.tuples(asks, st.integers(0, 4)), max_size=25), st.integers(1, 10**15))
@STEADY
def test_the_rules_do_not_care_when_they_run(history: list[tuple[Op, int]], by: int) -> None:
    record = later = EMPTY
    now = 100
    for op, wait in history:
        now += wait
        record, reply = step(record, op, now)
        later, answer = step(later, op, now + by)
        assert shifted(record, by) == later
        assert type(reply) is type(answer)
        if type(reply) is Granted:
            assert (reply.fence + by, reply.expires + by) == (answer.fence, answer.expires)


def shifted(record: Record, by: int) -> Record:
    return record._replace(
        fence=record.fence and record.fence + by,
        grants=tuple(g._replace(fence=g.fence + by, since=g.since + by, expires=g.expires + by) for g in record.grants),
        queue=tuple(waiter._replace(expires=waiter.expires + by) for waiter in record.queue),
        broken=tuple(broken._replace(until=broken.until + by) for broken in record.broken),
    )
