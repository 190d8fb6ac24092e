"""`python -m bench [NAME...] [--quick]`"""

from __future__ import annotations

import argparse
import os
from importlib import import_module
from time import monotonic

from bench import report
from bench.measure import Figure

SUBJECTS = ("startup", "memory", "sqlite", "handoff", "idle", "takeover", "contention", "many", "pool")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Speed, beside floors and rivals.")
    parser.add_argument("name", nargs="*", help=f"only these: {', '.join(SUBJECTS)}")
    parser.add_argument("--quick", action="store_true", help="fewer repeats; says little")
    told = parser.parse_args()
    if unknown := set(told.name) - set(SUBJECTS):
        parser.error(f"there is no {', '.join(sorted(unknown))}: choose from {', '.join(SUBJECTS)}")
    about = report.about_this_run(told.quick, os.getloadavg()[0] if hasattr(os, "getloadavg") else -1)
    found = {name: run(name, told.quick) for name in SUBJECTS if name in (told.name or SUBJECTS)}
    verdict(found)
    print("written:", report.write(found, about, whole=not (told.name or told.quick)))


def run(name: str, quick: bool) -> list[Figure]:
    began = monotonic()
    module = import_module(f"bench.{name}")
    figures = list(module.measure(quick))
    print(f"\n{name}: {module.__doc__.splitlines()[0]}  ({monotonic() - began:.0f} s)\n")
    print(report.shown(figures), flush=True)
    return figures


def verdict(found: dict[str, list[Figure]]) -> None:
    aimed = [(name, figure) for name, figures in found.items() for figure in figures if figure.target]
    missed = [f"  {name}: {figure.what}" for name, figure in aimed if figure.target and not figure.target.met]
    print(f"\n{len(aimed) - len(missed)} of {len(aimed)} targets met" + (", missed:" if missed else ""))
    print("\n".join(missed) if missed else "", flush=True)


if __name__ == "__main__":
    main()
