"""The command `holdfast`.

This module is all that is loaded without click and rich, so that it can say in one sentence what to install.
"""

from __future__ import annotations

import sys

MISSING = 'holdfast: the command needs click and rich: pip install "holdfast[cli]"'


def main() -> None:
    """Run the command with the arguments of this process, and end the process with its exit code."""
    from holdfast.cli import streams

    streams.prepare()
    try:
        sys.exit(_run())
    except KeyboardInterrupt:  # so early that nothing has begun
        sys.exit(130)


def _run() -> int:
    from importlib.util import find_spec

    try:
        import click as click
    except ImportError:
        print(MISSING, file=sys.stderr)
        return 78
    if find_spec("rich") is None:
        print(MISSING, file=sys.stderr)
        return 78
    from holdfast.cli.command import start

    return start(sys.argv[1:])
