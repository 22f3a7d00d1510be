"""Two stacks that share a tier in Valkey or Redis: with the server, and without it."""

from __future__ import annotations

import asyncio
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from argparse import Namespace
from pathlib import Path

from example_stack import SECONDS, Origin, Stack, png
from imagebus import Image, resize
from imagebus.aio import Client
from imagebus.steps import request_for
from resp import Server, ServerError
from test_caches import WAIT_STORE_CACHE
from valkey_cache import Valkey

HERE = Path(__file__).parent
PROGRAM = shutil.which("valkey-server") or shutil.which("redis-server")
CONFIGURATION = """
pools:
  shared: {{kind: cache, trust: foreign, credit: 16, command: [{command}]}}
  hasty: {{kind: cache, trust: foreign, credit: 16, command: [{command}]}}
caches:
  local:
  shared: {{pool: shared, patience: 10000}}
  hasty: {{pool: hasty, patience: 100}}
  tiers: {{of: [shared, local], store: serial}}
"""


class Storage:
    """A server on a socket of its own."""

    def __init__(self, folder: Path) -> None:
        self.place = str(folder / "server.sock")
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        assert PROGRAM is not None
        command = [
            PROGRAM, "--port", "0", "--unixsocket", self.place, "--save", "",
            "--appendonly", "no", "--dir", str(self._folder),
        ]  # fmt: skip
        with open(self._folder / "server.log", "ab") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        end = time.monotonic() + SECONDS
        while True:
            try:
                return self.tell(b"PING")
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.01)

    def tell(self, *words: bytes) -> object:
        server = Server(self.place, None, SECONDS)
        try:
            return server.ask(*words)
        finally:
            server.close()

    def halt(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(SECONDS)
            self._process = None


@unittest.skipIf(PROGRAM is None, "there is no server: scripts/setup installs one")
class ValkeyTests(unittest.IsolatedAsyncioTestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(tempfile.mkdtemp(prefix="ib-", dir="/tmp"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.storage = Storage(cls.folder)
        cls.addClassCleanup(cls.storage.kill)
        words = [
            sys.executable, HERE / "valkey_cache.py", "--server", cls.storage.place,
            "--timeout", "30",
        ]  # fmt: skip
        configuration = cls.folder / "imagebus.yaml"
        configuration.write_text(
            CONFIGURATION.format(command=", ".join(f'"{word}"' for word in words))
        )
        cls.origin = Origin()
        cls.addClassCleanup(cls.origin.stop)
        cls.stacks = [Stack(cls.origin, "--config", str(configuration)) for _ in range(2)]
        for stack in cls.stacks:
            cls.addClassCleanup(stack.remove)
            stack.start()

    def setUp(self) -> None:
        self.storage.kill()
        self.storage.start()
        self._served = 0

    def serve(self, width: int = 40, height: int = 30) -> tuple[str, bytes]:
        self._served += 1
        path = f"/{self.id()}-{self._served}.png"
        picture = png(width, height, self._served)
        self.origin.pictures[path] = picture
        return self.origin.url(path), picture

    def gets(self, url: str) -> int:
        return self.origin.gets[url.removeprefix(self.origin.url(""))]

    def client(self, stack: Stack) -> Client:
        return Client(stack.runtime_dir, "mapped")

    async def load(self, stack: Stack, url: str, cache: str, *steps: object) -> Image:
        image = request_for(steps, "png" if steps else None, None, False, None)
        image.url, image.context.cache, image.options = url, cache, WAIT_STORE_CACHE
        async with self.client(stack) as client:
            return await client._run(image, SECONDS, None, "")

    async def assert_loads(self, url: str, picture: bytes, cache: str) -> None:
        """In both stacks, and the bytes are those of the origin."""
        for stack in self.stacks:
            image = await self.load(stack, url, cache)
            self.assertTrue(bytes(image.data) == picture)

    async def until_connected(self, cache: str) -> None:
        """Each stack has a worker that answers, and asks it: as its circuit may be open."""
        deadline = asyncio.get_running_loop().time() + SECONDS
        for stack in self.stacks:
            while True:
                url, _ = self.serve()
                await self.load(stack, url, cache)
                await self.load(stack, url, cache)
                if self.gets(url) == 1:
                    break
                self.assertLess(asyncio.get_running_loop().time(), deadline)
                await asyncio.sleep(0.05)

    async def test_what_one_has_stored_the_other_does_not_fetch(self) -> None:
        await self.until_connected("shared")
        for cache in ("shared", "tiers"):
            url, picture = self.serve()
            await self.assert_loads(url, picture, cache)
            small = [await self.load(stack, url, cache, resize(9, 9)) for stack in self.stacks]
            self.assertTrue(bytes(small[0].data) == bytes(small[1].data))
            self.assertEqual(small[1].cache_type, 1, "the disk, as what others have is called")
            self.assertEqual(self.gets(url), 1, cache)

    async def test_what_one_removes_is_gone_for_the_other(self) -> None:
        await self.until_connected("shared")
        url, picture = self.serve()
        await self.assert_loads(url, picture, "shared")
        self.stacks[0].run("cache", "remove", "--url", url, "--cache", "shared")
        await self.assert_loads(url, picture, "shared")
        self.assertEqual(self.gets(url), 2)

    async def test_a_server_that_is_killed_is_done_without_and_used_again(self) -> None:
        await self.until_connected("shared")
        old, old_picture = self.serve()
        await self.assert_loads(old, old_picture, "shared")
        self.storage.kill()
        for _ in range(8):
            url, picture = self.serve()
            await self.assert_loads(url, picture, "shared")
            self.assertEqual(self.gets(url), 2)
        for stack in self.stacks:
            self.assertGreaterEqual(self.counter(stack, "Errors", "shared"), 5)
        self.storage.start()
        await self.until_connected("shared")
        await self.assert_loads(old, old_picture, "shared")

    async def test_loads_that_are_under_way_as_it_is_killed_succeed(self) -> None:
        await self.until_connected("shared")
        pictures = [self.serve() for _ in range(16)]

        async def load(url: str, picture: bytes) -> None:
            for _ in range(3):
                await self.assert_loads(url, picture, "tiers")

        loads = [asyncio.create_task(load(*one)) for one in pictures]
        await asyncio.wait(loads, return_when=asyncio.FIRST_COMPLETED)
        self.storage.kill()
        await asyncio.gather(*loads)

    async def test_a_full_server_gives_what_it_has_and_takes_nothing(self) -> None:
        await self.until_connected("shared")
        old, old_picture = self.serve()
        await self.assert_loads(old, old_picture, "shared")
        self.storage.tell(b"CONFIG", b"SET", b"maxmemory-policy", b"noeviction")
        self.storage.tell(b"CONFIG", b"SET", b"maxmemory", b"1mb")
        for _ in range(8):
            url, picture = self.serve(400, 300)
            await self.assert_loads(url, picture, "shared")
            self.assertEqual(self.gets(url), 2)
        await self.assert_loads(old, old_picture, "shared")
        self.assertEqual(self.gets(old), 1, "what it has is found all the while")

    async def test_a_server_that_stands_still_costs_its_patience_and_is_left_alone(self) -> None:
        await self.until_connected("hasty")
        slow = [self.counter(stack, "Slow", "hasty") for stack in self.stacks]
        skipped = [self.counter(stack, "Skipped", "hasty") for stack in self.stacks]
        self.storage.halt()
        for _ in range(8):
            url, picture = self.serve()
            await self.assert_loads(url, picture, "hasty")
        for stack, before, left in zip(self.stacks, slow, skipped):
            self.assertGreater(self.counter(stack, "Slow", "hasty"), before)
            self.assertGreater(self.counter(stack, "Skipped", "hasty"), left)
        self.storage.go_on()
        await self.until_connected("hasty")

    def counter(self, stack: Stack, name: str, pool: str) -> int:
        return stack.counters().get(f"foreignCache{name}.{pool}", 0)


@unittest.skipIf(PROGRAM is None, "there is no server: scripts/setup installs one")
class ServerTests(unittest.TestCase):
    """The cache alone against the server."""

    def setUp(self) -> None:
        folder = Path(tempfile.mkdtemp(prefix="ib-", dir="/tmp"))
        self.addCleanup(shutil.rmtree, folder)
        self.storage = Storage(folder)
        self.addCleanup(self.storage.kill)
        self.storage.start()

    def cache(self, **more: object) -> Valkey:
        options = {
            "server": self.storage.place, "prefix": "a*[b]:", "timeout": SECONDS,
            "max_age": 100, "bytes_max": 1000, "heed_expiry": False,
        }  # fmt: skip
        cache = Valkey(Namespace(**{**options, **more}))
        self.addCleanup(lambda: [server.close() for server in cache._free])
        return cache

    def test_an_entry_lives_for_so_long_and_no_longer_than_its_origin_permits(self) -> None:
        self.cache().put("k", b"1", time.time() + 10)
        self.assertGreater(self.storage.tell(b"PTTL", b"a*[b]:k"), 10_000)
        heedful = self.cache(heed_expiry=True)
        heedful.put("k", b"1", time.time() + 10)
        self.assertIn(self.storage.tell(b"PTTL", b"a*[b]:k"), range(1, 10_001))
        self.assertIs(heedful.put("k", b"1", time.time() - 1), False)
        self.assertIsNone(heedful.get("k"), "nor is what was there before")

    def test_keys_are_those_of_its_prefix_alone(self) -> None:
        cache = self.cache()
        names = {f"name \x1f{number}" for number in range(50)}
        for name in names:
            cache.put(name, b"\r\n$5\r\n", None)
        for other in (b"other", b"axb:other", b"ab:other"):
            self.storage.tell(b"SET", other, b"1")
        self.assertEqual(set(cache.keys()), names)
        self.assertEqual(cache.get("name \x1f7"), b"\r\n$5\r\n")
        self.assertTrue(cache.contains("name \x1f7"))
        cache.remove("name \x1f7")
        self.assertFalse(cache.contains("name \x1f7"))

    def test_too_large_is_not_kept_and_replaces_nothing(self) -> None:
        cache = self.cache()
        cache.put("k", b"old", None)
        self.assertIs(cache.put("k", bytes(1001), None), False)
        self.assertIsNone(cache.get("k"))

    def test_after_a_restart_one_call_fails_at_most(self) -> None:
        cache = self.cache()
        with cache._server(), cache._server(), cache._server():
            pass
        self.assertEqual(len(cache._free), 3)
        self.storage.kill()
        self.storage.start()
        with self.assertRaises((OSError, ServerError)):
            cache.get("k")
        self.assertIsNone(cache.get("k"))
