"""The events of a load, including its result."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from imagebus.images import Image


@dataclass(frozen=True)
class Progress:
    """The number of source bytes received."""

    received: int
    expected: int  # in total; 0: unknown


@dataclass(frozen=True)
class Preview:
    """A complete image of the data that has arrived so far, after the same steps and in the format
    of the result. Each is made from more bytes than the previous one."""

    image: Image
    arrived: int  # bytes of the source


@dataclass(frozen=True)
class Cached:
    """The cached image, while the origin is queried (`Options.REFRESH_CACHED`). `Loaded` has the
    same image if the origin reports that nothing changed."""

    image: Image


@dataclass(frozen=True)
class Loaded:
    """The requested image: the last event."""

    image: Image


Event = Progress | Preview | Cached | Loaded


class Mailbox:
    """Unread events: only the latest of each kind, so that they don't accumulate for a slow
    reader."""

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
        """Marks the end of the events."""
        self._is_closed = True
        self._changed.set()

    def close(self) -> None:
        """Discards the events, as the reader has left."""
        self._is_closed = True
        for event in self._unread.values():
            if isinstance(event, Preview):
                event.image.release()
        self._unread.clear()

    async def next(self) -> Progress | Preview | Cached | None:
        """The oldest event; `None` at the end."""
        while not self._unread:
            if self._is_closed:
                return None
            self._changed.clear()
            await self._changed.wait()
        return self._unread.pop(next(iter(self._unread)))
