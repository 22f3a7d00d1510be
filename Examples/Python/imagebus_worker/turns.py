"""Who changes what a cache has under a key, one after the other."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Turns:
    """One writer of a key at a time, or one of all keys. So what was removed is not put back by
    whoever began before."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._keys: set[str] = set()
        self._has_all = False

    @contextmanager
    def of(self, key: str) -> Iterator[None]:
        with self._condition:
            self._condition.wait_for(lambda: not self._has_all and key not in self._keys)
            self._keys.add(key)
        try:
            yield
        finally:
            with self._condition:
                self._keys.remove(key)
                self._condition.notify_all()

    @contextmanager
    def of_all(self) -> Iterator[None]:
        with self._condition:
            self._condition.wait_for(lambda: not self._has_all and not self._keys)
            self._has_all = True
        try:
            yield
        finally:
            with self._condition:
                self._has_all = False
                self._condition.notify_all()
