"""Serializes changes of a cache's values by key."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


PAUSE = 0.1
"""Seconds between two checks of a waiting call."""


class Turns:
    """One writer per key, or one for all keys, so that a removed value isn't restored by a write
    that started before. A waiting call polls `check`, and stops waiting if that raises."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._keys: set[str] = set()
        self._has_all = False

    def _wait(self, is_free: Callable[[], bool], check: Callable[[], None]) -> None:
        while not self._condition.wait_for(is_free, PAUSE):
            check()

    @contextmanager
    def of(self, key: str, check: Callable[[], None]) -> Iterator[None]:
        with self._condition:
            self._wait(lambda: not self._has_all and key not in self._keys, check)
            self._keys.add(key)
        try:
            yield
        finally:
            with self._condition:
                self._keys.remove(key)
                self._condition.notify_all()

    @contextmanager
    def of_all(self, check: Callable[[], None]) -> Iterator[None]:
        with self._condition:
            self._wait(lambda: not self._has_all and not self._keys, check)
            self._has_all = True
        try:
            yield
        finally:
            with self._condition:
                self._has_all = False
                self._condition.notify_all()
