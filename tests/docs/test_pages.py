"""The pages are complete, agree with the code, and lead somewhere."""

from __future__ import annotations

import inspect
import re
import runpy
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest
from pages import DOCS, ROOT, anchors, headings, name_of, pages, prose

import holdfast
from holdfast.observe import events
from holdfast.url import BUILT_IN

REFERENCE = DOCS / "reference"
EVERYWHERE = [*pages(), ROOT / "SECURITY.md", ROOT / "CHANGELOG.md"]
LINK = re.compile(r"\[[^\]]*\]\((?P<to>[^)\s]+)\)", re.DOTALL)
CODE = re.compile(r"`([^`]+)`")

WHERE = {
    "connecting": ("connect", "connect_async", "Client", "AsyncClient", "Seconds", "register"),
    "locks": ("Lock", "AsyncLock", "RWLock", "AsyncRWLock"),
    "leases": ("Lease", "AsyncLease", "LossReason"),
    "pools": ("Pool", "AsyncPool", "Member"),
    "elections": ("Election", "AsyncElection"),
    "once": ("Once", "AsyncOnce"),
    "looking": ("LockInfo", "Holder"),
    "events": ("Event", "Hook"),
    "errors": tuple(name for name in holdfast.__all__ if inspect.isclass(getattr(holdfast, name))
                    and issubclass(getattr(holdfast, name), Exception)),
}  # fmt: skip
"""Which page of the reference describes which public names."""

NOT_FOR_USERS = {"who", "after_fork", "colour", "driver", "site", "store_key"}
"""Members of clients that other modules of ours need."""

LEASE_DATA = ("key", "owner", "fence", "member", "payload")


def words_of(page: str) -> set[str]:
    """Every word that stands as code on a page of the reference."""
    code = CODE.findall(prose(REFERENCE / f"{page}.md"))
    return {word for text in code for word in re.findall(r"\w+", text)}


def test_every_public_name_is_on_one_page():
    named = [name for names in WHERE.values() for name in names]
    assert sorted(named) == sorted(holdfast.__all__)


@pytest.mark.parametrize(("page", "name"), [(page, name) for page, names in WHERE.items() for name in names])
def test_public_name_has_a_heading(page, name):
    assert any(name in re.findall(r"\w+", text) for _, text in headings(REFERENCE / f"{page}.md"))


MEMBERS = [
    (page, f"{name}.{member}", getattr(getattr(holdfast, name), member))
    for page, names in WHERE.items()
    for name in names
    if inspect.isclass(getattr(holdfast, name)) and not issubclass(getattr(holdfast, name), Exception)
    for base in getattr(holdfast, name).__mro__
    if base.__module__.startswith("holdfast.") and base.__name__ != "Hold" and not issubclass(base, tuple)
    for member, value in vars(base).items()
    if not member.startswith("_") and member not in NOT_FOR_USERS and not inspect.ismemberdescriptor(value)
]
"""Every method and property of every public class."""


def test_the_members_were_found():
    assert {"Client.mutex", "AsyncClient.list", "Lease.ensure", "Pool.members"} <= {name for _, name, _ in MEMBERS}


@pytest.mark.parametrize(("page", "name", "value"), MEMBERS, ids=[name for _, name, _ in MEMBERS])
def test_member_and_its_parameters_are_described(page, name, value):
    described = words_of(page) | words_of("locks") | words_of("pools") | words_of("once")
    assert name.partition(".")[2] in words_of(page)
    if callable(value):
        parameters = set(inspect.signature(value).parameters) - {"self"}
        assert parameters <= described, f"{name} takes {sorted(parameters - described)}"


@pytest.mark.parametrize("name", ["connect", "connect_async", "register"])
def test_parameters_of_functions_are_described(name):
    assert set(inspect.signature(getattr(holdfast, name)).parameters) <= words_of("connecting")


@pytest.mark.parametrize("name", LEASE_DATA)
def test_data_of_a_lease_is_described(name):
    assert hasattr(holdfast.Lease, name)
    assert name in words_of("leases")


@pytest.mark.parametrize(("page", "name"), [("looking", "LockInfo"), ("looking", "Holder"), ("pools", "Member")])
def test_fields_are_described(page, name):
    assert set(getattr(holdfast, name)._fields) <= words_of(page)


def test_events_and_their_fields_are_described():
    for event in get_args(events.Event):
        line = next(line for line in prose(REFERENCE / "events.md").splitlines() if f"`{event.__name__}`" in line)
        assert set(event._fields) <= set(CODE.findall(line)), event.__name__


def test_loss_reasons_are_described():
    assert set(get_args(holdfast.LossReason)) <= words_of("leases")
    assert set(get_args(holdfast.LossReason)) <= set(CODE.findall(prose(DOCS / "how-to" / "lost-lease.md")))


def test_the_tree_of_errors_is_the_code_s():
    tree = inspect.getdoc(import_module("holdfast.errors")).partition("HoldfastError")[2].partition("\n\n")[0]
    shown = (REFERENCE / "errors.md").read_text()
    for line in tree.splitlines():
        assert line.strip() in shown


@pytest.mark.parametrize("name", ["VirtualClock", "TestFaults", "TestStore"])
def test_the_test_kit_is_described(name):
    cls = getattr(import_module("holdfast.testing"), name)
    members = {member for member in dir(cls) if not member.startswith("_")} - {"before", "after"}
    assert members <= words_of("testing"), members - words_of("testing")


def test_the_test_kit_is_whole():
    assert set(import_module("holdfast.testing").__all__) <= words_of("testing")


def test_the_fixtures_are_described():
    plugin = (ROOT / "src/holdfast/testing/plugin.py").read_text()
    fixtures = set(re.findall(r"^def (holdfast_\w+)", plugin, re.MULTILINE))
    assert fixtures
    for page in (REFERENCE / "testing.md", DOCS / "how-to" / "testing.md"):
        assert fixtures <= {word for text in CODE.findall(prose(page)) for word in re.findall(r"\w+", text)}


def test_traits_are_described():
    traits = import_module("holdfast.engine.store").Traits
    assert set(traits._fields) <= words_of("writing-a-store")


# --- the command -----------------------------------------------------------------------------------------------------


def section(page: Path, title: str) -> str:
    """What stands below one heading of the second level."""
    return prose(page).partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def subcommands():
    from holdfast.cli.command import SUBCOMMANDS

    return SUBCOMMANDS


@pytest.mark.parametrize("name", sorted(subcommands()))
def test_options_are_described(name):
    module, attribute, _ = subcommands()[name]
    page = REFERENCE / "command.md"
    common, own = section(page, "Options of every subcommand"), section(page, f"`holdfast {name}`")
    assert own, f"`holdfast {name}` has no section"
    shared = set(re.findall(r"--?[a-z][\w-]*", common))
    described = set(re.findall(r"--?[a-z][\w-]*", own))
    command = getattr(import_module(module), attribute)
    options = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    options = {option for option in options if option.startswith("-")}
    assert options - shared <= described
    rows = re.findall(r"^\| `(-[^|]+?)` ", own, re.MULTILINE)
    assert {option for row in rows for option in re.findall(r"--?[a-z][\w-]*", row)} <= options


def test_exit_codes_are_described():
    from holdfast.cli import endings

    codes = {value for name, value in vars(endings).items() if name.isupper() and name != "SIGNALLED"}
    shown = section(REFERENCE / "command.md", "Exit codes")
    assert codes <= {int(number) for number in re.findall(r"^\| (\d+) \|", shown, re.MULTILINE)}


def test_environment_variables_are_described():
    sources = "".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    used = set(re.findall(r"\b_?HOLDFAST_[A-Z]+\b", sources))
    assert used
    assert used <= words_of("environment")


# --- stores ----------------------------------------------------------------------------------------------------------


def test_every_store_has_its_page_with_the_same_headings():
    stores = {path.stem: headings(path)[1:] for path in (DOCS / "stores").glob("*.md") if path.stem != "index"}
    assert set(BUILT_IN) <= set(stores)
    assert len({tuple(texts) for texts in stores.values()}) == 1, stores


@pytest.mark.parametrize("scheme", sorted(BUILT_IN))
def test_options_of_a_store_are_described(scheme):
    from holdfast.url import backend_for

    page = prose(DOCS / "stores" / f"{scheme}.md")
    rows = set(
        re.findall(r"^\| `(\w+)` \|", section(DOCS / "stores" / f"{scheme}.md", "URL and options"), re.MULTILINE)
    )
    assert rows == set(backend_for(scheme).options), page


def test_the_tables_of_guarantees_are_current():
    made = runpy.run_path(str(DOCS / "guarantees.py"))
    for name, folder in made["PAGES"].items():
        text = (ROOT / name).read_text()
        assert made["BEGIN"] in text
        assert made["renewed"](text, folder) == text, f"run docs/guarantees.py: {name} is out of date"


# --- links -----------------------------------------------------------------------------------------------------------


def test_every_page_is_in_the_menu():
    yaml = pytest.importorskip("yaml")

    def leaves(node):
        if isinstance(node, str):
            return [node]
        children = node.values() if isinstance(node, dict) else node
        return [leaf for child in children for leaf in leaves(child)]

    menu = leaves(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"])
    assert sorted(menu) == sorted(str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md"))


@pytest.mark.parametrize("page", EVERYWHERE, ids=name_of)
def test_links_lead_somewhere(page):
    for link in LINK.finditer(prose(page)):
        to, _, anchor = link["to"].partition("#")
        if to.startswith(("https:", "http:", "mailto:")):
            continue
        target = (page.parent / to).resolve() if to else page
        assert target.exists(), f"{page}: {to}"
        if anchor:
            assert anchor in anchors(target), f"{page}: {link['to']}; there are {sorted(anchors(target))}"


@pytest.mark.parametrize("page", EVERYWHERE, ids=name_of)
def test_a_page_begins_with_its_title_and_names_nothing_of_this_machine(page):
    text = page.read_text()
    assert [level for level, _ in headings(page)].count(1) == 1
    assert text.startswith("# ")
    assert str(ROOT) not in text
    assert not re.search(r"/(?:root|home|tmp|work)/\w", text)
