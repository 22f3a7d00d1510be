"""A pending load."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field

import imagebus_pb2 as pb
from imagebus.events import Cached, Preview
from imagebus.images import Image

OnProgress = Callable[[int, int], object]  # bytes received and expected (0: unknown)
OnImage = Callable[[Preview | Cached], object]  # before the end


def new_token() -> bytes:
    """A new identifier of a load for `Client.cancel`: 16 random bytes."""
    return secrets.token_bytes(16)


@dataclass(eq=False)
class Request:
    """A pending load: what was requested, and its progress."""

    load: pb.Load
    done: asyncio.Future[Image]
    deadline: float
    upload: bytes
    progress: OnProgress | None
    early: OnImage | None
    key: bytes  # identifies its answer; empty if that must not be repeated
    is_sent: bool = False
    is_cancelled: bool = False
    cached: Image | None = None  # during a refresh
    uploaded: int = 0
    body: bytearray = field(default_factory=bytearray)  # received in chunks
