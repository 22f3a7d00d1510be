"""The segments of this process: bytes that others read from shared memory (PROTOCOL §10).

Each holds one block, is written once, and is unlinked when its block was released. A segment is
locked as long as its process lives, so that the next process of the pool recognizes segments left
by a killed one.
"""

from __future__ import annotations

import fcntl
import os
import re
import struct
import threading
from contextlib import suppress
from pathlib import Path

import imagebus_pb2 as pb

HEADER = 64  # bytes before a payload; the first eight are the ID of its block
NAME = re.compile(r"[0-9a-f]{32}\.[0-9]{1,20}")
SWEPT_MAX = 65_536  # names that are checked


def arena_folder(runtime_dir: Path, pool: str) -> Path:
    try:
        return Path((runtime_dir / "segments").read_text().strip()) / "arena" / pool
    except FileNotFoundError:
        return runtime_dir / "arena" / pool


class Segments:
    """May be called from any thread."""

    def __init__(self, folder: Path, incarnation: bytes) -> None:
        self._folder = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._incarnation = incarnation.hex()
        self._lock = threading.Lock()
        self._folder_lock = threading.Lock()  # an unlock by one thread unlocks for all
        self._last = 0
        self._files: dict[int, tuple[int, int]] = {}  # block: number of its segment, descriptor

    def close(self) -> None:
        """Removes all of them."""
        self.release(list(self._files))
        os.close(self._folder)

    def put(self, data: bytes | bytearray | memoryview) -> tuple[pb.Segments, pb.Reference]:
        """Copies at least one byte. Raises `OSError` if there is no space."""
        view = memoryview(data).cast("B")
        with self._lock:
            self._last += 1
            number = block = self._last
        size = HEADER + len(view)
        file = self._create(f"{self._incarnation}.{number}")
        with self._lock:
            self._files[block] = (number, file)
        try:
            os.posix_fallocate(file, 0, size)  # so that readers never access a missing page
            written = 0
            while written < len(view):
                written += os.pwrite(file, view[written:], HEADER + written)
            self._say(file, block)
        except OSError:
            self.release([block])
            raise
        place = {"arena": pb.ARENA_STAGE, "segment": number, "offset": HEADER, "block": block}
        announced = pb.Segments.Segment(arena=pb.ARENA_STAGE, number=number, size=size)
        return pb.Segments(segments=[announced]), pb.Reference(length=len(view), **place)

    def hand_out_again(self, reference: pb.Reference) -> pb.Reference:
        """The same bytes under a new ID: the previous block was released."""
        with self._lock:
            number, file = self._files.pop(reference.block)
            self._last += 1
            self._files[self._last] = (number, file)
            again = pb.Reference()
            again.CopyFrom(reference)
            again.block = self._last
        self._say(file, again.block)
        return again

    def release(self, blocks: list[int]) -> pb.Segments:
        """Unlinks released blocks; unknown IDs are ignored."""
        closed = pb.Segments()
        for block in blocks:
            with self._lock:
                number, file = self._files.pop(block, (0, -1))
            if file < 0:
                continue
            size = os.fstat(file).st_size
            with suppress(FileNotFoundError):
                os.unlink(f"{self._incarnation}.{number}", dir_fd=self._folder)
            os.close(file)
            closed.segments.add(arena=pb.ARENA_STAGE, number=number, size=size)
        return closed

    def release_all(self) -> None:
        self.release(list(self._files))

    @property
    def is_empty(self) -> bool:
        return not self._files

    def sweep(self) -> int:
        """Removes segments of dead processes of this user. Returns their number."""
        swept = 0
        fcntl.flock(self._folder, fcntl.LOCK_EX)  # no process is between creating and locking one
        try:
            with os.scandir(self._folder) as entries:
                names = [entry.name for entry, _ in zip(entries, range(SWEPT_MAX))]
            for name in filter(NAME.fullmatch, names):
                swept += self._remove_forsaken(name)
        finally:
            fcntl.flock(self._folder, fcntl.LOCK_UN)
        return swept

    def _remove_forsaken(self, name: str) -> bool:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            file = os.open(name, flags, dir_fd=self._folder)
        except OSError:
            return False
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(name, dir_fd=self._folder)
        except OSError:
            return False
        finally:
            os.close(file)
        return True

    def _create(self, name: str) -> int:
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with self._folder_lock:
            fcntl.flock(self._folder, fcntl.LOCK_SH)
            try:
                file = os.open(name, flags, 0o640, dir_fd=self._folder)
                os.fchmod(file, 0o640)  # independently of the umask
                fcntl.flock(file, fcntl.LOCK_EX)
            finally:
                fcntl.flock(self._folder, fcntl.LOCK_UN)
        return file

    @staticmethod
    def _say(file: int, block: int) -> None:
        os.pwrite(file, struct.pack("<Q", block).ljust(HEADER, b"\0"), 0)
