"""Who changes what a cache has under a key, one after the other."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


PAUSE = 0.1
"""Seconds between two looks of one who waits."""


class Turns:
    """One writer of a key at a time, or one of all keys. So what was removed is not put back by
    whoever began before. Whoever waits asks `check` now and then, and waits no more where that
    raises."""

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
