"""Every exception, on one screen.

    HoldfastError
    ├── LockError                 the store is fine, the answer is no
    │   ├── AcquireTimeout        also TimeoutError: somebody else had it all the time
    │   ├── LeaseLost             the lease ended while its holder still counted on it
    │   ├── NotHeld               renewed, amended or released by someone who does not hold it
    │   └── WouldDeadlock         this thread or task waits for itself
    ├── StoreError                the store failed; its own exception is the __cause__
    │   ├── StoreUnavailable      also ConnectionError: a later try may succeed
    │   │   └── OutcomeUnknown    the request may or may not have taken effect
    │   ├── Contended             too many swaps lost in a row
    │   └── BadRecord             what is stored there is not ours
    └── ConfigError               also ValueError: a URL, option or key that can never work

Every error is one sentence that ends with what to do, names its key where there is one, and can be pickled.
"""

from __future__ import annotations

from typing import Any


class HoldfastError(Exception):
    """The base of all errors that holdfast raises."""

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.__dict__.update(details)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self.args, self.__dict__)


def _restore(kind: type[HoldfastError], args: tuple[Any, ...], details: dict[str, Any]) -> HoldfastError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(details)
    return error


class LockError(HoldfastError):
    """The store is fine, and the answer is no."""

    key: str = ""


class AcquireTimeout(LockError, TimeoutError):
    """Somebody else held the lock for as long as the caller was ready to wait.

    `holders` says who, since when and for how long yet (a tuple of `Holder`).
    """

    holders: tuple[Any, ...] = ()


class LeaseLost(LockError):
    """The lease ended while its holder still counted on it.

    `reason` is one of `expired`, `stolen`, `broken`, `unreachable`, `suspended`, `forked`; `fence` is the lease's.
    """

    reason: str = ""
    fence: int = 0


class NotHeld(LockError):
    """Renewed, amended or released by someone who does not hold it."""


class WouldDeadlock(LockError):
    """This thread or task would wait for itself."""


class StoreError(HoldfastError):
    """The store failed; what it said is the `__cause__`."""


class StoreUnavailable(StoreError, ConnectionError):
    """The store could not be reached; a later try may succeed."""


class OutcomeUnknown(StoreUnavailable):
    """The request was sent, and no answer came: it may or may not have taken effect."""


class Contended(StoreError):
    """Others changed the record before us too many times in a row."""

    key: str = ""


class BadRecord(StoreError):
    """What is stored under this key was not written by this version of holdfast; it was left as it is."""

    key: str = ""


class ConfigError(HoldfastError, ValueError):
    """A URL, an option or a key that can never work."""
