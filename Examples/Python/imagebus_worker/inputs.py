"""Bytes of the previous stage, read in place from its shared memory (PROTOCOL §10)."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import imagebus_pb2 as pb
from imagebus.results import BLOCK_HEADER, StaleError, open_segment

KINDS = {
    pb.WORKER_KIND_COORDINATOR: "coordinator",
    pb.WORKER_KIND_DOWNLOAD: "download",
    pb.WORKER_KIND_CACHE: "cache",
    pb.WORKER_KIND_DECODE: "decode",
    pb.WORKER_KIND_TRANSFORM: "transform",
}


class Inputs:
    """`arenas` is the folder with the segments of each pool."""

    def __init__(self, arenas: Path) -> None:
        self._arenas = arenas

    def view(self, reference: pb.Reference) -> memoryview:
        """The bytes of a reference, which stay unchanged until the job has its outcome. Raises
        `StaleError` if they no longer exist, and `PermissionError` if they are outside of their
        segment."""
        with self._opened(reference) as (file, size):
            if reference.length == 0:
                raise StaleError(f"block {reference.block} is empty")
            mapping = mmap.mmap(file, size, access=mmap.ACCESS_READ)
        return memoryview(mapping)[reference.offset : reference.offset + reference.length]

    def read(self, reference: pb.Reference) -> bytes:
        """A copy of the bytes, to be kept longer. Raises the same errors as `view`."""
        with self._opened(reference) as (file, _):
            data = os.pread(file, reference.length, reference.offset)
        if len(data) != reference.length:
            raise StaleError(f"block {reference.block} is incomplete")
        return data

    @contextmanager
    def _opened(self, reference: pb.Reference) -> Iterator[tuple[int, int]]:
        """The file of a segment and its size, if the reference is inside it."""
        producer = reference.producer
        folder = self._arenas / (producer.pool or KINDS[producer.kind])
        file = open_segment(folder, f"{producer.incarnation.hex()}.{reference.segment}")
        try:
            size, end = os.fstat(file).st_size, reference.offset + reference.length
            if not BLOCK_HEADER <= reference.offset <= end <= size:
                raise PermissionError(f"the reference {reference} lies outside its segment")
            yield file, size
        finally:
            os.close(file)
