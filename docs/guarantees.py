"""Write the table of guarantees into the pages that show it, from what the stores say of themselves.

python docs/guarantees.py            # rewrites README.md and docs/stores/index.md
"""

from __future__ import annotations

import re
from pathlib import Path

from holdfast.engine.store import Traits
from holdfast.url import BUILT_IN, backend_for, parse

ROOT = Path(__file__).resolve().parents[1]
PAGES = {"README.md": "docs/stores/", "docs/stores/index.md": ""}
"""Page -> where the pages of the stores are, seen from there."""

BEGIN, END = "<!-- guarantees: made by docs/guarantees.py -->", "<!-- end of guarantees -->"

SCOPE = {"process": "threads and tasks of one process", "host": "processes of one machine", "network": "machines"}
SURVIVES = {"nothing": "nothing", "crash": "a crash", "power cut": "a crash and a power cut"}
CLOCK = {
    "server": "the server's",
    "host": "the machine's, monotonic",
    "process": "the process', monotonic",
    "none": "watched by each waiter",
}
WAKES = {"push": "woken", "poll": "by asking again"}
DEATH = {True: "at once, on proof", False: "after its ttl"}

ROWS = (
    ("Excludes", lambda traits: SCOPE[traits.scope]),
    ("Records outlive", lambda traits: SURVIVES[traits.survives]),
    ("Leases are timed by a clock that is", lambda traits: CLOCK[traits.clock]),
    ("A waiter learns that it is its turn", lambda traits: WAKES[traits.wakes]),
    ("A holder that dies is replaced", lambda traits: DEATH[traits.proof_of_death]),
    ("Shortest ttl", lambda traits: f"{traits.min_ttl * 1000:g} ms"),
    ("Does not have", lambda traits: ", ".join(sorted(traits.unsupported)) or "-"),
)


def traits_of(scheme: str) -> Traits:
    """What the store of a scheme says of itself."""
    return backend_for(scheme).store(parse(f"{scheme}:")).traits


def table(folder: str) -> str:
    """The table, linking to the stores' pages in that folder."""
    schemes = sorted(BUILT_IN)
    rows = [("", *(f"[`{scheme}`]({folder}{scheme}.md)" for scheme in schemes)), ("---",) * (len(schemes) + 1)]
    rows += [(what, *(say(traits_of(scheme)) for scheme in schemes)) for what, say in ROWS]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def renewed(text: str, folder: str) -> str:
    """A page's text with the table as it is now."""
    return re.sub(f"{BEGIN}.*?{END}", f"{BEGIN}\n\n{table(folder)}\n\n{END}", text, flags=re.DOTALL)


if __name__ == "__main__":
    for name, folder in PAGES.items():
        page = ROOT / name
        page.write_text(renewed(page.read_text(), folder))
