"""An LRU cache that keeps images in the memory of one process.

    python dictionary_cache.py --runtime-dir /run/imagebus --pool team --bytes 268435456
"""

from __future__ import annotations

import argparse
import sys
import threading
from collections import OrderedDict

from imagebus_worker import Cache, run


class Dictionary(Cache):
    """Keeps the most recently used images, up to a number of bytes."""

    def __init__(self, bytes_max: int) -> None:
        super().__init__()
        self._bytes_max, self._bytes = bytes_max, 0
        self._entries: OrderedDict[str, bytes] = OrderedDict()  # the oldest first
        self._lock = threading.Lock()

    def get(self, key: str) -> bytes | None:
        with self._lock:
            data = self._entries.get(key)
            if data is not None:
                self._entries.move_to_end(key)
            return data

    def put(self, key: str, data: bytes, expires: float | None) -> bool:
        with self._lock:
            self._drop(key)
            if len(data) > self._bytes_max:
                return False
            self._entries[key] = data
            self._bytes += len(data)
            while self._bytes > self._bytes_max:
                self._drop(next(iter(self._entries)))
            return True

    def remove(self, key: str) -> None:
        with self._lock:
            self._drop(key)

    def contains(self, key: str) -> bool:
        return key in self._entries

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
            self._bytes = 0

    def keys(self) -> list[str]:
        with self._lock:
            return list(self._entries)

    def _drop(self, key: str) -> None:
        self._bytes -= len(self._entries.pop(key, b""))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--bytes", type=int, default=256 << 20)
    options, others = parser.parse_known_args(sys.argv[1:])
    run(Dictionary(options.bytes), others)
