"""Heartbeats of a process to the `serve` that started it (PROTOCOL §10.3)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

EVERY = 1.0  # seconds; after five without a heartbeat the process is killed


class Life:
    """Lines on a descriptor. `on_end` is called when its reader has closed it."""

    def __init__(self, descriptor: int, incarnation: bytes, on_end: Callable[[], None]) -> None:
        self._descriptor, self._name, self._on_end = descriptor, incarnation.hex(), on_end
        os.set_blocking(descriptor, False)
        os.set_inheritable(descriptor, False)

    def begin(self) -> None:
        self._say("begun")
        self._beat()

    def welcome(self) -> None:
        self._say("ready")

    def _beat(self) -> None:
        self._say("alive")
        asyncio.get_running_loop().call_later(EVERY, self._beat)

    def _say(self, word: str) -> None:
        try:
            os.write(self._descriptor, f"{word} {self._name}\n".encode())
        except BlockingIOError:
            pass  # a busy supervisor has enough to read
        except OSError:
            self._on_end()
