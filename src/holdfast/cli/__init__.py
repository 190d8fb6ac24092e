"""The command `holdfast`.

This module is all that is loaded without click and rich, so that it can say in one sentence what to install.
"""

from __future__ import annotations

import sys

MISSING = 'holdfast: the command needs click and rich: pip install "holdfast[cli]"'


def main() -> None:
    """Run the command with the arguments of this process, and end the process with its exit code."""
    try:
        import click as click
    except ImportError:
        print(MISSING, file=sys.stderr)
        sys.exit(78)
    from holdfast.cli.command import start

    sys.exit(start(sys.argv[1:]))
