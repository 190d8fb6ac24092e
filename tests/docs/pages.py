"""The documentation as data: its pages, and the fenced blocks of code in them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
TOP = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")

FENCE = re.compile(r"^(?P<indent>\s*)```(?P<language>[\w+-]*)\s*$")
NOT_RUN = re.compile(r"^\s*<!-- not run: (?P<why>.+) -->\s*$")
SETUP = re.compile(r"^<!-- setup(?: (?P<language>\w+))?\s*$")
NAMED = re.compile(r"\A(?:#!.*\n)?# (?P<name>[\w./-]+\.\w+)\n")


class Block(NamedTuple):
    """One piece of code on a page."""

    page: Path
    line: int
    """Of its first line of code, counted from 1."""
    language: str
    text: str
    hidden: bool = False
    """A comment of the page: what its examples need, and no reader does."""
    not_run: str = ""
    """Why it is left out, if it is."""

    @property
    def file(self) -> str:
        """The file that it stands for, if its first line is a comment that names one."""
        match = NAMED.match(self.text)
        return match["name"] if match else ""

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def pages() -> list[Path]:
    """Every page whose blocks are run."""
    return [ROOT / name for name in TOP] + sorted(DOCS.rglob("*.md"))


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path) -> list[Block]:
    """The blocks of a page in their order, those in `<!-- setup ... -->` comments included."""
    found: list[Block] = []
    lines = iter(list(enumerate(page.read_text().splitlines(), 1)))
    above = ""
    for number, line in lines:
        if setup := SETUP.match(line):
            body = _until(lines, "-->", "", page, number)
            found.append(Block(page, number + 1, setup["language"] or "python", body, hidden=True))
        elif fence := FENCE.match(line):
            body = _until(lines, "```", fence["indent"], page, number)
            left_out = NOT_RUN.match(above)
            found.append(Block(page, number + 1, fence["language"], body, not_run=left_out["why"] if left_out else ""))
        above = line
    return found


def _until(lines, end: str, indent: str, page: Path, begin: int) -> str:
    body = []
    for _, line in lines:
        if line.strip() == end:
            return "".join(f"{text.removeprefix(indent)}\n" for text in body)
        body.append(line)
    raise AssertionError(f"{page}:{begin}: what begins here never ends")


def prose(page: Path) -> str:
    """A page without its blocks and comments."""
    text = re.sub(r"^<!--.*?-->$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"^\s*```.*?^\s*```\s*$", "", text, flags=re.MULTILINE | re.DOTALL)


def headings(page: Path) -> list[tuple[int, str]]:
    """Level and text of every heading."""
    return [(len(found[1]), found[2].strip()) for found in re.finditer(r"^(#+) (.+)$", prose(page), re.MULTILINE)]


def anchors(page: Path) -> set[str]:
    """What a link to a heading may be called, as mkdocs and hosts of repositories name it."""
    return {slug(text) for _, text in headings(page)}


def slug(text: str) -> str:
    plain = re.sub(r"[^\w\s-]", "", re.sub(r"[`*]", "", text)).strip().lower()
    return re.sub(r"[\s]+", "-", plain)
