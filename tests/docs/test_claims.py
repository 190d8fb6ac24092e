"""Claims of the pages that no block of code on them can show."""

from __future__ import annotations

import os

import pytest

import holdfast


def test_a_folder_that_can_not_be_used_is_a_store_that_is_not_available(tmp_path):
    (tmp_path / "locks.db-clients").write_text("a file where the folder should be")
    with pytest.raises(holdfast.StoreUnavailable, match="this user can make files there"):
        holdfast.connect(f"sqlite:///{tmp_path}/locks.db")


def test_the_file_and_its_folder_are_for_their_owner_alone(tmp_path):
    with holdfast.connect(f"sqlite:///{tmp_path}/locks.db"):
        assert os.stat(tmp_path / "locks.db").st_mode & 0o077 == 0
        assert os.stat(tmp_path / "locks.db-clients").st_mode & 0o077 == 0


def test_nothing_is_left_beside_a_file_that_nobody_uses(tmp_path):
    with holdfast.connect(f"sqlite:///{tmp_path}/locks.db") as locks, locks.mutex("orders/42"):
        ...
    left = sorted(path.name for path in tmp_path.rglob("*") if path.is_file())
    assert left == ["locks.db"]


def test_marks_and_members_and_payloads_are_synced_when_they_are_written(tmp_path):
    from holdfast.core.ops import Acquire, Amend, Enrol, Release, Want
    from holdfast.stores.here import Apply
    from holdfast.stores.sqlite.transport import lasts

    assert lasts(Apply("key", Amend("me", b"mark", 1)))
    assert lasts(Apply("key", Enrol(b"payload")))
    assert lasts(Apply("key", Acquire("me", Want(payload=b"payload"))))
    assert not lasts(Apply("key", Acquire("me", Want())))
    assert not lasts(Apply("key", Release("me")))


def test_a_password_in_the_url_does_not_reach_the_command(tmp_path):
    from holdfast.cli.secrets import for_child

    assert "HOLDFAST_URL" not in for_child("key", {"HOLDFAST_URL": "store://me:secret@host/"})
    assert "HOLDFAST_URL" in for_child("key", {"HOLDFAST_URL": "sqlite:///locks.db"})
