"""The value stored under a key: the bytes of an image, and the stack's metadata."""

from __future__ import annotations

import hashlib
import struct
import time
from dataclasses import dataclass

from google.protobuf.message import DecodeError

import imagebus_pb2 as pb

HEAD = struct.Struct("<4sIQ16s")  # magic, metadata size, milliseconds since 1970, digest
MARK = b"IBC1"


@dataclass
class Record:
    metadata: pb.Metadata
    stored: int
    body: memoryview


def pack(metadata: pb.Metadata, body: bytes) -> bytes:
    facts = metadata.SerializeToString()
    head = HEAD.pack(MARK, len(facts), time.time_ns() // 1_000_000, digest(facts, body))
    return head + facts + body


def digest(facts: bytes | memoryview, body: bytes | memoryview) -> bytes:
    """Detects bytes that a store has damaged or truncated; it isn't a protection against
    forgery."""
    made = hashlib.blake2b(facts, digest_size=16)
    made.update(body)
    return made.digest()


def unpack_head(data: bytes, size: int) -> Record | None:
    """Like `unpack`, for the first bytes of `size`: without the body, and without verifying the
    digest unless these are all bytes. Also `None` if the metadata is incomplete."""
    if len(data) == size:
        return unpack(data)
    if len(data) < HEAD.size:
        return None
    mark, length, stored, _ = HEAD.unpack_from(data)
    if mark != MARK or length > len(data) - HEAD.size:
        return None
    try:
        metadata = pb.Metadata.FromString(data[HEAD.size : HEAD.size + length])
    except DecodeError:
        return None
    return Record(metadata, stored, memoryview(b""))


def unpack(data: bytes | bytearray | memoryview) -> Record | None:
    """Parses a record. `None` if it wasn't stored by a stack of this version, or was changed
    since."""
    view = memoryview(data).cast("B")
    if len(view) < HEAD.size:
        return None
    mark, length, stored, said = HEAD.unpack_from(view)
    if mark != MARK or length > len(view) - HEAD.size:
        return None
    facts, body = view[HEAD.size : HEAD.size + length], view[HEAD.size + length :]
    if digest(facts, body) != said:
        return None
    try:
        return Record(pb.Metadata.FromString(bytes(facts)), stored, body)
    except DecodeError:
        return None
