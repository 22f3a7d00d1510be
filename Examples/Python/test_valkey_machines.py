"""Confirmations shared by stacks through one Valkey or Redis server, and removals of very many
entries from it."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import time
import unittest
from collections.abc import Callable

import redis

import imagebus_pb2 as pb
from example_stack import PROGRAMS, SECONDS, Stack, TaggedPicture
from imagebus import Image, resize
from imagebus.steps import request_for
from imagebus_worker.records import HEAD, pack
from test_caches import WAIT_STORE_CACHE
from test_valkey import SharedTierTests
from valkey_server import PROGRAM

RESPECT_CACHE_CONTROL = 1 << 31


@unittest.skipIf(PROGRAM is None, "there is no server: scripts/setup installs one")
class ConfirmationTests(SharedTierTests):
    """A picture confirmed by its origin on one machine is fresh on all."""

    count = 3
    urls = 20

    def serve_stale(self) -> tuple[str, TaggedPicture]:
        """Serves a picture that must be revalidated until it was confirmed once."""
        url, data = self.serve()
        picture = TaggedPicture(
            data, {"Cache-Control": "max-age=60", "Age": "100"}, {"Cache-Control": "max-age=600"}
        )
        self.origin.pictures[self.path(url)] = picture
        return url, picture

    async def load_fresh(self, stack: Stack, url: str, cache: str, *steps: object) -> Image:
        image = request_for(steps, "png" if steps else None, None, False, None)
        image.url, image.context.cache, image.context.original_cache = url, cache, cache
        image.options = WAIT_STORE_CACHE | RESPECT_CACHE_CONTROL
        async with self.client(stack) as client:
            return await client._run(image, SECONDS, None, "")

    def path(self, url: str) -> str:
        return url.removeprefix(self.origin.url(""))

    def confirmations(self, url: str) -> int:
        return self.origin.confirmations[self.path(url)]

    async def until_told(self, url: str) -> None:
        """Waits until the server has the caching data of the 304."""
        deadline = asyncio.get_running_loop().time() + SECONDS
        while not self.storage.tell("EXISTS", f"imagebus:shared\x1f{url}\x1d"):
            self.assertLess(asyncio.get_running_loop().time(), deadline)
            await asyncio.sleep(0.01)

    async def ask_all(self, stacks: list[Stack], url: str, cache: str, *kept: str) -> None:
        """Each stack has a stale picture in these caches, and then requests a fresh one."""
        for stack in stacks:
            for name in kept:
                await self.load(stack, url, name)
        for place, stack in enumerate(stacks):
            image = await self.load_fresh(stack, url, cache)
            self.assertEqual(bytes(image.data), self.origin.pictures[self.path(url)].data)
            if place == 0:
                await self.until_told(url)

    async def test_three_machines_ask_as_often_as_one(self) -> None:
        await self.until_connected("shared")
        for cache, kept in (
            ("shared", ["shared"]), ("tiers", ["tiers"]), ("tiers", ["shared", "local"]),
        ):  # fmt: skip
            counts = []
            for stacks in (self.stacks[:1], self.stacks):
                urls = [self.serve_stale()[0] for _ in range(self.urls)]
                for url in urls:
                    await self.ask_all(stacks, url, cache, *kept)
                whole = 1 + len(stacks) if "local" in kept else 1
                self.assertEqual(sum(map(self.gets, urls)), whole * self.urls + self.asked(urls))
                counts.append(self.asked(urls))
            self.assertEqual(counts[0], self.urls)
            self.assertLessEqual(counts[1], 1.1 * counts[0], (cache, kept))

    def asked(self, urls: list[str]) -> int:
        return sum(map(self.confirmations, urls))

    async def test_a_confirmed_original_serves_for_what_another_makes_of_it(self) -> None:
        await self.until_connected("shared")
        url, _ = self.serve_stale()
        first, second, third = self.stacks
        await self.load_fresh(first, url, "tiers")
        await self.load_fresh(second, url, "tiers", resize(9, 9))
        self.assertEqual(self.confirmations(url), 1, "it was stale as it came")
        await self.until_told(url)
        await self.load_fresh(third, url, "tiers", resize(8, 8))
        await self.load_fresh(second, url, "tiers", resize(9, 9))
        self.assertEqual(self.confirmations(url), 1)

    async def test_a_confirmation_brings_nothing_back(self) -> None:
        await self.until_connected("shared")
        url, _ = self.serve_stale()
        first, second, _ = self.stacks
        await self.ask_all([first], url, "tiers", "tiers")
        key = f"imagebus:shared\x1f{url}"
        self.assertEqual(self.storage.tell("UNLINK", key), 1, "another machine has removed it")
        await self.load(second, url, "tiers")
        self.assertEqual(self.gets(url), 3, "a confirmation alone is not an entry")
        self.storage.tell("UNLINK", key)
        self.storage.tell("UNLINK", f"{key}\x1d")
        before = self.counter(second, "Writes", "shared")
        await self.load_fresh(second, url, "tiers")
        # It was queried and updated.
        await self.until(lambda: self.counter(second, "Writes", "shared") >= before + 2)
        self.assertEqual(self.storage.tell("EXISTS", key, f"{key}\x1d"), 0)

    async def until(self, is_so: Callable[[], bool]) -> None:
        deadline = asyncio.get_running_loop().time() + SECONDS
        while not is_so():
            self.assertLess(asyncio.get_running_loop().time(), deadline)
            await asyncio.sleep(0.05)

    async def test_with_the_server_gone_each_asks_its_origin(self) -> None:
        await self.until_connected("shared")
        url, _ = self.serve_stale()
        for stack in self.stacks:
            await self.load(stack, url, "local")
        self.storage.kill()
        for stack in self.stacks:
            await self.load_fresh(stack, url, "tiers")
        self.assertEqual(self.confirmations(url), 3)


@unittest.skipIf(PROGRAM is None, "there is no server: scripts/setup installs one")
class RemovalTests(SharedTierTests):
    """Many entries, with the default timeouts."""

    count = 1
    entries = 50_000
    configuration = """
pools:
  shared: {{kind: cache, trust: external, credit: 16, command: [{command}]}}
caches:
  shared: {{pool: shared}}
"""
    timeout = 0.05

    def setUp(self) -> None:
        super().setUp()
        self.stack = self.stacks[0]

    def fill(self, stored: int | None = None) -> None:
        """Creates entries with a tag below one host, and others that must not be removed."""
        metadata = pb.Metadata(tags=["red"])
        metadata.info.format, metadata.info.width, metadata.info.height = 1, 1, 1
        body = os.urandom(4096)
        with redis.Redis(unix_socket_path=self.storage.place, protocol=2) as server:
            old = self.record(metadata, body, stored)
            for start in range(0, self.entries, 1000):
                names = (f"imagebus:shared\x1fhttp://red/{n}" for n in range(start, start + 1000))
                server.mset({name: old for name in names})
            del metadata.tags[:]
            new = pack(metadata, body)
            server.mset({f"imagebus:shared\x1fhttp://blue/{n}": new for n in range(100)})

    @staticmethod
    def record(metadata: pb.Metadata, body: bytes, stored: int | None) -> bytes:
        data = pack(metadata, body)
        if stored is None:
            return data
        mark, length, _, digest = HEAD.unpack_from(data)
        return HEAD.pack(mark, length, stored, digest) + data[HEAD.size :]

    def begin(self, *words: str) -> subprocess.Popen[str]:
        command = [
            PROGRAMS / "imagebus", "cache", "remove", *words, "--cache", "shared",
            "--runtime-dir", self.stack.runtime_dir,
        ]  # fmt: skip
        return subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def left(self) -> int:
        return self.storage.tell("DBSIZE")

    async def until_removing(self) -> None:
        deadline = asyncio.get_running_loop().time() + SECONDS
        while self.left() == self.entries + 100:
            self.assertLess(asyncio.get_running_loop().time(), deadline)
            await asyncio.sleep(0.005)

    async def until_a_step_is_done(self) -> None:
        deadline = asyncio.get_running_loop().time() + SECONDS
        while self.counter(self.stack, "Writes", "shared") == 0:
            self.assertLess(asyncio.get_running_loop().time(), deadline)

    async def test_very_many_are_removed_while_loads_go_on(self) -> None:
        old = int(1000 * (time.time() - 3600))
        for words in (["--tag", "red"], ["--prefix", "http://red/"], ["--older-than", "30m"]):
            with self.subTest(words[0]):
                self.storage.tell("FLUSHALL")
                self.fill(stored=old)
                url, picture = self.serve()
                with self.begin(*words) as removal:
                    await self.until_removing()
                    loads = 0
                    while removal.poll() is None:
                        image = await self.load(self.stack, url, "shared")
                        self.assertEqual(bytes(image.data), picture)
                        loads += self.left() > 101
                    said, progress = removal.communicate()
                self.assertEqual(removal.returncode, 0, progress)
                self.assertRegex(said, "^removed .*50000 from disk")
                self.assertRegex(progress, r"removed \d+, examined \d+ of \d+")
                self.assertIn(self.left(), (100, 101), "others stay, and what was loaded")
                self.assertGreater(loads, 0, "loads end before the removal does")

    async def test_a_server_that_ends_in_the_middle_leaves_a_rest(self) -> None:
        self.fill()
        with self.begin("--tag", "red") as removal:
            await self.until_a_step_is_done()
            self.storage.kill()
            said, progress = removal.communicate()
        self.assertNotEqual(removal.returncode, 0)
        self.assertEqual(said, "")
        found = re.search(r"(\d+) of its entries were removed, about (\d+) entries", progress)
        self.assertIsNotNone(found, progress)
        removed, left = map(int, found.groups())
        self.assertGreater(left, 0)
        self.assertLess(removed, self.entries)

    async def test_who_gives_up_ends_the_removal(self) -> None:
        self.fill()
        with self.begin("--tag", "red") as removal:
            await self.until_removing()
            removal.kill()
            removal.communicate()
        left = -1
        while left != self.left():
            left = self.left()
            await asyncio.sleep(1)
        self.assertGreater(left, 100)


if __name__ == "__main__":
    unittest.main()
