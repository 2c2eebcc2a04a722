"""Places on which a memory cannot live, or should not: file systems of other machines, and such without hard links."""

import errno
import os
from pathlib import Path

import pytest

from mcp_memory import place
from mcp_memory.doctor import examine
from mcp_memory.errors import StorageError
from mcp_memory.folder import DataFolder
from mcp_memory.place import Mount, check_hard_links, look_up_network, network_kind

MOUNTS = [
    Mount("/", "ext4"),
    Mount("/home", "nfs4"),
    Mount("/home/ana/local", "xfs"),
    Mount("/mnt/box", "cifs"),
    Mount("/mnt/box2", "fuse.sshfs"),
    Mount("/mnt/stick", "fuseblk"),
    Mount("/mnt/twice", "ext4"),
    Mount("/mnt/twice", "9p"),
    Mount("/mnt/back", "9p"),
    Mount("/mnt/back", "ext4"),
    Mount("/mnt/drive", "NTFS", is_remote=True),
]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/var/lib/memory", ""),
        ("/home/ana/memory", "nfs4"),
        ("/home/ana/local/memory", ""),
        ("/mnt/box/memory", "cifs"),
        ("/mnt/box2", "fuse.sshfs"),
        ("/mnt/boxes", ""),
        ("/mnt/stick/memory", ""),
        ("/mnt/twice/memory", "9p"),
        ("/mnt/back/memory", ""),
        ("/mnt/drive/memory", "NTFS"),
    ],
)
def test_the_deepest_and_latest_mount_says_whether_a_folder_is_on_a_network(path: str, kind: str) -> None:
    assert network_kind(Path(path), MOUNTS) == kind


@pytest.mark.parametrize("kind", ["nfs", "smb3", "smbfs", "afpfs", "ceph", "fuse.rclone", "virtiofs", "NFS"])
def test_network_file_systems_are_known_by_the_names_that_systems_give_them(kind: str) -> None:
    assert network_kind(Path("/data"), [Mount("/", kind)]) == kind


@pytest.mark.parametrize("kind", ["ext4", "btrfs", "apfs", "NTFS", "tmpfs", "overlay", "fuse.gocryptfs", "zfs", ""])
def test_local_file_systems_are_not_warned_of(kind: str) -> None:
    assert network_kind(Path("/data"), [Mount("/", kind)]) == ""


def test_the_mounts_of_this_machine_are_read(tmp_path: Path) -> None:
    assert look_up_network(tmp_path) == ""
    assert look_up_network(tmp_path / "not" / "there") == ""


def test_a_folder_on_a_network_is_opened_with_a_warning_and_doctor_tells_of_it(
    home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(place, "look_up_network", lambda _path: "nfs4")
    DataFolder(home).release()
    assert f"{home} is on a network file system (nfs4): move it to a local disk" in caplog.text
    [check] = [check for check in examine() if check.name == "file system"]
    assert check.is_ok
    assert "nfs4" in check.found
    assert "move it to a local disk" in check.advice


def test_hard_links_are_tried_in_the_folder_and_nothing_is_left(home: Path) -> None:
    folder = DataFolder(home)
    assert sorted(path.name for path in home.iterdir()) == ["lock", "owner.json"]
    folder.release()


def failing_with(number: int) -> object:
    def link(*_names: object) -> None:
        raise OSError(number, os.strerror(number))

    return link


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP, errno.EINVAL, errno.EMLINK])
def test_a_file_system_without_hard_links_is_refused_and_the_folder_let_go(
    home: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "link", failing_with(number))
        with pytest.raises(StorageError, match=r"has no hard links .* LanceDB needs them") as caught:
            DataFolder(home)
        assert "ext4, XFS, Btrfs, APFS or NTFS" in caught.value.hint
    DataFolder(home).release()


def test_a_full_disk_is_not_taken_for_one_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lock").touch()
    monkeypatch.setattr(os, "link", failing_with(errno.ENOSPC))
    check_hard_links(tmp_path / "lock")


def test_a_file_system_without_locks_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr(fcntl, "flock", failing_with(errno.ENOSYS))
    with pytest.raises(StorageError, match="files cannot be locked in") as caught:
        DataFolder(home)
    assert "local disk" in caught.value.hint
