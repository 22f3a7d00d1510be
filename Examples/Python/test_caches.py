"""Plug-in caches with a real stack: hits, and behavior without them."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import threading
from pathlib import Path

import imagebus_pb2 as pb
from dictionary_cache import Dictionary
from example_stack import SECONDS, Stack, png
from imagebus import Image, resize
from imagebus.aio import Client
from imagebus.steps import request_for
from imagebus_worker import Cache
from imagebus_worker.failure import Cancelled
from imagebus_worker.records import pack, unpack
from imagebus_worker.segments import arena_folder
from imagebus_worker.selection import is_of, means
from imagebus_worker.turns import Turns
from test_workers import LyingSegments
from worker_bench import Serving, WorkerTests

WAIT_STORE_CACHE = 1 << 22
CONFIGURATION = """
pools:
  team: {kind: cache, trust: external, credit: 16}
  hasty: {kind: cache, trust: external, credit: 16}
caches:
  own:
  theirs: {pool: team, timeout: 10000}
  second: {pool: team, timeout: 10000}
  hasty: {pool: hasty, timeout: 100}
  last: {of: [theirs, own], store: serial}
  first: {of: [own, theirs], store: serial}
  any: {of: [own, theirs], query: concurrent, store: concurrent}
  highest: {of: [own, theirs], query: highest-only, store: highest-only}
  lowest: {of: [theirs, own], query: lowest-only, store: lowest-only}
"""


class CacheTests(WorkerTests):
    configuration = CONFIGURATION

    def setUp(self) -> None:
        """A new stack for each test, as an earlier one may have opened the circuit of a pool."""
        self.stack = Stack(self.origin, "--config", str(self.folder / "imagebus.yaml"))
        self.addCleanup(self.stack.remove)
        self.stack.start()

    def dictionary(self) -> Dictionary:
        return Dictionary(64 << 20)

    async def assert_loads(self, url: str, picture: bytes, cache: str) -> None:
        async with self.client() as client:
            image = await self.load(client, url, cache)
            self.assertEqual(bytes(image.data), picture)

    async def load(
        self, client: Client, url: str, cache: str, *steps: object, original: str = "",
        waits: bool = True,
    ) -> Image:  # fmt: skip
        """Waits until it is stored, unless told otherwise."""
        image = request_for(steps, None, None, False, None)
        image.url, image.context.cache = url, cache
        image.context.original_cache = original or cache
        image.options = WAIT_STORE_CACHE if waits else 0
        return await client._run(image, SECONDS, None, "")

    async def run_command(self, *words: str) -> str:
        """Runs a command concurrently with the worker, which runs in this test's loop."""
        return (await asyncio.to_thread(self.stack.run, *words)).decode().strip()

    def counter(self, name: str, pool: str = "team") -> int:
        return self.stack.counters().get(f"foreignCache{name}.{pool}", 0)

    def serve_png(self, seed: int) -> tuple[str, bytes]:
        picture = png(60, 40, seed)
        path = f"/{self.id()}-{len(self.origin.pictures)}.png"
        self.origin.pictures[path] = picture
        return self.origin.url(path), picture

    def gets(self, url: str) -> int:
        return self.origin.gets[url.removeprefix(self.origin.url(""))]


class GivenTests(CacheTests):
    """Working caches."""

    async def test_as_the_cache_of_results_it_gives_what_it_was_given(self) -> None:
        url, picture = self.serve_png(1)
        entries = self.dictionary()
        async with Serving(entries, self.stack, "team"), self.client() as client:
            first = await self.load(client, url, "theirs", resize(20, 20))
            self.assertEqual(len(entries.keys()), 2, "result and original")
            second = await self.load(client, url, "theirs", resize(20, 20))
            self.assertEqual((first.cache_type, second.cache_type), (0, 1))
            self.assertEqual((second.width, second.height), (first.width, first.height))
            self.assertEqual(bytes(second.data), bytes(first.data))
            whole = await self.load(client, url, "theirs")
            self.assertEqual(bytes(whole.data), picture)
            self.assertEqual(self.gets(url), 1)
            key = next(key for key in entries.keys() if "Resizing" in key or "Fit" in key)
            record = unpack(entries.get(key))
            self.assertEqual(bytes(record.body), bytes(first.data))
            self.assertEqual((record.metadata.info.width, record.metadata.digest), (20, b""))
        await self.until("its segments go", lambda: not list(self.segments()))

    def segments(self, pool: str = "team") -> list[Path]:
        return list(arena_folder(self.stack.runtime_dir, pool).iterdir())

    async def test_as_the_cache_of_originals_it_gives_them_to_decoders(self) -> None:
        url, _ = self.serve_png(2)
        entries = self.dictionary()
        async with Serving(entries, self.stack, "team"), self.client() as client:
            await self.load(client, url, "own", resize(20, 20), original="theirs")
            self.assertEqual(entries.keys(), [f"theirs\x1f{url}"])
            other = await self.load(client, url, "own", resize(10, 10), original="theirs")
            self.assertEqual((other.width, other.cache_type), (10, 1))
            self.assertEqual(self.gets(url), 1)

    async def test_one_pool_holds_several_caches(self) -> None:
        url, _ = self.serve_png(3)
        entries = self.dictionary()
        async with Serving(entries, self.stack, "team"), self.client() as client:
            await self.load(client, url, "theirs")
            await self.load(client, url, "second")
            self.assertEqual(set(entries.keys()), {f"theirs\x1f{url}", f"second\x1f{url}"})
            await self.run_command("cache", "clear", "--cache", "second")
            self.assertEqual(entries.keys(), [f"theirs\x1f{url}"])

    async def test_as_a_member_it_is_asked_and_told_as_each_policy_says(self) -> None:
        for seed, (name, theirs, own) in enumerate([
            ("last", True, True), ("first", True, True), ("any", True, True),
            ("highest", True, False), ("lowest", True, False),
        ]):  # fmt: skip
            with self.subTest(name):
                url, picture = self.serve_png(10 + seed)
                entries = self.dictionary()
                async with Serving(entries, self.stack, "team"), self.client() as client:
                    await self.load(client, url, name)
                    self.assertEqual(f"theirs\x1f{url}" in entries.keys(), theirs)
                    self.assertEqual(await self.tiers(url, "own") != "none", own)
                    self.assertEqual(await self.tiers(url, "theirs"), "disk")
                    # Each of them alone serves it.
                    await self.run_command("cache", "clear", "--cache", "own")
                    self.assertEqual(await self.tiers(url, name), "disk")
                    image = await self.load(client, url, name)
                    self.assertEqual((bytes(image.data), image.cache_type), (picture, 1))
                    await self.load(client, url, name)
                    await self.run_command("cache", "remove", url, "--cache", "theirs")
                    self.assertEqual(entries.keys(), [])
                    await self.load(client, url, name)
                    # Our own cache has it by then, if it is queried before the external one.
                    self.assertEqual(self.gets(url), 1 if name in ("last", "any") else 2)
                    await self.run_command("cache", "remove", url, "--cache", name)
                    self.assertEqual(await self.tiers(url, name), "none")

    async def tiers(self, key: str, cache: str) -> str:
        return await self.run_command("cache", "contains", key, "--cache", cache)

    async def test_entries_are_removed_by_url_prefix_tag_and_age(self) -> None:
        entries = self.dictionary()
        async with Serving(entries, self.stack, "team"), self.client() as client:
            one, two = self.serve_png(20)[0], self.serve_png(21)[0]
            for url in (one, two):
                await self.load(client, url, "theirs", resize(9, 9))
            await self.run_command("cache", "remove", "--url", one, "--cache", "theirs")
            self.assertTrue(entries.keys() and all(two[:-4] in key for key in entries.keys()))
            await self.run_command("cache", "remove", "--tag", "none", "--cache", "theirs")
            await self.run_command("cache", "remove", "--older-than", "1d", "--cache", "theirs")
            self.assertEqual(len(entries.keys()), 2)
            await self.run_command("cache", "remove", "--prefix", two[:-4], "--cache", "theirs")
            self.assertEqual(entries.keys(), [])
            await self.load(client, one, "theirs")
            with self.assertRaisesRegex(AssertionError, "no worker of the pool 'hasty'"):
                await self.run_command("cache", "clear", "--all")
            self.assertEqual(entries.keys(), [], "the others are cleared all the same")

    async def test_it_is_counted(self) -> None:
        url, _ = self.serve_png(30)
        before = {name: self.counter(name) for name in ("Hits", "Misses", "Writes")}
        async with Serving(self.dictionary(), self.stack, "team"), self.client() as client:
            await self.load(client, url, "theirs")
            await self.load(client, url, "theirs")
        after = {name: self.counter(name) - count for name, count in before.items()}
        self.assertEqual(after["Hits"], 1)
        self.assertGreaterEqual(after["Misses"], 1)
        self.assertGreaterEqual(after["Writes"], 1)
        metrics = await self.run_command("status", "--prometheus")
        self.assertIn('imagebus_foreign_cache_hits_total{pool="team"}', metrics)


class GoneTests(CacheTests):
    """A cache that is missing, slow, or returns wrong values."""

    def start(self, pool: str) -> subprocess.Popen[bytes]:
        return self.launch("dictionary_cache.py", pool)

    def workers(self, pool: str) -> int:
        pools = json.loads(self.stack.run("status", "--json"))["pools"]
        return next(row["workers"] for row in pools if row["name"] == pool)

    async def until_workers(self, pool: str, count: int) -> None:
        await self.until("a worker", lambda: self.workers(pool) == count)

    async def test_without_a_worker_loads_go_on_and_removals_say_so(self) -> None:
        url, picture = self.serve_png(40)
        await self.assert_loads(url, picture, "theirs")
        await self.assert_loads(url, picture, "theirs")
        self.assertEqual(self.gets(url), 2)
        with self.assertRaisesRegex(AssertionError, "no worker of the pool 'team'"):
            await self.run_command("cache", "remove", url, "--cache", "theirs")

    async def test_a_killed_one_is_done_without_and_the_next_one_serves(self) -> None:
        process = self.start("team")
        await self.until_workers("team", 1)
        url, picture = self.serve_png(41)
        await self.assert_loads(url, picture, "theirs")
        await self.assert_loads(url, picture, "theirs")
        self.assertEqual(self.gets(url), 1)
        process.kill()
        await self.until_workers("team", 0)
        await self.assert_loads(url, picture, "theirs")
        self.start("team")
        await self.until_workers("team", 1)
        await self.assert_loads(url, picture, "theirs")
        await self.assert_loads(url, picture, "theirs")
        self.assertEqual(self.gets(url), 3)

    async def test_a_halted_one_costs_its_patience_and_is_left_alone(self) -> None:
        process = self.start("hasty")
        await self.until_workers("hasty", 1)
        process.send_signal(signal.SIGSTOP)
        for seed in range(8):
            url, picture = self.serve_png(50 + seed)
            await self.assert_loads(url, picture, "hasty")
        self.assertGreaterEqual(self.counter("Slow", "hasty"), 5)
        self.assertGreaterEqual(self.counter("Skipped", "hasty"), 1)
        process.send_signal(signal.SIGCONT)

    async def test_many_loads_go_on_while_one_is_killed_in_the_middle(self) -> None:
        pictures = [self.serve_png(100 + seed) for seed in range(12)]
        process = self.start("team")
        await self.until_workers("team", 1)
        async with self.client() as client:

            async def load(url: str, picture: bytes) -> None:
                for _ in range(4):
                    image = await self.load(client, url, "first", waits=False)
                    self.assertEqual(bytes(image.data), picture)

            loads = [asyncio.create_task(load(*one)) for one in pictures]
            await asyncio.wait(loads, return_when=asyncio.FIRST_COMPLETED)
            process.kill()
            self.start("team")
            await asyncio.gather(*loads)

    async def test_who_lies_of_its_bytes_loses_its_session_and_no_load(self) -> None:
        for seed, lie in enumerate([
            {"length": 1 << 30}, {"segment": 99}, {"offset": 0}, {"offset": 1 << 40},
        ]):  # fmt: skip
            url, picture = self.serve_png(60 + seed)
            liar = Serving(self.dictionary(), self.stack, "team")
            async with liar:
                await self.assert_loads(url, picture, "theirs")
                arena = arena_folder(self.stack.runtime_dir, "team")
                segments = LyingSegments(arena, liar.worker.incarnation)
                segments.lie = lie
                liar.worker._segments = segments
                await self.assert_loads(url, picture, "theirs")
                async with asyncio.timeout(SECONDS):
                    self.assertEqual(await liar._task, 70, lie)

    async def test_bytes_that_are_another_image_or_none_are_a_miss_and_removed(self) -> None:
        url, picture = self.serve_png(70)
        entries = self.dictionary()
        async with Serving(entries, self.stack, "team") as worker:
            await self.assert_loads(url, picture, "theirs")
            key = f"theirs\x1f{url}"
            metadata = unpack(entries.get(key)).metadata
            torn = bytearray(entries.get(key))
            torn[-20] ^= 1
            wrong = pb.Metadata()
            wrong.CopyFrom(metadata)
            wrong.info.format = pb.IMAGE_FORMAT_WEBP
            for bad in (
                pack(metadata, b"no image"), pack(metadata, picture[: len(picture) // 2][:20]),
                pack(metadata, png(10, 10, 1)), pack(wrong, picture), b"", b"\xff" * 100,
                pack(metadata, b""), bytes(torn), bytes(entries.get(key))[:-1],
            ):  # fmt: skip
                entries.put(key, bad, None)
                await self.assert_loads(url, picture, "theirs")
                stored = unpack(entries.get(key))
                self.assertEqual(bytes(stored.body), picture, "the right one is stored again")
            self.assertTrue(worker._has_session)
        self.assertGreaterEqual(self.counter("Refused"), 4)

    async def test_an_original_that_is_no_image_is_a_miss(self) -> None:
        url, picture = self.serve_png(80)
        entries = self.dictionary()
        async with Serving(entries, self.stack, "team"), self.client() as client:
            await self.load(client, url, "own", resize(20, 20), original="theirs")
            key = f"theirs\x1f{url}"
            entries.put(key, pack(unpack(entries.get(key)).metadata, b"no image"), None)
            image = await self.load(client, url, "own", resize(30, 30), original="theirs")
            self.assertEqual((image.width, self.gets(url)), (30, 2))

    async def test_what_an_author_does_not_foresee_is_a_miss(self) -> None:
        class Broken(Cache):
            def get(self, key: str) -> bytes | None:
                raise RuntimeError("a secret of the author")

            def put(self, key: str, data: bytes, expires: float | None) -> None:
                raise OSError("no")

            def contains(self, key: str) -> bool:
                return True

            def remove(self, key: str) -> None:
                raise ValueError("no")

        url, picture = self.serve_png(90)
        async with Serving(Broken(), self.stack, "team") as worker:
            await self.assert_loads(url, picture, "theirs")
            with self.assertRaisesRegex(AssertionError, "theirs.*failed.*ValueError"):
                await self.run_command("cache", "remove", url, "--cache", "theirs")
            self.assertTrue(worker._has_session)

    async def test_who_cannot_say_its_keys_removes_one_or_all(self) -> None:
        class Silent(Dictionary):
            def keys(self) -> None:
                return None

        url, picture = self.serve_png(91)
        async with Serving(Silent(1 << 20), self.stack, "team"):
            await self.assert_loads(url, picture, "theirs")
            with self.assertRaisesRegex(AssertionError, "single keys or of all keys"):
                await self.run_command("cache", "remove", "--url", url, "--cache", "theirs")
            await self.run_command("cache", "clear", "--cache", "theirs")
            await self.assert_loads(url, picture, "theirs")
            self.assertEqual(self.gets(url), 2)

    async def test_what_was_removed_is_not_put_back_by_a_store_that_was_under_way(self) -> None:
        began, gate = threading.Event(), threading.Event()
        self.addCleanup(gate.set)

        class Slow(Dictionary):
            def put(self, key: str, data: bytes, expires: float | None) -> bool:
                began.set()
                gate.wait(SECONDS)
                return super().put(key, data, expires)

        url, _ = self.serve_png(92)
        entries = Slow(64 << 20)
        async with Serving(entries, self.stack, "team"), self.client() as client:
            await self.load(client, url, "theirs", waits=False)
            self.assertTrue(await asyncio.to_thread(began.wait, SECONDS))
            removal = asyncio.create_task(
                self.run_command("cache", "remove", url, "--cache", "theirs")
            )
            await self.until("the removal came", lambda: self.is_waiting(entries))
            gate.set()
            await removal
            self.assertEqual(entries.keys(), [])

    @staticmethod
    def is_waiting(entries: Dictionary) -> bool:
        return len(entries._turns._condition._waiters) > 0  # type: ignore[attr-defined]


class TurnTests(WorkerTests):
    def test_who_is_not_wanted_waits_for_nobody(self) -> None:
        turns = Turns()

        def is_gone() -> None:
            raise Cancelled

        def is_wanted() -> None:
            pass

        with turns.of("a", is_wanted):
            with self.assertRaises(Cancelled), turns.of("a", is_gone):
                self.fail("it is not its turn")
            with self.assertRaises(Cancelled), turns.of_all(is_gone):
                self.fail("it is not its turn")
            with turns.of("b", is_gone):
                pass
        with turns.of_all(is_gone):
            pass


class SelectionTests(WorkerTests):
    """Like `CacheKey.isOf`, possibly selecting more entries."""

    def test_what_is_made_of_a_url_is_found_by_its_key(self) -> None:
        url = "http://host/a/b.jpg?x=1"
        made = [url, "http://host/a/b-Thumbnail({1,1},1).jpg?x=1", f"{url}-Vary(0a)"]
        others = ["http://host/a/b.jpg", "http://host/a/bc.jpg?x=1", "http://host/a/c.jpg?x=1"]
        self.assertEqual([is_of(url, key) for key in made], [True] * 3)
        self.assertEqual([is_of(url, key) for key in others], [False] * 3)
        plain = "http://host.name/a"
        self.assertTrue(is_of(plain, f"{plain}-Frame(1)"))
        self.assertFalse(is_of(plain, "http://host.name/ab"))
        selection = pb.EntrySelection(cache="c", prefix="http://host/")
        self.assertTrue(means(selection, f"c\x1f{url}\x1eowner"))
        self.assertFalse(means(selection, f"d\x1f{url}"))
        self.assertFalse(means(selection, url))
