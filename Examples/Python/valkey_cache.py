"""Keeps images in Valkey or Redis, shared by several stacks. Requires redis-py (`[valkey]`).

    python valkey_cache.py --runtime-dir /run/imagebus --pool shared --server /run/valkey.sock

The server determines the limit and the eviction (maxmemory, maxmemory-policy); anyone with access
to it can replace images in all stacks.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from urllib.parse import quote

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from imagebus_worker import Cache, run

BYTES_A_SECOND = 50e6  # the server's minimum throughput
LARGE = 1 << 20  # bytes; larger values get extra time
STEP = 1000  # approximate number of keys that the server scans per call
STEP_SECONDS = 1.0  # minimum timeout for calls on many keys


class Valkey(Cache):
    """Keeps images on a Valkey or Redis server, beside those of other stacks."""

    def __init__(self, options: argparse.Namespace) -> None:
        super().__init__()
        self._place, self._seconds = options.server, options.timeout
        self._prefix = options.prefix
        self._max_age, self._respects_expiry = options.max_age, options.respect_expiry
        self._bytes_max = options.bytes_max
        self._password = _password(options.password_file)
        self.server = self._client(options.timeout)
        self.many = self._client(max(options.timeout, STEP_SECONDS))
        """The clients for calls that no load waits for."""

    def get(self, key: str) -> bytes | None:
        # GET would read a value of any length to its end: with this, one extra byte reveals the
        # excess.
        data = self.server.getrange(self._name(key), 0, self._bytes_max)
        return data if 0 < len(data) <= self._bytes_max else None

    def put(self, key: str, data: bytes, expires: float | None) -> bool:
        left = float(self._max_age)
        if self._respects_expiry and expires is not None:
            left = min(left, expires - time.time())
        if len(data) <= self._bytes_max and left > 0:
            try:
                with self._client_for(len(data)) as server:
                    server.set(self._name(key), data, px=max(1, int(1000 * left)))
                return True
            except redis.OutOfMemoryError:
                pass
        # It is full or rejects the value: the previous one is outdated.
        self.remove(key)
        return False

    def remove(self, key: str) -> None:
        self.server.unlink(self._name(key))

    def contains(self, key: str) -> bool:
        return 0 < self.server.strlen(self._name(key)) <= self._bytes_max

    def scan(self, after: int) -> tuple[list[str], int]:
        pattern = re.sub(r"([*?\[\]\\])", r"\\\1", self._prefix) + "*"
        following, names = self.many.scan(after, pattern, STEP)
        keys = [name.decode(errors="replace").removeprefix(self._prefix) for name in names]
        return keys, following

    def count(self) -> int:
        return self.many.dbsize()  # including keys of other programs

    def peek(self, keys: list[str], length: int) -> list[tuple[bytes, int] | None]:
        server = self.server if len(keys) <= 2 else self.many
        with server.pipeline(transaction=False) as calls:
            for name in map(self._name, keys):
                calls.getrange(name, 0, length - 1)
                calls.strlen(name)
            found = calls.execute()
        return [
            (data, size) if 0 < size <= self._bytes_max else None
            for data, size in zip(found[::2], found[1::2])
        ]

    def remove_many(self, keys: list[str]) -> None:
        server = self.server if len(keys) <= 2 else self.many
        server.unlink(*map(self._name, keys))

    def extend(self, key: str, expires: float | None) -> None:
        if self._respects_expiry and expires is not None:
            left = min(self._max_age, expires - time.time())
            self.server.pexpire(self._name(key), max(1, int(1000 * left)))

    def perform(self, *work: Any) -> Any:
        """A server that cannot be reached is a failure that may pass, not a defect."""
        try:
            return super().perform(*work)
        except redis.AuthenticationError:
            raise  # a connection error too, but it does not pass
        except redis.ConnectionError as error:
            raise ConnectionError(f"{self._place}: {error}") from error
        except redis.TimeoutError as error:
            raise TimeoutError(f"{self._place}: {error}") from error

    def _name(self, key: str) -> str:
        return self._prefix + key

    def _client_for(self, length: int) -> nullcontext[redis.Redis] | redis.Redis:
        """A timeout belongs to a connection, so large values get their own."""
        if length < LARGE:
            return nullcontext(self.server)
        return self._client(self._seconds + length / BYTES_A_SECOND)

    def _client(self, seconds: float) -> redis.Redis:
        """Tries once: a failure is a miss. A closed connection is replaced before use."""
        is_path = self._place.startswith("/")
        return redis.Redis.from_url(
            f"unix://{quote(self._place)}" if is_path else f"redis://{self._place}",
            password=self._password,
            socket_timeout=seconds,
            socket_connect_timeout=seconds,
            retry=Retry(NoBackoff(), 0),
            max_connections=4 * self.credit,  # some calls end before their threads
            protocol=2,
        )


def _password(file: str | None) -> str | None:
    """The first line of a file; `serve` doesn't pass on variables such as VALKEY_PASSWORD."""
    if file is None:
        return os.environ.get("VALKEY_PASSWORD")
    return Path(file).read_text().split("\n", 1)[0]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--server", default="127.0.0.1:6379")  # or the path of a socket
    parser.add_argument("--password-file")  # instead of VALKEY_PASSWORD
    parser.add_argument("--prefix", default="imagebus:")
    parser.add_argument("--max-age", type=int, default=7 * 86_400)  # seconds
    parser.add_argument("--bytes-max", type=int, default=64 << 20)  # of one image
    parser.add_argument("--respect-expiry", action="store_true")  # of origins, besides --max-age
    parser.add_argument("--heed-expiry", dest="respect_expiry", action="store_true")  # formerly
    parser.add_argument("--timeout", type=float, default=0.05)  # seconds
    options, others = parser.parse_known_args(sys.argv[1:])
    run(Valkey(options), others)
