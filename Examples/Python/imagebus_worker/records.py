"""What is kept under one key: the bytes of an image, and what the stack knows of them."""

from __future__ import annotations

import hashlib
import struct
import time
from dataclasses import dataclass

from google.protobuf.message import DecodeError

import imagebus_pb2 as pb

HEAD = struct.Struct("<4sIQ16s")  # mark, bytes of the metadata, milliseconds since 1970, digest
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
    """Tells bytes that a store has damaged, or has only a part of; no secret is needed for it."""
    made = hashlib.blake2b(facts, digest_size=16)
    made.update(body)
    return made.digest()


def unpack_head(data: bytes, size: int) -> Record | None:
    """The same of the first bytes of `size`: without a body, and without a look at the digest,
    unless these are all. `None` also if they do not have the whole metadata."""
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
    """`None` for what no stack of this version has put there, or not as it is."""
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
