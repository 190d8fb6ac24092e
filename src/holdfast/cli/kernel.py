"""What Linux alone can do for a process and its children; elsewhere these do nothing."""

from __future__ import annotations

import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def die_with_parent(parent: int) -> None:
    """Be killed as soon as the process that started us, whose pid this is, has ended; even if we are stopped then."""
    if _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL) and os.getppid() != parent:  # it died before we asked
        os._exit(127)


def adopt_orphans() -> None:
    """Become the parent of what our children leave behind, so that we can bury it."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def _prctl(option: int, value: int) -> bool:
    if sys.platform != "linux":
        return False
    import ctypes

    return not ctypes.CDLL(None).prctl(option, value)
