"""What is said to somebody who did not get a lock."""

from __future__ import annotations

from holdfast.core.ops import Mismatch, NotHeld, Reply, Want
from holdfast.durations import Seconds, in_seconds
from holdfast.errors import AcquireTimeout, ConfigError, LeaseLost, WouldDeadlock
from holdfast.info import Holder


def check_refusal(key: str, want: Want, answer: Reply) -> None:
    """Nothing, if it was a plain no; an error if it was more than that."""
    if isinstance(answer, Mismatch):
        raise ConfigError(
            f"{key!r} is in use as {meaning(answer.kind, answer.limit)}, and was asked for as "
            f"{meaning(want.kind, want.limit)}: use one meaning for one key",
            key=key,
        )
    if isinstance(answer, NotHeld):
        raise LeaseLost(f"the lock {key!r} was broken while it was being acquired: try again", key=key, reason="broken")


def not_in_time(key: str, timeout: Seconds | None, holders: tuple[Holder, ...]) -> AcquireTimeout:
    """Somebody else had it all the time; these are who has it now."""
    who = "; ".join(str(holder) for holder in holders[:3])
    more = f" and {len(holders) - 3} more" if len(holders) > 3 else ""
    return AcquireTimeout(
        f"{key!r} was not acquired within {in_seconds(timeout)}: {who or 'others were faster'}{more}; "
        "wait longer, or look into what holds it",
        key=key,
        holders=holders,
    )


def would_deadlock(colour: str, key: str, want: Want, exclusive: bool) -> WouldDeadlock:
    """This thread or task holds it already (`exclusive`: all of it), and asks for it again."""
    why = ""
    if want.kind == "mutex":
        hint = "use the lease it has, or make the lock reentrant=True"
    elif want.kind == "rwlock" and (exclusive or want.weight > 1):
        hint = "release the other side first, or downgrade() the writer's lease"
    else:
        hint = "use the lease it has"
    if want.kind == "rwlock" and not exclusive:
        why = " (a reader that becomes a writer waits for all readers, itself among them)"
    return WouldDeadlock(f"this {colour} already holds {key!r} and would wait for itself{why}: {hint}", key=key)


def meaning(kind: str, limit: int) -> str:
    """A lock's kind in words."""
    if kind == "semaphore":
        return f"a semaphore of {limit} permit{'s' if limit != 1 else ''}"
    return {"mutex": "a mutex", "rwlock": "a readers-writer lock", "election": "an election"}.get(kind, kind)
