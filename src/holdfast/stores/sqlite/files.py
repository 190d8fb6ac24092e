"""The file that a URL means, and whether locks can live there."""

from __future__ import annotations

import os
import sys

from holdfast.errors import ConfigError, StoreUnavailable
from holdfast.url import Address, default_url, parse

NETWORK = frozenset(
    [
        "9p",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "coda",
        "fuse.ceph",
        "fuse.glusterfs",
        "fuse.gvfsd-fuse",
        "fuse.rclone",
        "fuse.s3fs",
        "fuse.sshfs",
        "glusterfs",
        "gpfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "ocfs2",
        "orangefs",
        "smb2",
        "smb3",
        "smbfs",
        "virtiofs",
        "vboxsf",
    ]
)
"""File systems on which locks of one machine are not (reliably) seen by another."""


def path_of(address: Address) -> str:
    """The absolute path of the file; `sqlite:///relative.db`, `sqlite:////absolute.db`."""
    if address.host:
        raise ConfigError(
            f"sqlite://{address.host}... names a server, and SQLite has none: "
            "write three slashes for a relative path, four for an absolute one"
        )
    path = address.path[1:]
    if not path or path.endswith("/"):
        raise ConfigError("a sqlite URL names a file: write sqlite:///locks.db, or sqlite:////var/lib/app/locks.db")
    try:
        return os.path.abspath(os.path.expanduser(path))
    except FileNotFoundError:
        raise ConfigError(f"{path} is meant from a folder that was removed: go to another, or name it from /") from None


def prepare(path: str, network_fs: str) -> None:
    """Make sure that the file is there, only for its owner, on a disk of this machine."""
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        if path != path_of(parse(default_url())):
            raise ConfigError(f"the folder {folder} does not exist: create it, or name a file in another one")
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
        except OSError as error:
            raise StoreUnavailable(
                f"the folder {folder} for the locks of this user can't be created ({error.strerror}): "
                "name a file elsewhere, by a URL or in HOLDFAST_URL"
            ) from error
    if os.path.isdir(path):
        raise ConfigError(f"{path} is a folder: name a file in it")
    kind = file_system(folder)
    if kind in NETWORK and network_fs != "allow":
        raise ConfigError(
            f"{folder} is on a network file system ({kind}), where file locks of one machine may not bind another: "
            "use a local disk, or add ?network_fs=allow if only one machine uses the file"
        )
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        pass
    except OSError as error:
        raise StoreUnavailable(
            f"the lock file {path} can't be created ({error.strerror}): make its folder writable"
        ) from error


def file_system(folder: str) -> str:
    """The type of the file system that holds a folder; empty where the system does not say."""
    if sys.platform != "linux":
        return ""
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
            mounts = [line.split(" - ", 1) for line in file]
    except OSError:
        return ""
    folder = os.path.realpath(folder)
    best, kind = "", ""
    for left, right in mounts:
        point = left.split(" ")[4].replace("\\040", " ")
        inside = folder == point or folder.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, right.split(" ")[0]
    return kind
