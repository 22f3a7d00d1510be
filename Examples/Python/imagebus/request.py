"""A load that has no result yet."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field

import imagebus_pb2 as pb
from imagebus.events import Cached, Preview
from imagebus.images import Image

OnProgress = Callable[[int, int], object]  # bytes that have come and are expected (0: unknown)
OnImage = Callable[[Preview | Cached], object]  # before the end


def new_token() -> bytes:
    """What names a load for `Client.cancel`: 16 random bytes."""
    return secrets.token_bytes(16)


@dataclass(eq=False)
class Request:
    """A load without a result: what was asked for, and how far it is."""

    load: pb.Load
    done: asyncio.Future[Image]
    deadline: float
    upload: bytes
    progress: OnProgress | None
    early: OnImage | None
    key: bytes  # what its answer is known by; empty where it is not to be repeated
    is_sent: bool = False
    is_cancelled: bool = False
    cached: Image | None = None  # of one that is refreshed
    uploaded: int = 0
    body: bytearray = field(default_factory=bytearray)  # what has come in pieces
