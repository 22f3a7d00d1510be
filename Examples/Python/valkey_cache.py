"""Keeps images in Valkey or Redis, for several stacks together.

    python valkey_cache.py --runtime-dir /run/imagebus --pool shared --server /run/valkey.sock

The server says how much is kept and what leaves first (maxmemory, maxmemory-policy); who may use
it may show images of any stack in all others.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from imagebus_worker import Cache, run
from resp import Server, ServerError


class Valkey(Cache):
    """Keeps images in a server of Valkey or Redis, beside those of other stacks."""

    def __init__(self, options: argparse.Namespace) -> None:
        super().__init__()
        self._place, self._seconds = options.server, options.timeout
        self._prefix = options.prefix.encode()
        self._max_age, self._heeds_expiry = options.max_age, options.heed_expiry
        self._bytes_max = options.bytes_max
        self._password = os.environ.get("VALKEY_PASSWORD")
        self._free: list[Server] = []
        self._lock = threading.Lock()

    def get(self, key: str) -> bytes | None:
        with self._server() as server:
            return server.ask(b"GET", self._name(key))

    def put(self, key: str, data: bytes, expires: float | None) -> bool:
        left = float(self._max_age)
        if self._heeds_expiry and expires is not None:
            left = min(left, expires - time.time())
        with self._server() as server:
            if len(data) <= self._bytes_max and left > 0:
                life = b"%d" % max(1, int(1000 * left))
                try:
                    server.ask(b"SET", self._name(key), data, b"PX", life)
                    return True
                except ServerError as error:
                    if not str(error).startswith("OOM"):
                        raise
            # It is full, or does not want it: what was there is not the newest any more.
            server.ask(b"UNLINK", self._name(key))
            return False

    def remove(self, key: str) -> None:
        with self._server() as server:
            server.ask(b"UNLINK", self._name(key))

    def contains(self, key: str) -> bool:
        with self._server() as server:
            return server.ask(b"EXISTS", self._name(key)) == 1

    def keys(self) -> list[str]:
        names, cursor = set(), b"0"
        pattern = re.sub(rb"([*?\[\]\\])", rb"\\\1", self._prefix) + b"*"
        with self._server() as server:
            while True:
                cursor, page = server.ask(b"SCAN", cursor, b"MATCH", pattern, b"COUNT", b"1000")
                names.update(page)
                if cursor == b"0":
                    break
        return [name[len(self._prefix) :].decode(errors="replace") for name in names]

    def _name(self, key: str) -> bytes:
        return self._prefix + key.encode()

    @contextmanager
    def _server(self) -> Iterator[Server]:
        """A connection for one call after another, at most as many as there are calls at once."""
        with self._lock:
            server = self._free.pop() if self._free else None
        server = server or Server(self._place, self._password, self._seconds)
        try:
            yield server
        except BaseException:
            # After a restart of the server the others have ended as well.
            with self._lock:
                ended, self._free = [server, *self._free], []
            for one in ended:
                one.close()
            raise
        with self._lock:
            self._free.append(server)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--server", default="127.0.0.1:6379")  # or the path of a socket
    parser.add_argument("--prefix", default="imagebus:")
    parser.add_argument("--max-age", type=int, default=7 * 86_400)  # seconds
    parser.add_argument("--bytes-max", type=int, default=64 << 20)  # of one image
    parser.add_argument("--heed-expiry", action="store_true")  # of origins, beside --max-age
    parser.add_argument("--timeout", type=float, default=0.05)  # seconds
    options, others = parser.parse_known_args(sys.argv[1:])
    run(Valkey(options), others)
