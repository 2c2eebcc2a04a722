"""Whether a memory can live in a folder: the file system under it, and the hard links that LanceDB needs."""

import errno
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from .disk import is_full
from .errors import StorageError

# What the operating systems call the file systems of other machines, and of the host of a virtual one.
_NETWORK = frozenset(
    "9p afpfs afs beegfs ceph cifs coda davfs glusterfs gpfs lustre ncpfs nfs nfs3 nfs4 pvfs2 smb smb2 smb3 smbfs "
    "vboxsf virtiofs vmhgfs webdav".split()
)
# The same behind FUSE, as `fuse.sshfs`; a plain `fuseblk` is a local disk.
_NETWORK_FUSE = frozenset("ceph davfs davfs2 gcsfuse glusterfs gvfsd-fuse rclone s3fs sshfs".split())
_NO_LINKS = frozenset(
    getattr(errno, name) for name in ("EPERM", "ENOSYS", "EOPNOTSUPP", "ENOTSUP", "EMLINK", "EINVAL", "EXDEV")
)
_ANOTHER = "set MCP_MEMORY_HOME to a folder on a local disk with"


class Mount(NamedTuple):
    """A file system, where it is mounted, and whether the system itself says that it is another machine's."""

    point: str
    kind: str
    is_remote: bool = False


def network_kind(path: Path, mounts: Iterable[Mount]) -> str:
    """The name of the network file system under an absolute path, '' where it is a local one or unknown.

    The deepest mount counts, and of two on one point the later.
    """
    under = ""
    n_deepest = -1
    for mount in mounts:
        point = Path(mount.point)
        if len(point.parts) >= n_deepest and path.is_relative_to(point):
            n_deepest = len(point.parts)
            under = mount.kind if mount.is_remote or _is_network(mount.kind) else ""
    # A share of Windows that has no letter: no mount names it.
    return under or ("smb" if path.drive.startswith("\\\\") else "")


def _is_network(kind: str) -> bool:
    name = kind.casefold()
    return name in _NETWORK or name.removeprefix("fuse.") in _NETWORK_FUSE


def look_up_network(path: Path) -> str:
    """The name of the network file system that holds a folder of this machine, '' where it is a local disk."""
    # Imported here: for the one question that a start asks.
    import psutil

    with suppress(OSError, RuntimeError):
        mounts = [
            Mount(found.mountpoint, found.fstype, "remote" in found.opts.split(","))
            for found in psutil.disk_partitions(all=True)
        ]
        return network_kind(path.resolve(), mounts)
    return ""


def network_warning(path: Path) -> str:
    """What to be told of a folder on a network, '' of one on a local disk."""
    kind = look_up_network(path)
    return f"{path} is on a network file system ({kind})" if kind else ""


NETWORK_ADVICE = (
    "move it to a local disk and set MCP_MEMORY_HOME: SQLite's log is safe only there;"
    " until then never open it from two machines"
)


def check_hard_links(existing: Path) -> None:
    """Try to link a file of a folder to a second name, as each commit of LanceDB does.

    Raises:
        StorageError: the file system has no hard links.
        OSError: the folder cannot be written for another reason. A full disk is none: reading goes on there.
    """
    second = existing.with_name(f"{existing.name}.{os.getpid()}")
    try:
        second.unlink(missing_ok=True)
        os.link(existing, second)
        second.unlink()
    except OSError as exc:
        if is_full(exc):
            return
        if exc.errno not in _NO_LINKS:
            raise
        raise StorageError(
            f"the file system of {existing.parent} has no hard links ({exc.strerror}), and LanceDB needs them",
            hint=f"{_ANOTHER} hard links: ext4, XFS, Btrfs, APFS or NTFS, not FAT or exFAT",
        ) from exc


def no_locks(path: Path) -> StorageError:
    """That files cannot be locked in a folder, so that two processes could write at once."""
    return StorageError(f"files cannot be locked in {path}{_on(look_up_network(path))}", hint=f"{_ANOTHER} file locks")


def no_wal(path: Path, mode: str) -> StorageError:
    """That SQLite cannot keep its log in a folder as it must, to be read while it is written."""
    return StorageError(
        f"SQLite cannot keep a write-ahead log in {path}{_on(look_up_network(path))}: it chose {mode!r}",
        hint=f"{_ANOTHER} shared memory for SQLite's write-ahead log",
    )


def _on(kind: str) -> str:
    return f", which is on a network file system ({kind})" if kind else ""


def unwritable(what: str, path: Path, exc: OSError) -> StorageError:
    """That a file which somebody named could not be written; `what` it was to be."""
    if is_full(exc):
        hint = "free some space there, or name a file on another disk; nothing was left"
    elif exc.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        hint = "name a file in a folder that this account may write"
    else:
        hint = "name a file on another disk; nothing was left"
    return StorageError(f"the {what} {path} could not be written: {exc.strerror or exc}", hint=hint)
