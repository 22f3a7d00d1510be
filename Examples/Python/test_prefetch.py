"""Lists of URLs: with a real stack, and the reports about long lists."""

from __future__ import annotations

import asyncio
import unittest

import imagebus_pb2 as pb
from example_stack import ExampleTests, png
from imagebus import PrefetchReport, errors, resize
from imagebus.aio import Client
from imagebus.prefetch import PART_BYTES_MAX, parts_of
from test_sessions import SECONDS, Script, ScriptedTests


class PrefetchTests(ExampleTests):
    async def test_what_was_prefetched_is_at_hand(self) -> None:
        urls = [self.serve(png(64, 48, seed)) for seed in range(8)]
        missing = self.origin.url("/missing.png")
        told: list[PrefetchReport] = []
        async with self.client() as client:
            how = dict(format="webp", quality=75)
            report = await client.prefetch(
                [*urls, missing], resize(32, 32), **how, concurrency=4, report=told.append
            )
            self.assertTrue(report.is_final)
            self.assertEqual((report.total, report.finished, report.skipped), (9, 9, 1))
            self.assertEqual(report.errors, {"invalidDownloadStatusCode": 1})
            ((url, error),) = report.failures
            self.assertEqual((url, type(error)), (missing, errors.InvalidDownloadStatusCode))
            for url in urls:
                image = await client.load(url, resize(32, 32), **how)
                self.assertEqual((image.cache_type, image.format, self.gets(url)), (2, "webp", 1))
            again = await client.prefetch(urls, resize(32, 32), **how)
            self.assertEqual((again.finished, again.cached, again.skipped), (8, 8, 0))
        self.assertTrue(all(report.finished <= report.total for report in told))

    async def test_a_cancelled_one_lets_go_of_the_origin(self) -> None:
        url, picture = self.serve_slowly(png(64, 48, 20))
        async with self.client() as client:
            prefetch = asyncio.create_task(client.prefetch([url]))
            await self.until_asked(picture)
            prefetch.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await prefetch
            await self.until_broken(picture)

    async def test_an_empty_list_and_one_that_is_wrong(self) -> None:
        async with self.client() as client:
            self.assertEqual((await client.prefetch([])).total, 0)
            for urls, concurrency in (["http://a/"], 0), (["http://a/"], 65), (["x" * 8_193], 1):
                with self.assertRaises(ValueError):
                    await client.prefetch(urls, concurrency=concurrency)


class LongListTests(ScriptedTests):
    """With a scripted coordinator."""

    def report(self, batch: bytes, total: int, finished: int, **more: object) -> pb.PrefetchReport:
        return pb.PrefetchReport(batch=batch, total=total, finished=finished, **more)

    async def go_round(self, client: Client) -> None:
        """Waits until earlier messages were processed, and those due have arrived."""
        load = self.start(client.load("http://round/"))
        await self.script.say(self.image((await self.script.expect(pb.Load)).token))
        await load

    async def test_a_long_list_is_kept_back_and_begins_anew_with_a_session(self) -> None:
        client = await self.connect()
        urls = [f"http://a/{number}" for number in range(5_000)]
        prefetch = self.start(client.prefetch(urls))
        parts = [await self.script.expect(pb.Prefetch) for _ in range(4)]
        self.assertEqual([len(part.urls) for part in parts], [1_024] * 4)
        self.assertEqual({part.batch for part in parts}, {parts[0].batch})
        await self.go_round(client)  # and no further part
        batch = parts[0].batch
        await self.script.say(self.report(batch, 4_096, 903))
        await self.script.say(self.report(batch, 4_096, 904))
        last = await self.script.expect(pb.Prefetch)
        self.assertEqual((len(last.urls), last.is_last), (904, True))
        sent = [url for part in [*parts, last] for url in part.urls]
        self.assertEqual(sent, urls)
        await self.script.say(pb.HelloRequired())
        await self.script.welcome()
        again = await self.script.expect(pb.Prefetch)
        self.assertEqual((again.batch, list(again.urls)), (batch, urls[:1_024]))
        await self.script.say(self.report(batch, 5_000, 5_000, is_final=True, skipped=2))
        async with asyncio.timeout(SECONDS):
            self.assertEqual((await prefetch).skipped, 2)

    async def test_one_that_is_refused_ends(self) -> None:
        client = await self.connect()
        prefetch = self.start(client.prefetch(["http://a/"]))
        batch = (await self.script.expect(pb.Prefetch)).batch
        error = pb.Error(code=pb.ERROR_CODE_LIMIT_EXCEEDED, message="too many")
        await self.script.say(pb.Refused(token=batch, error=error))
        with self.assertRaises(errors.LimitExceeded):
            await prefetch

    async def test_one_goes_on_with_the_coordinator_after_the_one_that_ends(self) -> None:
        client = await self.connect()
        prefetch = self.start(client.prefetch(["http://a/"]))
        batch = (await self.script.expect(pb.Prefetch)).batch
        error = pb.Error(code=pb.ERROR_CODE_SHUTTING_DOWN, message="it ends")
        await self.script.say(pb.Refused(token=batch, error=error))
        await self.go_round(client)
        self.script.close()
        self.script = Script(self.folder)
        await self.script.welcome()
        self.assertEqual((await self.script.expect(pb.Prefetch)).batch, batch)
        await self.script.say(self.report(batch, 1, 1, is_final=True))
        async with asyncio.timeout(SECONDS):
            self.assertEqual((await prefetch).finished, 1)

    async def test_a_client_that_is_closed_ends_it(self) -> None:
        client = await self.connect()
        prefetch = self.start(client.prefetch(["http://a/"]))
        await self.script.expect(pb.Prefetch)
        await client.__aexit__()
        with self.assertRaises(errors.Cancelled):
            await prefetch


class PartTests(unittest.TestCase):
    def test_parts_fit_into_messages(self) -> None:
        urls = ["x" * size for size in (8_192, 1, 8_000) * 700]
        parts = parts_of(urls)
        self.assertEqual([url for part in parts for url in part], urls)
        self.assertTrue(all(sum(map(len, part)) <= PART_BYTES_MAX for part in parts))
        self.assertTrue(all(1 <= len(part) <= 1_024 for part in parts))
        self.assertEqual([len(part) for part in parts_of(["x"] * 2_049)], [1_024, 1_024, 1])


if __name__ == "__main__":
    unittest.main()
