"""The contract notices a store that is wrong: each bug is planted, and the case that is to find it fails."""

from __future__ import annotations

from itertools import count

import pytest

import holdfast
from holdfast.core.ops import Denied, Release, Released, Renew
from holdfast.core.record import EMPTY
from holdfast.core.step import step
from holdfast.stores import here, memory
from holdfast.testing.contract import Scene, StoreContract, mishaps, stage
from holdfast.testing.swapping import Rows, swapping

numbers = count()
true_apply = here.apply


def deaf_to_release(table, key, op, now, rings):
    return Released(now) if type(op) is Release else true_apply(table, key, op, now, rings)


def deaf_to_renewal(table, key, op, now, rings):
    if type(op) is Renew:
        return step(table.get(key), op, now)[1]  # says yes, and writes nothing
    return true_apply(table, key, op, now, rings)


def forgetful(table, key, op, now, rings):
    after, reply = step(EMPTY, op, now)
    table.put(key, after)
    return reply


def short_of_fences(table, key, op, now, rings):
    reply = true_apply(table, key, op, now, rings)
    return reply._replace(fence=7) if hasattr(reply, "fence") else reply


def vague(table, key, op, now, rings):
    reply = true_apply(table, key, op, now, rings)
    return reply._replace(grants=()) if type(reply) is Denied else reply


@pytest.mark.parametrize(
    ("bug", "name"),
    [
        (deaf_to_release, "test_a_mutex_is_held_by_one"),
        (deaf_to_release, "test_a_mishap_on_the_way_back"),
        (deaf_to_renewal, "test_a_lease_renews_itself"),
        (forgetful, "test_a_mutex_is_held_by_one"),
        (forgetful, "test_readers_share_and_a_writer_is_alone"),
        (forgetful, "test_a_semaphore_gives_so_many_permits"),
        (forgetful, "test_a_pool_gives_each_member_once"),
        (forgetful, "test_one_leads_and_all_can_see_who"),
        (forgetful, "test_once_however_many_start_it"),
        (forgetful, "test_all_or_nothing"),
        (short_of_fences, "test_a_mutex_gives_growing_fences"),
        (vague, "test_the_store_answers_as_the_rules_do"),
    ],
)
def test_it_is_noticed(bug, name, monkeypatch):
    monkeypatch.setattr(here, "apply", bug)
    noticed_by(name, f"memory://notices-{next(numbers)}", monkeypatch)


def test_a_scan_that_begins_anew_is_noticed(monkeypatch):
    page = memory.Room.page
    monkeypatch.setattr(memory.Room, "page", lambda room, prefix, _after, limit: page(room, prefix, "", limit)[:9])
    noticed_by("test_a_scan_goes_page_by_page", f"memory://notices-{next(numbers)}", monkeypatch)


def test_a_blind_write_is_noticed(monkeypatch):
    monkeypatch.setattr("holdfast.url._registered", {})
    holdfast.register("swapping", swapping)

    checked = Rows._swap

    def overwrite(rows, request):
        there = rows.rows.get(request.key)
        return checked(rows, request._replace(expected=there[0] if there else None))

    monkeypatch.setattr(Rows, "_swap", overwrite)
    noticed_by("test_a_mutex_is_held_by_one", f"swapping://notices-{next(numbers)}", monkeypatch)


def noticed_by(name, address, monkeypatch):
    """The case fails, by threads and by asyncio."""
    for module in (stage, mishaps):
        monkeypatch.setattr(module, "LONG", 1.0)
    for colour in ("threads", "asyncio"):
        with pytest.raises((AssertionError, TimeoutError, holdfast.HoldfastError)):
            getattr(StoreContract, name)(StoreContract(), Scene(address, colour, f"notices-{next(numbers)}"))
