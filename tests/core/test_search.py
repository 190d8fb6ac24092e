"""All states of the rules, within bounds; and proof that the search would find a bug if there were one."""

from __future__ import annotations

import time

import pytest
from laws import LAWS, Violation
from planted import BUGS, Bug, plant
from search import SCOPES, WIDE, Scope, search

from holdfast.core import step as rules

BY_NAME = {scope.name: scope for scope in SCOPES}


def look(scope: Scope, count) -> None:
    started = time.monotonic()
    states, moves, cut = search(scope)
    took = time.monotonic() - started
    count(f"{scope.name}: {states:,} states, {moves:,} moves, {cut:,} led out of bounds, {took:.1f} s ({scope.bounds})")
    assert states > 1_000


@pytest.mark.parametrize("scope", SCOPES, ids=lambda scope: scope.name)
def test_no_state_breaks_a_law(scope: Scope, count) -> None:
    look(scope, count)


@pytest.mark.wide
@pytest.mark.parametrize("scope", WIDE, ids=lambda scope: scope.name)
def test_no_state_of_the_wide_bounds_breaks_a_law(scope: Scope, count) -> None:
    look(scope, count)


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_planted_bug_is_found(bug: Bug, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "step", plant(bug).step)
    with pytest.raises(Violation) as found:
        search(BY_NAME[bug.scope])
    assert found.value.law == bug.law, found.value


def test_the_planted_bugs_are_counted(count) -> None:
    broken = {bug.law for bug in BUGS}
    count(f"planted bugs: {len(BUGS)}, which break {len(broken)} of {len(LAWS) + 2} laws first")
    assert len({bug.name for bug in BUGS}) == len(BUGS) >= 12


def test_a_bug_whose_place_is_gone_is_reported() -> None:
    with pytest.raises(LookupError, match="0 times"):
        plant(Bug("none", "", "mutex", "", "no such line in the rules", ""))
