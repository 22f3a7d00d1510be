"""A stack and an origin on the loopback interface, for tests."""

from __future__ import annotations

import asyncio
import json
import os
import random
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
import zlib
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from imagebus import ImagebusError
from imagebus.aio import Client

PROGRAMS = Path(os.environ["IMAGEBUS_PROGRAMS"])
SECONDS = 60  # until an expected event counts as missing


def png(width: int, height: int, seed: int) -> bytes:
    """A PNG of incompressible noise: three bytes per pixel."""
    noise = random.Random(seed)
    rows = b"".join(b"\0" + noise.randbytes(3 * width) for _ in range(height))

    def chunk(kind: bytes, data: bytes) -> bytes:
        checksum = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + checksum

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    pixels = chunk(b"IDAT", zlib.compress(rows, 1))
    return b"\x89PNG\r\n\x1a\n" + header + pixels + chunk(b"IEND", b"")


class SlowPicture:
    """Half of it is sent at once; the rest when `open` is called, or never."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.asked, self.broken = threading.Semaphore(0), threading.Event()
        self._inside, self._outside = socket.socketpair()

    def open(self) -> None:
        self._outside.send(b"!")

    def close(self) -> None:
        self._inside.close()
        self._outside.close()

    def is_opened(self, connection: socket.socket) -> bool:
        readable, _, _ = select.select([connection, self._inside], [], [], SECONDS)
        if connection in readable:
            self.broken.set()
        return self._inside in readable


class TaggedPicture:
    """Has an entity tag and answers matching conditional requests with 304. `headers` are sent with
    a picture, `confirmed` with a 304."""

    def __init__(
        self, data: bytes, headers: dict[str, str] | None = None,
        confirmed: dict[str, str] | None = None,
    ) -> None:  # fmt: skip
        self.data, self.headers, self.confirmed = data, headers or {}, confirmed or {}
        self.tag = f'"{zlib.crc32(data):08x}"'


Picture = bytes | SlowPicture | TaggedPicture


class Handler(BaseHTTPRequestHandler):
    server: Origin

    def do_GET(self) -> None:
        with self.server.lock:
            self.server.gets[self.path] += 1
            self.server.headers[self.path] = dict(self.headers)
        picture = self.server.pictures.get(self.path)
        if picture is None:
            return self.send_error(404)
        data = picture if isinstance(picture, bytes) else picture.data
        tag = picture.tag if isinstance(picture, TaggedPicture) else None
        if tag is not None and self.headers["If-None-Match"] == tag:
            with self.server.lock:
                self.server.confirmations[self.path] += 1
            self.send_response(304)
            self.send_all({"ETag": tag, **picture.confirmed})
            return self.end_headers()
        self.send_response(200)
        if tag is not None:
            self.send_all({"ETag": tag, **picture.headers})
        self.send_header("Content-Type", "image/png")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        half = len(data) // 2 if isinstance(picture, SlowPicture) else 0
        self.wfile.write(data[:half])
        if isinstance(picture, SlowPicture):
            picture.asked.release()
            if not picture.is_opened(self.connection):
                return
        self.wfile.write(data[half:])

    def send_all(self, headers: dict[str, str]) -> None:
        for name, value in headers.items():
            self.send_header(name, value)

    def log_message(self, *_: object) -> None:
        pass


class Origin(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.pictures: dict[str, Picture] = {}
        self.gets: Counter[str] = Counter()
        self.confirmations: Counter[str] = Counter()  # 304s
        self.headers: dict[str, dict[str, str]] = {}  # of the latest request
        self.lock = threading.Lock()
        self._thread = threading.Thread(target=self.serve_forever)
        self._thread.start()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}{path}"

    def handle_error(self, request: object, client_address: object) -> None:
        """A cancelled load closes the connection during a response: that isn't an error of the
        tests."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def stop(self) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()


class Stack:
    """`imagebus serve` with temporary directories, which may connect to a single origin only."""

    def __init__(self, origin: Origin, *options: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="ib-", dir="/tmp"))
        self.runtime_dir = self.folder / "run"
        self._command = [
            PROGRAMS / "imagebus", "serve", "--decode", "1", "--transform", "1",
            "--runtime-dir", self.runtime_dir, "--cache-dir", self.folder / "cache",
            "--allow-address", f"127.0.0.1:{origin.server_port}", *options,
        ]  # fmt: skip
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with open(self.folder / "log", "ab") as log:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log
            )
        output = self._process.stdout
        assert output is not None
        readable, _, _ = select.select([output], [], [], SECONDS)
        line = output.readline() if readable else b""
        if line.startswith(b"ready "):
            return
        said = (self.folder / "log").read_text(errors="replace").splitlines()
        reason = said[-1] if said else "nothing was written to stderr"
        program = f"{self._command[0]} serve"
        if readable and not line:
            status = self._process.wait(SECONDS)
            raise AssertionError(f"{program} ended before it was ready (exit {status}): {reason}")
        raise AssertionError(f"{program} was not ready within {SECONDS} s: {reason}")

    def stop(self) -> None:
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder)

    def run(self, *arguments: str) -> bytes:
        """The output of an operator's command, which must succeed."""
        command = [PROGRAMS / "imagebus", *arguments, "--runtime-dir", self.runtime_dir]
        ended = subprocess.run(command, capture_output=True, timeout=SECONDS)
        if ended.returncode != 0:
            raise AssertionError(f"{arguments} ended with {ended.returncode}: {ended.stderr!r}")
        return ended.stdout

    def counters(self) -> dict[str, int]:
        return json.loads(self.run("status", "--json"))["counters"]

    def kill_coordinator(self) -> None:
        for children in Path(f"/proc/{self._process.pid}/task").glob("*/children"):
            for child in children.read_text().split():
                name = Path(f"/proc/{child}/comm").read_text().strip()
                if "imagebus-coordinator".startswith(name) and name != "imagebus":
                    return os.kill(int(child), signal.SIGKILL)
        raise AssertionError("there is no coordinator")


class ExampleTests(unittest.IsolatedAsyncioTestCase):
    # For `serve`: a picture held back by a test doesn't count as slow, however busy the machine is.
    options: tuple[str, ...] = ("--low-speed", "0")
    origin: Origin
    stack: Stack

    @classmethod
    def setUpClass(cls) -> None:
        cls.origin = Origin()
        cls.addClassCleanup(cls.origin.stop)
        cls.stack = Stack(cls.origin, *cls.options)
        cls.addClassCleanup(cls.stack.remove)
        cls.stack.start()

    def client(self, delivery: str = "mapped") -> Client:
        return Client(self.stack.runtime_dir, delivery)

    def serve(self, picture: Picture) -> str:
        """Serves the picture at a new URL and returns it."""
        path = f"/{self.id()}-{len(self.origin.pictures)}.png"
        self.origin.pictures[path] = picture
        return self.origin.url(path)

    def replace(self, url: str, picture: Picture) -> None:
        """Replaces the origin's response at this URL."""
        self.origin.pictures[self.path(url)] = picture

    def path(self, url: str) -> str:
        return url.removeprefix(self.origin.url(""))

    def serve_slowly(self, data: bytes) -> tuple[str, SlowPicture]:
        picture = SlowPicture(data)
        self.addCleanup(picture.close)
        return self.serve(picture), picture

    def gets(self, url: str) -> int:
        return self.origin.gets[self.path(url)]

    async def until_asked(self, picture: SlowPicture) -> None:
        asked = await asyncio.to_thread(picture.asked.acquire, timeout=SECONDS)
        self.assertTrue(asked, "the origin was not asked")

    async def until_broken(self, picture: SlowPicture) -> None:
        broken = await asyncio.to_thread(picture.broken.wait, SECONDS)
        self.assertTrue(broken, "the connection to the origin goes on")

    def assert_same(self, data: bytes | memoryview, expected: bytes) -> None:
        """Compares without printing the bytes."""
        self.assertTrue(data == expected, f"{len(data)} and {len(expected)} bytes differ")

    async def assert_fails(self, name: str, code: int, load: object) -> ImagebusError:
        with self.assertRaises(ImagebusError) as caught:
            await load
        self.assertEqual((caught.exception.name, caught.exception.code), (name, code))
        return caught.exception
