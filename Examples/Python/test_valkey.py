"""Two stacks that share a tier on a Valkey or Redis server: with the server, and without it."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from argparse import Namespace
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from unittest.mock import patch

import redis

from example_stack import PROGRAMS, SECONDS, Origin, Stack, png
from imagebus import Image, resize
from imagebus.aio import Client
from imagebus.steps import request_for
from test_caches import WAIT_STORE_CACHE
from valkey_cache import BYTES_A_SECOND, Valkey
from valkey_server import PROGRAM, Storage

HERE = Path(__file__).parent
CONFIGURATION = """
pools:
  shared: {{kind: cache, trust: external, credit: 16, command: [{command}]}}
  hasty: {{kind: cache, trust: external, credit: 16, command: [{command}]}}
caches:
  local:
  shared: {{pool: shared, timeout: 10000}}
  hasty: {{pool: hasty, timeout: 100}}
  tiers: {{of: [shared, local], store: serial}}
"""


class SharedTierTests(unittest.IsolatedAsyncioTestCase):
    """Several stacks with one server."""

    count = 2
    configuration = CONFIGURATION
    timeout = 30.0  # of the server, seconds

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(tempfile.mkdtemp(prefix="ib-", dir="/tmp"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.storage = Storage(cls.folder)
        cls.addClassCleanup(cls.storage.kill)
        words = [
            sys.executable, HERE / "valkey_cache.py", "--server", cls.storage.place,
            "--timeout", cls.timeout,
        ]  # fmt: skip
        configuration = cls.folder / "imagebus.yaml"
        configuration.write_text(
            cls.configuration.format(command=", ".join(f'"{word}"' for word in words))
        )
        cls.origin = Origin()
        cls.addClassCleanup(cls.origin.stop)
        cls.stacks = [Stack(cls.origin, "--config", str(configuration)) for _ in range(cls.count)]
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
        """In both stacks, with the origin's bytes."""
        for stack in self.stacks:
            image = await self.load(stack, url, cache)
            self.assertTrue(bytes(image.data) == picture)

    async def until_connected(self, cache: str) -> None:
        """Waits until each stack has a responding worker and queries it: its circuit may be
        open."""
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

    def counter(self, stack: Stack, name: str, pool: str) -> int:
        return stack.counters().get(f"foreignCache{name}.{pool}", 0)


@unittest.skipIf(PROGRAM is None, "there is no server: scripts/setup installs one")
class ValkeyTests(SharedTierTests):
    async def test_what_one_has_stored_the_other_does_not_fetch(self) -> None:
        await self.until_connected("shared")
        for cache in ("shared", "tiers"):
            url, picture = self.serve()
            await self.assert_loads(url, picture, cache)
            small = [await self.load(stack, url, cache, resize(9, 9)) for stack in self.stacks]
            self.assertTrue(bytes(small[0].data) == bytes(small[1].data))
            self.assertEqual(small[1].cache_type, 1, "the disk, as what others have is called")
            self.assertEqual(self.gets(url), 1, cache)

    async def test_what_one_has_made_enters_the_memory_of_the_other(self) -> None:
        await self.until_connected("shared")
        maker, finder = self.stacks
        before = [self.counter(finder, name, "shared") for name in ("Hits", "Promoted")]
        for steps in ((), (resize(9, 9),)):
            url, picture = self.serve()
            images = [
                await self.load(stack, url, "tiers", *steps)
                for stack in (maker, finder, finder, finder)
            ]
            self.assertEqual([image.cache_type for image in images], [0, 1, 2, 2])
            self.assertEqual({bytes(image.data) for image in images}, {bytes(images[0].data)})
            self.assertEqual(self.gets(url), 1)
        after = [self.counter(finder, name, "shared") for name in ("Hits", "Promoted")]
        self.assertEqual([new - old for old, new in zip(before, after)], [2, 2])
        # The server is no longer needed for it, until it is removed.
        self.storage.kill()
        self.assertEqual((await self.load(finder, url, "tiers", *steps)).cache_type, 2)
        self.storage.start()
        await self.until_connected("shared")
        finder.run("cache", "remove", "--url", url, "--cache", "tiers")
        self.assertEqual((await self.load(finder, url, "tiers", *steps)).cache_type, 0)

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

    async def test_a_removal_that_does_not_reach_it_can_be_repeated(self) -> None:
        await self.until_connected("shared")
        stack = self.stacks[0]
        url, picture = self.serve()
        await self.assert_loads(url, picture, "shared")
        logged = len(self.log(stack))
        self.storage.kill()
        status, said = self.remove(stack, url)
        self.assertEqual(status, 75, said)
        self.assertIn("busy (3001): the cache 'shared' failed: a plug-in worker cannot", said)
        self.assertRegex(self.log(stack)[logged:], r"cannot reach its server: .*server\.sock")
        self.assertNotIn("Traceback", self.log(stack)[logged:])
        self.storage.start()
        self.assertEqual(self.remove(stack, url), (0, ""))

    def remove(self, stack: Stack, url: str) -> tuple[int, str]:
        """The exit status and the messages of a removal."""
        ended = subprocess.run(
            [
                PROGRAMS / "imagebus", "cache", "remove", "--url", url, "--cache", "shared",
                "--runtime-dir", stack.runtime_dir,
            ],
            capture_output=True, text=True, timeout=SECONDS,
        )  # fmt: skip
        return ended.returncode, ended.stderr

    def log(self, stack: Stack) -> str:
        return (stack.folder / "log").read_text(errors="replace")

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
        self.storage.tell("CONFIG", "SET", "maxmemory-policy", "noeviction")
        self.storage.tell("CONFIG", "SET", "maxmemory", "1mb")
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


@unittest.skipIf(PROGRAM is None, "there is no server: scripts/setup installs one")
class ServerTests(unittest.TestCase):
    """The cache on its own with the server."""

    def setUp(self) -> None:
        folder = Path(tempfile.mkdtemp(prefix="ib-", dir="/tmp"))
        self.addCleanup(shutil.rmtree, folder)
        self.storage = Storage(folder)
        self.addCleanup(self.storage.kill)
        self.storage.start()

    def cache(self, **more: object) -> Valkey:
        options = {
            "server": self.storage.place, "prefix": "a*[b]:", "timeout": SECONDS,
            "max_age": 100, "bytes_max": 1000, "respect_expiry": False, "password_file": None,
        }  # fmt: skip
        cache = Valkey(Namespace(**{**options, **more}))
        self.addCleanup(cache.server.close)
        self.addCleanup(cache.many.close)
        return cache

    def test_an_entry_lives_for_so_long_and_no_longer_than_its_origin_permits(self) -> None:
        self.cache().put("k", b"1", time.time() + 10)
        self.assertGreater(self.storage.tell("PTTL", "a*[b]:k"), 10_000)
        heedful = self.cache(respect_expiry=True)
        heedful.put("k", b"1", time.time() + 10)
        self.assertIn(self.storage.tell("PTTL", "a*[b]:k"), range(1, 10_001))
        self.assertIs(heedful.put("k", b"1", time.time() - 1), False)
        self.assertIsNone(heedful.get("k"), "nor is what was there before")

    def test_keys_are_those_of_its_prefix_alone(self) -> None:
        cache = self.cache()
        names = {f"name \x1f{number}" for number in range(50)}
        for name in names:
            cache.put(name, b"\r\n$5\r\n", None)
        for other in ("other", "axb:other", "ab:other"):
            self.storage.tell("SET", other, "1")
        self.assertEqual(self.keys(cache), names)
        self.assertEqual(cache.get("name \x1f7"), b"\r\n$5\r\n")
        self.assertTrue(cache.contains("name \x1f7"))
        cache.remove("name \x1f7")
        self.assertFalse(cache.contains("name \x1f7"))

    @staticmethod
    def keys(cache: Valkey) -> set[str]:
        keys, after = cache.scan(0)
        found = set(keys)
        while after:
            keys, after = cache.scan(after)
            found.update(keys)
        return found

    def test_many_are_looked_at_and_removed_in_one_call(self) -> None:
        cache = self.cache()
        for number in range(5):
            cache.put(str(number), bytes(100 * number), None)
        self.storage.tell("SET", "a*[b]:large", bytes(1001))
        found = cache.peek(["1", "4", "0", "large", "missing"], 150)
        self.assertEqual(found, [(bytes(100), 100), (bytes(150), 400), None, None, None])
        cache.remove_many(["1", "2", "missing"])
        self.assertEqual(self.keys(cache), {"0", "3", "4", "large"})
        self.assertEqual(cache.count(), 4)

    def test_what_was_confirmed_lives_as_long_as_its_origin_permits_now(self) -> None:
        for heeds, most in ((True, 50_000), (False, 100_000)):
            cache = self.cache(respect_expiry=heeds)
            cache.put("k", b"1", time.time() + 10)
            cache.extend("k", time.time() + 50)
            self.assertIn(self.storage.tell("PTTL", "a*[b]:k"), range(most - 30_000, most + 1))
        cache = self.cache(respect_expiry=True)
        cache.extend("gone", time.time() + 50)
        self.assertFalse(cache.contains("gone"))

    def test_too_large_is_not_kept_and_replaces_nothing(self) -> None:
        cache = self.cache()
        cache.put("k", b"old", None)
        self.assertIs(cache.put("k", bytes(1001), None), False)
        self.assertIsNone(cache.get("k"))

    def test_what_another_has_put_there_is_not_read_where_it_is_too_large(self) -> None:
        cache = self.cache()
        self.storage.tell("SET", "a*[b]:k", bytes(1000))
        self.assertEqual(cache.get("k"), bytes(1000))
        self.storage.tell("SET", "a*[b]:k", bytes(8 << 20))
        self.storage.tell("CONFIG", "RESETSTAT")
        self.assertIsNone(cache.get("k"))
        self.assertFalse(cache.contains("k"))
        self.assertLess(self.storage.tell("INFO", "stats")["total_net_output_bytes"], 100_000)

    def test_what_is_large_is_kept_as_it_is(self) -> None:
        cache = self.cache(bytes_max=4 << 20)
        data = os.urandom(3 << 20)
        self.assertIs(cache.put("k", data, time.time() + 10), True)
        self.assertIn(self.storage.tell("PTTL", "a*[b]:k"), range(1, 100_001))
        self.assertTrue(cache.get("k") == data)

    def test_a_full_server_keeps_nothing_and_has_nothing_old(self) -> None:
        cache = self.cache(bytes_max=4 << 20)
        cache.put("k", b"old", None)
        self.storage.tell("CONFIG", "SET", "maxmemory", "1")
        for data in (b"new", bytes(3 << 20)):
            self.assertIs(cache.put("k", data, None), False)
            self.assertIsNone(cache.get("k"))

    def test_what_the_server_refuses_is_raised(self) -> None:
        cache = self.cache()
        self.storage.tell("LPUSH", "a*[b]:k", "1")
        for call in (cache.get, cache.contains):
            with self.assertRaisesRegex(redis.ResponseError, "wrong kind"):
                call("k")
        self.storage.tell("CONFIG", "SET", "requirepass", "secret")
        with self.assertRaises(redis.RedisError):
            self.cache().get("k")
        for word, is_right in (("wrong", False), ("secret", True)):
            with patch.dict(os.environ, VALKEY_PASSWORD=word):
                cache = self.cache()
            if is_right:
                self.assertIs(cache.put("new", b"1", None), True)
                self.assertEqual(cache.get("new"), b"1")
            else:
                with self.assertRaises(redis.AuthenticationError):
                    cache.put("new", b"1", None)

    def test_a_password_is_read_from_a_file(self) -> None:
        file = Path(self.storage.place).with_name("password")
        file.write_text("secret\n")
        self.storage.tell("CONFIG", "SET", "requirepass", "secret")
        self.assertIs(self.cache(password_file=str(file)).put("new", b"1", None), True)
        file.write_text("wrong\n")
        with self.assertRaises(redis.AuthenticationError):
            self.cache(password_file=str(file)).put("new", b"1", None)

    def test_after_a_restart_no_call_fails(self) -> None:
        cache = self.cache()
        pool = cache.server.connection_pool
        for connection in [pool.get_connection() for _ in range(3)]:
            pool.release(connection)
        self.storage.kill()
        self.storage.start()
        for connection in [pool.get_connection() for _ in range(3)]:
            connection.send_command("PING")
            self.assertEqual(connection.read_response(), b"PONG")
            pool.release(connection)
        self.assertIsNone(cache.get("k"))

    def test_a_call_that_waits_as_the_server_is_killed_fails_and_the_next_does_not(self) -> None:
        cache = self.cache()
        cache.put("k", b"1", None)
        self.storage.halt()
        with ThreadPoolExecutor() as threads:
            call = threads.submit(cache.get, "k")
            self.storage.kill()
            with self.assertRaises(redis.ConnectionError):
                call.result(SECONDS)
        with self.assertRaises(redis.ConnectionError):
            cache.get("k")
        self.storage.start()
        self.assertIsNone(cache.get("k"))


class SilentServerTests(unittest.TestCase):
    """The cache on its own with a server that accepts and reads, but never answers."""

    def test_each_call_asks_once_until_its_time_is_over(self) -> None:
        folder = Path(tempfile.mkdtemp(prefix="ib-", dir="/tmp"))
        self.addCleanup(shutil.rmtree, folder)
        path = str(folder / "a socket?%25")
        for family, address in ((socket.AF_UNIX, path), (socket.AF_INET, ("127.0.0.1", 0))):
            with self.subTest(family), socket.socket(family) as listener:
                listener.bind(address)
                listener.listen()
                place = path
                if family == socket.AF_INET:
                    place = "127.0.0.1:{1}".format(*listener.getsockname())
                with ThreadPoolExecutor() as threads:
                    heard = threads.submit(self.listen, listener)
                    try:
                        self.ask(place)
                    finally:
                        with socket.socket(family) as last:
                            last.connect(listener.getsockname())
                            last.sendall(b"END")
                    self.assertEqual(len(heard.result(SECONDS)), 5)

    def ask(self, place: str) -> None:
        cache = Valkey(
            Namespace(
                server=place, prefix="", timeout=0.5, max_age=100, bytes_max=4 << 20,
                respect_expiry=False, password_file=None,
            )
        )  # fmt: skip
        self.addCleanup(cache.server.close)
        self.addCleanup(cache.many.close)
        large = bytes(3 << 20)
        calls = [
            (lambda: cache.scan(0), 1.0), (lambda: cache.get("k"), 0.5),
            (lambda: cache.remove("k"), 0.5),
            (lambda: cache.put("k", b"1", None), 0.5),
            (lambda: cache.put("k", large, None), 0.5 + len(large) / BYTES_A_SECOND),
        ]  # fmt: skip
        for call, seconds in calls:
            began = time.monotonic()
            with self.assertRaises(redis.TimeoutError):
                call()
            self.assertGreaterEqual(time.monotonic() - began, 0.99 * seconds)

    def listen(self, listener: socket.socket) -> list[bytes]:
        """The data received on each connection. The greeting is refused, requests aren't
        answered."""
        heard: list[bytes] = []
        while True:
            connection, _ = listener.accept()
            connection.settimeout(SECONDS)  # ends connections that wait forever
            said = bytearray()
            with connection, suppress(OSError):
                while data := connection.recv(1 << 16):
                    greetings = said.count(b"SETINFO")
                    said += data
                    greetings = said.count(b"SETINFO") - greetings
                    connection.sendall(greetings * b"-ERR unknown\r\n")
            if said == b"END":
                return heard
            heard.append(bytes(said))


if __name__ == "__main__":
    unittest.main()
