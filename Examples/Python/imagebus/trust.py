"""Which runtime directories may be used by default (PROTOCOL §2)."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import imagebus_pb2 as pb
from imagebus.errors import ImagebusError


def default_runtime_dir() -> Path:
    """The default location of `imagebus serve`'s sockets. A directory that wasn't named explicitly
    must belong to this user or root (PROTOCOL §2)."""
    if chosen := os.environ.get("IMAGEBUS_RUNTIME_DIR"):
        return Path(chosen)
    session = os.environ.get("XDG_RUNTIME_DIR")
    places = [Path(session, "imagebus")] if session else []
    places += [Path("/run/imagebus"), Path(f"/dev/shm/imagebus-{os.getuid()}")]
    found = next((place for place in places if (place / "front").is_dir()), places[-1])
    check_owners(found)
    return found


def check_owners(runtime_dir: Path) -> None:
    """Raises unless only root and this user may change the directory, its parents and that of the
    socket. A missing directory isn't served by anyone."""
    mine = {0, os.getuid()}
    above = list(reversed(runtime_dir.absolute().parents))
    places = [(place, mine, True) for place in above]
    places += [(runtime_dir, mine, False), (runtime_dir / "front", None, False)]
    for place, owners, may_be_sticky in places:
        try:
            status = os.lstat(place)
        except FileNotFoundError:
            return
        if reason := _fault(status, owners, may_be_sticky):
            raise ImagebusError(
                pb.ERROR_CODE_ADDRESS_FORBIDDEN,
                f"{place} {reason}: nothing was sent there; remove it, or specify the intended "
                "stack with --runtime-dir or IMAGEBUS_RUNTIME_DIR",
            )


def _fault(status: os.stat_result, owners: set[int] | None, may_be_sticky: bool) -> str | None:
    if owners is not None and status.st_uid not in owners:
        return f"belongs to user {status.st_uid} instead of user {os.getuid()} or root"
    if not stat.S_ISDIR(status.st_mode):
        return "is not a directory (links are not followed)"
    if status.st_mode & 0o022 and not (may_be_sticky and status.st_mode & stat.S_ISVTX):
        return f"has mode {stat.S_IMODE(status.st_mode):04o}, which allows other users to change it"
    return None
