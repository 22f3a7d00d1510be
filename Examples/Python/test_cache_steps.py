"""Plug-in caches: removals in steps, and confirmations of entries."""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections.abc import Callable

import imagebus_pb2 as pb
from dictionary_cache import Dictionary
from example_stack import SECONDS
from imagebus_worker.records import pack, unpack
from imagebus_worker.report import Report
from test_caches import CacheTests
from worker_bench import Serving


class StepTests(CacheTests):
    """Removals in steps, and confirmations of entries."""

    class Stepwise(Dictionary):
        """Three keys per call; `gate` is called before each."""

        gate: Callable[[], None] = staticmethod(lambda: None)
        pause = 0.0

        def scan(self, after: int) -> tuple[list[str], int]:
            self.gate()
            time.sleep(self.pause)
            if after == 0:
                self.listed = self.keys()
            keys = self.listed[after : after + 3]
            after += 3
            return keys, after if after < len(self.listed) else 0

        def count(self) -> int:
            return len(self.keys())

    def fill(self, count: int) -> Stepwise:
        entries = self.Stepwise(64 << 20)
        metadata = pb.Metadata(tags=["red"])
        metadata.info.format, metadata.info.width, metadata.info.height = 1, 1, 1
        for number in range(count):
            entries.put(f"theirs\x1fhttp://h/{number}", pack(metadata, b"bytes"), None)
        return entries

    async def test_each_step_is_a_job_and_others_come_in_between(self) -> None:
        entries = self.fill(12)
        entries.pause = 0.11
        url, picture = self.serve_png(93)
        async with Serving(entries, self.stack, "team"):
            await self.assert_loads(url, picture, "theirs")
            before = self.counter("Writes")
            said = await self.run_command("cache", "remove", "--tag", "red", "--cache", "theirs")
            self.assertIn("12 from disk", said)
            self.assertGreaterEqual(self.counter("Writes") - before, 4)
            await self.assert_loads(url, picture, "theirs")
            self.assertEqual(self.gets(url), 1, "it has no tag")

    async def test_a_worker_that_is_killed_leaves_a_rest_that_is_told(self) -> None:
        entries = self.fill(12)
        entries.pause = 0.11
        asked, gate, calls = threading.Semaphore(0), threading.Event(), itertools.count(1)
        self.addCleanup(gate.set)

        def stop_in_the_third() -> None:
            asked.release()
            if next(calls) == 3:
                gate.wait(SECONDS)

        entries.gate = stop_in_the_third
        async with Serving(entries, self.stack, "team") as worker:
            removal = asyncio.create_task(
                self.run_command("cache", "remove", "--tag", "red", "--cache", "theirs")
            )
            for _ in range(3):
                self.assertTrue(await asyncio.to_thread(asked.acquire, timeout=SECONDS))
            worker._end(0)
            with self.assertRaisesRegex(AssertionError, "6 of its entries were removed, about 6 "):
                await removal

    async def test_an_earlier_coordinator_has_all_removed_at_once(self) -> None:
        entries = self.fill(12)
        entries.pause = 0.11
        entry = pb.Entry(action=pb.ENTRY_ACTION_REMOVE_SELECTED)
        entry.selection.tag = "red"
        report = Report(SECONDS, 0, lambda *_: None, lambda _: None)
        page = entries._entry(entry, report).entries
        self.assertEqual((page.next, page.disk.entries, page.examined), (0, 12, 12))
        self.assertEqual(entries.keys(), [])

    def test_what_confirms_an_entry_counts_beside_it_alone(self) -> None:
        entries = Dictionary(1 << 20)
        report = Report(SECONDS, 0, lambda *_: None, lambda _: None)

        def ask(action: pb.EntryAction, **more: object) -> pb.Outcome:
            return entries._entry(pb.Entry(action=action, key="k", **more), report)

        def known() -> tuple[str, int] | None:
            outcome = ask(pb.ENTRY_ACTION_CONTAINS, wants_validity=True)
            if not outcome.HasField("validity"):
                return None
            return outcome.validity.etag, outcome.validity.caching.age.born

        def renew(etag: str, born: int) -> int:
            renewal = pb.Validity(etag=etag)
            renewal.caching.age.born = born
            return ask(pb.ENTRY_ACTION_RENEW, renewal=renewal).entry.tiers

        def put(etag: str, born: int) -> None:
            metadata = pb.Metadata(etag=etag)
            metadata.caching.age.born = born
            entries.put("k", pack(metadata, b"bytes" * 2000), None)

        self.assertEqual(renew("1", 5), 0)
        self.assertEqual(entries.keys(), [], "nothing is confirmed that is not there")
        put("1", 5)
        self.assertEqual((known(), renew("2", 9), known()), (("1", 5), 0, ("1", 5)))
        self.assertEqual((renew("1", 9), known()), (1, ("1", 9)))
        self.assertEqual((renew("1", 7), known()), (1, ("1", 9)), "the later word counts")
        body = unpack(entries.get("k"))
        self.assertEqual((body.metadata.caching.age.born, len(body.body)), (5, 10_000))
        put("2", 3)
        self.assertEqual(known(), ("2", 3), "of other bytes nothing is known")
        put("1", 12)
        self.assertEqual(known(), ("1", 12))
        entries.remove("k")
        self.assertIsNone(known())
        put("1", 12)
        self.assertEqual(renew("1", 15), 1)
        ask(pb.ENTRY_ACTION_REMOVE)
        self.assertEqual(entries.keys(), [], "it goes with its entry")

    def test_a_selection_by_text_takes_what_only_confirms_along(self) -> None:
        entries = self.fill(2)
        entries.put("theirs\x1fhttp://gone/\x1d", b"orphan", None)
        entries.put("theirs\x1fhttp://h/1\x1d", b"of an entry", None)
        entry = pb.Entry(action=pb.ENTRY_ACTION_REMOVE_SELECTED)
        entry.selection.prefix = "http://"
        report = Report(SECONDS, 0, lambda *_: None, lambda _: None)
        page = entries._entry(entry, report).entries
        self.assertEqual((page.disk.entries, entries.keys()), (2, []))
