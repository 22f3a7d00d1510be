"""SDWebImage's behavior as seen by this client: rows of Tests/ConformanceTests/CASES.md, whose head
lists them. Each test is named after the number of its row, like that row's test in Swift."""

from __future__ import annotations

import asyncio
import io
import unittest
from collections.abc import Coroutine
from typing import Any

import PIL.Image

from example_stack import SECONDS, ExampleTests, TaggedPicture, png
from imagebus import (
    Cached, Image, Loaded, Options, PrefetchReport, Preview, Progress, Tiers, errors, flip,
    new_token, resize,
)  # fmt: skip
from imagebus.aio import Client, Operator

CLOSED = "127.0.0.1:1"  # no process listens there
ONLY_CACHE, ONLY_LOADER = Options.FROM_CACHE_ONLY, Options.FROM_LOADER_ONLY
STORED, RETRIED = Options.WAIT_STORE_CACHE, Options.RETRY_FAILED
Load = asyncio.Task[Image]


class ConformanceCase(ExampleTests):
    # A stalled transfer ends only with its load.
    options = ("--allow-address", CLOSED, "--low-speed", "0")

    async def asyncSetUp(self) -> None:
        self.client_of_test = await self.enterAsyncContext(self.connect())

    def connect(self) -> Client:
        return Client(self.stack.runtime_dir, "mapped", connect_timeout=SECONDS)

    def start(self, load: Coroutine[Any, Any, Image]) -> Load:
        return asyncio.create_task(load)

    async def go_round(self) -> None:
        """Waits until earlier messages have arrived: a load sent after them was answered."""
        await self.client_of_test.load(self.serve(png(8, 8, 0)))


class LoadCases(ConformanceCase):
    async def test_case002_a_fresh_load_ends_with_its_image(self) -> None:
        data = png(64, 48, 2)
        url = self.serve(data)
        image = await self.client_of_test.load(url)
        self.assert_same(image.data, data)
        self.assertEqual((image.key, image.cache_type, self.gets(url)), (url, Tiers.NONE, 1))

    async def test_case003_an_unreachable_url_is_an_error(self) -> None:
        load = self.client_of_test.load(f"http://{CLOSED}/case003.jpg")
        error = await self.assert_fails("connectionFailed", 3010, load)
        self.assertIsInstance(error, errors.ConnectionFailed)
        self.assertTrue(error.retryable)

    async def test_case004_cancelling_all_ends_all_with_2002(self) -> None:
        slow = [self.serve_slowly(png(64, 48, seed)) for seed in range(5)]
        async with self.connect() as client:
            loads = [self.start(client.load(url)) for url, _ in slow]
            for _, picture in slow:
                await self.until_asked(picture)
        for load in loads:
            await self.assert_fails("cancelled", 2002, load)
        for _, picture in slow:
            await self.until_broken(picture)

    async def test_case005_refresh_cached_works_again_and_again(self) -> None:
        old, new = png(64, 48, 5), png(64, 48, 55)
        url = self.serve(TaggedPicture(old))
        refresh = Options.REFRESH_CACHED | STORED
        for count in 1, 2, 3:
            image = await self.client_of_test.load(url, options=refresh)
            self.assert_same(image.data, old)
            self.assertEqual(self.gets(url), count)
        self.assertIn("If-None-Match", self.origin.headers[self.path(url)])
        self.replace(url, TaggedPicture(new))
        told = [event async for event in self.client_of_test.events(url, options=refresh)]
        cached, loaded = [event for event in told if isinstance(event, Cached | Loaded)]
        self.assertEqual((type(cached), type(loaded)), (Cached, Loaded))
        self.assert_same(cached.image.data, old)
        self.assert_same(loaded.image.data, new)
        again = await self.client_of_test.load(url, options=ONLY_CACHE)
        self.assert_same(again.data, new)

    async def test_case014_the_query_type_says_which_tiers_are_asked(self) -> None:
        url = self.serve(png(64, 48, 14))
        stored = await self.client_of_test.load(url, options=STORED, store=Tiers.DISK)
        self.assertEqual(stored.stored, Tiers.DISK)
        with self.assertRaises(errors.CacheMiss) as caught:
            await self.client_of_test.load(url, options=ONLY_CACHE, query=Tiers.MEMORY)
        self.assertEqual(caught.exception.key, url)
        hit = await self.client_of_test.load(url, options=ONLY_CACHE, query=Tiers.DISK)
        self.assertEqual((hit.cache_type, self.gets(url)), (Tiers.DISK, 1))

    async def test_case019_ten_sizes_of_one_url_are_one_transfer(self) -> None:
        url, picture = self.serve_slowly(png(200, 100, 19))
        sides = range(10, 110, 10)
        loads = [self.start(self.client_of_test.load(url, resize(s, s))) for s in sides]
        await self.until_asked(picture)
        await self.go_round()
        picture.open()
        images = await asyncio.gather(*loads)
        self.assertEqual([image.width for image in images], list(sides))
        self.assertEqual(len({image.key for image in images}), 10)
        self.assertEqual(self.gets(url), 1)

    async def test_case024_headers_of_the_request_arrive(self) -> None:
        url = self.serve(png(8, 8, 24))
        await self.client_of_test.load(url, headers={"X-Colour": "blue"})
        self.assertEqual(self.origin.headers[self.path(url)].get("X-Colour"), "blue")

    async def test_case027_no_url_is_error_1000(self) -> None:
        error = await self.assert_fails("invalidURL", 1000, self.client_of_test.load(""))
        self.assertIsInstance(error, errors.InvalidURL)

    async def test_case029_what_has_arrived_is_shown_before_the_image(self) -> None:
        data = png(200, 200, 29)
        url, picture = self.serve_slowly(data)
        told: list[Preview | Loaded] = []
        async with asyncio.timeout(5 * SECONDS):
            async for event in self.client_of_test.events(url, timeout=4 * SECONDS):
                if isinstance(event, Preview | Loaded):
                    told.append(event)
                    picture.open()  # without a preview the rest never comes
        *previews, last = told
        assert isinstance(last, Loaded)
        self.assert_same(last.image.data, data)
        self.assertTrue(previews)
        for preview in previews:
            assert isinstance(preview, Preview)
            self.assertEqual((preview.image.width, preview.image.height), (200, 200))
            self.assertLessEqual(preview.arrived, len(data))
        self.assertEqual(self.gets(url), 1)

    async def test_case030_not_found_is_an_error_with_its_status(self) -> None:
        missing = self.client_of_test.load(self.origin.url("/case030.jpg"))
        error = await self.assert_fails("invalidDownloadStatusCode", 2001, missing)
        self.assertEqual((error.details["httpStatus"], error.retryable), ("404", False))

    async def test_case031_cancel_ends_with_2002_and_leaves_no_transfer(self) -> None:
        url, picture = self.serve_slowly(png(64, 48, 31))
        token = new_token()
        load = self.start(self.client_of_test.load(url, token=token))
        await self.until_asked(picture)
        self.client_of_test.cancel(token)
        error = await self.assert_fails("cancelled", 2002, load)
        self.assertIsInstance(error, errors.Cancelled)
        await self.until_broken(picture)

    async def test_case036_of_two_loads_of_a_url_the_first_is_cancelled(self) -> None:
        data = png(64, 48, 36)
        url, picture = self.serve_slowly(data)
        token = new_token()
        first = self.start(self.client_of_test.load(url, token=token))
        second = self.start(self.client_of_test.load(url))
        await self.until_asked(picture)
        await self.go_round()
        self.client_of_test.cancel(token)
        await self.assert_fails("cancelled", 2002, first)
        picture.open()
        self.assert_same((await second).data, data)
        self.assertEqual((self.gets(url), picture.broken.is_set()), (1, False))

    async def test_case037_cancel_then_request_again(self) -> None:
        data = png(64, 48, 37)
        url, picture = self.serve_slowly(data)
        token = new_token()
        first = self.start(self.client_of_test.load(url, token=token))
        await self.until_asked(picture)
        self.replace(url, data)
        self.client_of_test.cancel(token)
        self.assert_same((await self.client_of_test.load(url)).data, data)
        await self.assert_fails("cancelled", 2002, first)
        self.assertEqual(self.gets(url), 2)

    async def test_case043_cancel_right_after_the_start(self) -> None:
        url, _ = self.serve_slowly(png(64, 48, 43))
        for side in range(20, 40):
            token = new_token()
            load = self.start(self.client_of_test.load(url, resize(side, side), token=token))
            await asyncio.sleep(0)  # it has started
            self.client_of_test.cancel(token)
            await self.assert_fails("cancelled", 2002, load)

    async def test_case047_none_of_two_hundred_loads_is_skipped(self) -> None:
        data = png(64, 48, 47)
        url, picture = self.serve_slowly(data)
        early = [self.start(self.client_of_test.load(url)) for _ in range(150)]
        await self.until_asked(picture)
        picture.open()
        await early[0]
        late = [self.start(self.client_of_test.load(url)) for _ in range(50)]
        for load in early + late:
            self.assert_same((await load).data, data)
        self.assertEqual(self.gets(url), 1)

    async def test_case048_each_request_of_an_empty_file_fails_once(self) -> None:
        url = self.serve(b"")
        loads = [self.start(self.client_of_test.load(url, options=RETRIED)) for _ in range(10)]
        for load in loads:
            await self.assert_fails("badImageData", 1001, load)

    async def test_case049_what_is_no_image_is_not_asked_for_again(self) -> None:
        data = png(64, 48, 49)
        url = self.serve(b"no image")

        def load(options: Options = Options(0)) -> Coroutine[Any, Any, Image]:
            return self.client_of_test.load(url, options=options)

        await self.assert_fails("badImageData", 1001, load())
        error = await self.assert_fails("blacklisted", 1003, load())
        self.assertIsInstance(error, errors.Blacklisted)
        self.assertEqual(self.gets(url), 1)
        await self.assert_fails("badImageData", 1001, load(RETRIED))
        self.assertEqual(self.gets(url), 2)
        self.replace(url, data)
        await self.assert_fails("blacklisted", 1003, load())
        self.assert_same((await load(RETRIED)).data, data)
        self.assert_same((await load(ONLY_LOADER)).data, data)  # removed from the failure cache
        self.assertEqual(self.gets(url), 4)

    async def test_case062_only_an_animation_will_do_under_its_option(self) -> None:
        animated = Options.MATCH_ANIMATED_IMAGE_CLASS
        still = self.serve(png(64, 48, 62))
        load = self.client_of_test.load(still, options=animated)
        await self.assert_fails("badImageData", 1001, load)
        moving = await self.client_of_test.load(self.serve(two_frames()), options=animated)
        self.assertEqual((moving.format, moving.pages), ("gif", 2))

    async def test_case094_steps_join_their_keys_and_the_last_one_makes_the_size(self) -> None:
        url = self.serve(png(200, 100, 94))
        steps = resize(100, 100), flip(horizontal=True), resize(40, 40)
        several = await self.client_of_test.load(url, *steps, format="png")
        self.assertEqual((several.width, several.height), (40, 20))
        keys = {several.key, url}
        for other in steps[:1], steps[:2], steps[::-1]:
            keys.add((await self.client_of_test.load(url, *other, format="png")).key)
        self.assertEqual(len(keys), 5)
        self.assertTrue(all(key.startswith(url.removesuffix(".png")) for key in keys), keys)
        again = await self.client_of_test.load(url, *steps, format="png")
        self.assertEqual((again.key, again.cache_type), (several.key, Tiers.MEMORY))

    async def test_case096_a_turned_photograph_is_upright(self) -> None:
        picture = PIL.Image.new("RGB", (60, 40), (250, 0, 0))
        picture.paste((0, 0, 250), (0, 20, 60, 40))
        exif, file = PIL.Image.Exif(), io.BytesIO()
        exif[0x0112] = 6  # a quarter turn clockwise: the top becomes the right
        picture.save(file, "jpeg", exif=exif, quality=95)
        url = self.serve(file.getvalue())
        upright = (await self.client_of_test.load(url, resize(20, 30), format="png")).pillow()
        self.assertEqual(upright.size, (20, 30))
        left, right = (upright.convert("RGB").getpixel((x, 15)) for x in (3, 16))
        self.assertGreater(left[2], 200)
        self.assertGreater(right[0], 200)

    async def test_case104_a_still_image_has_one_frame(self) -> None:
        facts = await self.client_of_test.load(self.serve(png(8, 8, 104)), info_only=True)
        self.assertEqual((facts.pages, facts.data), (1, b""))

    async def test_case116_progress_of_a_load_reaches_its_end(self) -> None:
        data = png(64, 48, 116)
        url, picture = self.serve_slowly(data)
        counts: list[tuple[int, int]] = []
        async for event in self.client_of_test.events(url, previews=False):
            if isinstance(event, Progress):
                counts.append((event.received, event.expected))
                if 0 < event.received < len(data):
                    picture.open()  # without progress the rest never comes
        self.assertEqual(counts, sorted(counts))
        self.assertEqual(counts[-1], (len(data), len(data)))


class CacheCases(ConformanceCase):
    async def asyncSetUp(self) -> None:
        await super().asyncSetUp()
        operator = Operator(self.stack.runtime_dir, "mapped", connect_timeout=SECONDS)
        self.operator = await self.enterAsyncContext(operator)

    async def stored(self, seed: int) -> tuple[str, bytes]:
        """The URL of a picture that both tiers have, and the picture."""
        data = png(64, 48, seed)
        url = self.serve(data)
        image = await self.client_of_test.load(url, options=STORED)
        self.assertEqual((image.stored, await self.operator.tiers(url)), (Tiers.ALL, Tiers.ALL))
        return url, data

    async def test_case015_the_transformed_image_is_made_again_of_the_original(self) -> None:
        url = self.serve(png(200, 100, 15))
        how = dict(format="png", query=Tiers.ALL)
        first = await self.client_of_test.load(
            url, resize(60, 60), options=STORED, store=Tiers.ALL, **how
        )
        self.assertNotEqual(first.key, url)
        self.assertEqual(await self.operator.remove(first.key), Tiers.ALL)
        again = await self.client_of_test.load(url, resize(60, 60), options=ONLY_CACHE, **how)
        self.assertEqual((again.key, again.width, again.height), (first.key, 60, 30))
        self.assertEqual((again.cache_type, self.gets(url)), (Tiers.MEMORY, 1))

    async def test_case050_clearing_the_disk_leaves_memory(self) -> None:
        url, _ = await self.stored(50)
        self.assertEqual(await self.operator.clear(Tiers.DISK), Tiers.DISK)
        self.assertEqual(await self.operator.tiers(url), Tiers.MEMORY)
        self.assertEqual((await self.operator.counts())[Tiers.DISK].entries, 0)

    async def test_case051_clearing_memory_leaves_the_disk(self) -> None:
        url, data = await self.stored(51)
        self.assertEqual(await self.operator.clear(Tiers.MEMORY), Tiers.MEMORY)
        self.assertEqual(await self.operator.tiers(url), Tiers.DISK)
        image = await self.client_of_test.load(url)
        self.assert_same(image.data, data)
        self.assertEqual((image.cache_type, self.gets(url)), (Tiers.DISK, 1))

    async def test_case052_an_image_is_in_the_tiers_that_it_is_stored_in(self) -> None:
        for tiers in Tiers.ALL, Tiers.MEMORY, Tiers.DISK, Tiers.NONE:
            with self.subTest(tiers):
                url = self.serve(png(64, 48, 520 + tiers))
                image = await self.client_of_test.load(url, options=STORED, store=tiers)
                self.assertEqual(image.stored, tiers)
                self.assertEqual(await self.operator.tiers(url), tiers)

    async def test_case053_what_was_stored_is_retrieved(self) -> None:
        url, data = await self.stored(53)
        for tier in Tiers.MEMORY, Tiers.DISK:
            image = await self.client_of_test.load(url, options=ONLY_CACHE, query=tier)
            self.assert_same(image.data, data)
            self.assertEqual((image.cache_type, self.gets(url)), (tier, 1))

    async def test_case054_an_entry_is_removed_from_the_tiers_that_are_named(self) -> None:
        for tiers in Tiers.MEMORY, Tiers.DISK, Tiers.ALL:
            with self.subTest(tiers):
                url, _ = await self.stored(540 + tiers)
                self.assertEqual(await self.operator.remove(url, tiers=tiers), tiers)
                self.assertEqual(await self.operator.tiers(url), Tiers.ALL & ~tiers)
        with self.assertRaises(errors.CacheMiss):
            await self.client_of_test.load(url, options=ONLY_CACHE)

    async def test_case058_an_empty_cache_counts_nothing_and_one_store_counts_one(self) -> None:
        await self.operator.clear()
        counts = await self.operator.counts()
        self.assertEqual([(c.entries, c.bytes) for c in counts.values()], [(0, 0), (0, 0)])
        _, data = await self.stored(58)
        counts = await self.operator.counts()
        self.assertEqual([count.entries for count in counts.values()], [1, 1])
        self.assertTrue(all(count.bytes >= len(data) for count in counts.values()), counts)

    async def test_case060_data_is_put_on_the_disk_and_not_into_memory(self) -> None:
        data = png(64, 48, 60)
        url = self.origin.url("/case060.png")
        self.assertEqual(await self.operator.put(url, data, tiers=Tiers.DISK), Tiers.DISK)
        self.assertEqual(await self.operator.tiers(url), Tiers.DISK)
        image = await self.client_of_test.load(url, options=ONLY_CACHE)
        self.assert_same(image.data, data)
        self.assertEqual((image.cache_type, self.gets(url)), (Tiers.DISK, 0))
        with self.assertRaises(errors.BadImageData):
            await self.operator.put(url, b"no image")

    async def test_case071_commands_are_for_operators(self) -> None:
        url, _ = await self.stored(71)
        stranger = Stranger(self.stack.runtime_dir, "mapped", connect_timeout=SECONDS)
        async with stranger, asyncio.timeout(SECONDS):
            with self.assertRaises(errors.ProtocolViolation):
                await stranger.clear()
        self.assertEqual(await self.operator.tiers(url), Tiers.ALL)


class PrefetchCases(ConformanceCase):
    def pictures(self, count: int) -> list[str]:
        return [self.serve(png(64, 48, seed)) for seed in range(count)]

    async def test_case106_three_urls_are_counted_one_by_one(self) -> None:
        urls = self.pictures(3)
        told: list[PrefetchReport] = []
        report = await self.client_of_test.prefetch(urls, resize(20, 20), report=told.append)
        self.assertEqual((report.total, report.finished, report.skipped), (3, 3, 0))
        counts = [step.finished for step in told]
        self.assertEqual(counts, sorted(counts))
        for url in urls:
            image = await self.client_of_test.load(url, resize(20, 20))
            self.assertEqual((image.cache_type, self.gets(url)), (Tiers.MEMORY, 1))

    async def test_case107_an_empty_list_has_ended(self) -> None:
        report = await self.client_of_test.prefetch([])
        self.assertEqual((report.total, report.finished, report.is_final), (0, 0, True))

    async def test_case108_overlapping_lists_have_their_own_counts(self) -> None:
        urls = self.pictures(6)
        first, second = await asyncio.gather(
            self.client_of_test.prefetch(urls[:4]), self.client_of_test.prefetch(urls[2:])
        )
        for report in first, second:
            self.assertEqual((report.total, report.finished, report.skipped), (4, 4, 0))
        self.assertEqual([self.gets(url) for url in urls], [1] * 6)

    async def test_case109_the_result_has_the_counts_and_who_failed(self) -> None:
        gone = self.origin.url("/case109.png")
        report = await self.client_of_test.prefetch([*self.pictures(5), gone])
        self.assertEqual((report.total, report.finished, report.skipped), (6, 6, 1))
        self.assertEqual(report.errors, {"invalidDownloadStatusCode": 1})
        self.assertEqual([url for url, _ in report.failures], [gone])

    async def test_case110_a_cancelled_prefetch_is_not_running(self) -> None:
        slow = [self.serve_slowly(png(64, 48, seed)) for seed in range(3)]
        urls = [url for url, _ in slow]
        prefetch = asyncio.create_task(self.client_of_test.prefetch(urls, timeout=10 * SECONDS))
        for _, picture in slow:
            await self.until_asked(picture)
        prefetch.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await prefetch
        for _, picture in slow:
            await self.until_broken(picture)
        async with asyncio.timeout(SECONDS):
            while (await asyncio.to_thread(self.stack.counters))["prefetches"]:
                await asyncio.sleep(0.02)


class Stranger(Operator):
    """Sends operator commands on the listener for ordinary clients."""

    _place = Client._place


def two_frames() -> bytes:
    first, second = (PIL.Image.new("RGB", (8, 8), colour) for colour in ("red", "blue"))
    file = io.BytesIO()
    first.save(file, "gif", save_all=True, append_images=[second], duration=100)
    return file.getvalue()


# Only its subclasses need the stack of the tests.
del ConformanceCase

if __name__ == "__main__":
    unittest.main()
