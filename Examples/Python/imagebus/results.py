"""Reading the bytes of results from shared memory (PROTOCOL §10)."""

from __future__ import annotations

import mmap
import os
import stat
import struct
from pathlib import Path

import imagebus_pb2 as pb

MAPPED_FROM, BLOCK_HEADER = 1 << 20, 64  # bytes


class StaleError(Exception):
    """The bytes of a reference were reused before they were read."""


def results_folder(runtime_dir: Path) -> Path:
    try:
        return Path((runtime_dir / "segments").read_text().strip()) / "results"
    except FileNotFoundError:
        return runtime_dir / "results"


def can_open(folder: Path) -> bool:
    return os.access(folder, os.R_OK | os.X_OK)


def is_lent(delivered: pb.DeliveredImage) -> bool:
    """Whether the bytes are lent to this client until it releases them."""
    return delivered.reference.length >= MAPPED_FROM and not delivered.must_copy


def read_result(folder: Path, delivered: pb.DeliveredImage) -> bytes | memoryview:
    """The bytes of a reference: a verified copy, or a mapping. Raises `StaleError`, or `OSError` if
    this process can't or shouldn't read them."""
    reference = delivered.reference
    file = open_segment(folder, f"{reference.producer.incarnation.hex()}.{reference.segment}")
    try:
        size, end = os.fstat(file).st_size, reference.offset + reference.length
        is_inside = BLOCK_HEADER <= reference.offset <= end <= size
        if reference.arena != pb.ARENA_RESULTS or not is_inside:
            raise PermissionError(f"the reference {reference} lies outside its segment")
        if is_lent(delivered):
            mapping = mmap.mmap(file, size, access=mmap.ACCESS_READ)
            data: bytes | memoryview = memoryview(mapping)[reference.offset : end]
        else:
            data = os.pread(file, reference.length, reference.offset)
        # Checked after copying: if the ID is unchanged, the copy is consistent.
        block = os.pread(file, 8, reference.offset - BLOCK_HEADER)
    finally:
        os.close(file)
    if len(data) != reference.length or struct.unpack("<Q", block) != (reference.block,):
        raise StaleError(f"block {reference.block} was reused")
    return data


def open_segment(folder: Path, name: str) -> int:
    """A descriptor of a regular file owned by the folder's owner, and writable by that user
    only."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
    directory = os.open(folder, flags | os.O_DIRECTORY)
    try:
        owner = os.fstat(directory)
        if owner.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise PermissionError(f"{folder} is writable by users other than its owner")
        try:
            file = os.open(name, flags | os.O_NONBLOCK, dir_fd=directory)
        except FileNotFoundError:
            raise StaleError(f"segment {name} is gone") from None
    finally:
        os.close(directory)
    facts = os.fstat(file)
    if not stat.S_ISREG(facts.st_mode) or facts.st_uid != owner.st_uid:
        os.close(file)
        raise PermissionError(f"{folder / name} is not a segment")
    return file
