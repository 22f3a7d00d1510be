"""What a load tells before it ends, and how it ends."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from imagebus.images import Image


@dataclass(frozen=True)
class Progress:
    """Bytes of the source that have come."""

    received: int
    expected: int  # in all; 0: unknown


@dataclass(frozen=True)
class Preview:
    """What has arrived so far, as an image in its own right, after the same steps and in the format
    of the result. Each is made of more bytes than the one before."""

    image: Image
    arrived: int  # bytes of the source


@dataclass(frozen=True)
class Cached:
    """The image that a cache has, while the origin is asked (`Options.REFRESH_CACHED`). `Loaded`
    brings this very image again where the origin says that nothing changed."""

    image: Image


@dataclass(frozen=True)
class Loaded:
    """The image that was asked for: the last event."""

    image: Image


Event = Progress | Preview | Cached | Loaded


class Mailbox:
    """What was told and not read yet: the newest of each kind, so that who reads slowly is told
    less, and nothing piles up."""

    def __init__(self) -> None:
        self._unread: dict[type, Progress | Preview | Cached] = {}
        self._changed = asyncio.Event()
        self._is_closed = False

    def put(self, event: Progress | Preview | Cached) -> None:
        older = self._unread.pop(type(event), None)
        if isinstance(older, Preview):
            older.image.release()
        if self._is_closed:
            if isinstance(event, Preview):
                event.image.release()
            return
        self._unread[type(event)] = event
        self._changed.set()

    def end(self, *_: object) -> None:
        """No more will come."""
        self._is_closed = True
        self._changed.set()

    def close(self) -> None:
        """Nobody reads any more."""
        self._is_closed = True
        for event in self._unread.values():
            if isinstance(event, Preview):
                event.image.release()
        self._unread.clear()

    async def next(self) -> Progress | Preview | Cached | None:
        """The oldest; `None` where no more will come."""
        while not self._unread:
            if self._is_closed:
                return None
            self._changed.clear()
            await self._changed.wait()
        return self._unread.pop(next(iter(self._unread)))
