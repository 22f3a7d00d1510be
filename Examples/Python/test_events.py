"""The events of a load before its end."""

from __future__ import annotations

import asyncio
import io
import unittest
from contextlib import aclosing

import PIL.Image

from example_stack import SECONDS, ExampleTests, png
from imagebus import Event, Image, Loaded, Preview, Progress, errors
from imagebus.events import Mailbox


def opened(data: bytes | memoryview) -> PIL.Image.Image:
    return PIL.Image.open(io.BytesIO(data))


class EventTests(ExampleTests):
    async def test_progress_comes_while_bytes_do_and_the_image_at_last(self) -> None:
        data = png(320, 200, 1)
        url, picture = self.serve_slowly(data)
        told: list[Event] = []
        async with self.client() as client, aclosing(client.events(url, previews=False)) as events:
            async for event in events:
                told.append(event)
                if isinstance(event, Progress) and 0 < event.received < event.expected:
                    picture.open()  # without progress the rest never comes
        *progress, last = told
        assert isinstance(last, Loaded)
        self.assert_same(last.image.data, data)
        self.assertTrue(all(isinstance(event, Progress) for event in progress))
        self.assertIn(len(data), {event.expected for event in progress})

    async def test_a_preview_shows_the_rows_that_have_arrived(self) -> None:
        # The larger one is lent from shared memory, or arrives in many chunks.
        for delivery, side in ("mapped", 64), ("mapped", 800), ("chunks", 64), ("chunks", 800):
            with self.subTest(delivery=delivery, side=side):
                await self.assert_shown(delivery, png(side, side, side), side)

    async def assert_shown(self, delivery: str, data: bytes, side: int) -> None:
        url, picture = self.serve_slowly(data)
        whole = opened(data)
        previews = 0
        async with self.client(delivery) as client, asyncio.timeout(5 * SECONDS):
            async for event in client.events(url, format="pam", timeout=4 * SECONDS):
                if isinstance(event, Preview):
                    with event.image as image:
                        shown = image.pillow()
                    self.assertEqual(shown.size, (side, side))
                    # Each row takes an equal number of bytes; a partially received row counts.
                    rows = (0, 0, side, side * event.arrived // len(data) // 2)
                    self.assert_same(shown.crop(rows).tobytes(), whole.crop(rows).tobytes())
                    if previews == 0 and 3 * event.arrived >= len(data):
                        last = shown.crop((0, side - 1, side, side))
                        self.assertEqual(set(last.tobytes()), {0}, "this row has not arrived")
                        self.assertLess(event.arrived, len(data))
                        previews += 1
                        picture.open()  # without a preview the rest never comes
                elif isinstance(event, Loaded):
                    self.assertEqual(previews, 1, "the rest came after one")
                    self.assert_same(event.image.pixels.data, whole.tobytes())

    async def test_leaving_the_loop_lets_go_of_the_origin(self) -> None:
        url, picture = self.serve_slowly(png(320, 200, 2))
        async with self.client() as client:
            async with aclosing(client.events(url)) as events:
                async for _ in events:
                    break
            await self.until_broken(picture)

    async def test_a_cancelled_reader_lets_go_of_the_origin(self) -> None:
        url, picture = self.serve_slowly(png(320, 200, 3))
        async with self.client() as client:

            async def read() -> None:
                async for _ in client.events(url):
                    pass

            reader = asyncio.create_task(read())
            await self.until_asked(picture)
            reader.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await reader
            await self.until_broken(picture)

    async def test_a_failure_is_raised_where_events_are_read(self) -> None:
        async with self.client() as client:
            with self.assertRaises(errors.InvalidDownloadStatusCode) as caught:
                async for _ in client.events(self.origin.url("/missing.png")):
                    pass
            self.assertEqual(caught.exception.details["httpStatus"], "404")


class MailboxTests(unittest.IsolatedAsyncioTestCase):
    def preview(self, number: int) -> Preview:
        image = Image(b"", b"picture", "png", 1, 1, 1, False, 0, "", {})
        return Preview(image, number)

    async def test_who_reads_slowly_is_told_the_newest(self) -> None:
        box, previews = Mailbox(), [self.preview(number) for number in range(4)]
        for number, preview in enumerate(previews):
            box.put(preview)
            box.put(Progress(number, 4))
        self.assertEqual([preview.image.data for preview in previews], [b"", b"", b"", b"picture"])
        box.end()
        self.assertIs(await box.next(), previews[3])
        self.assertEqual(await box.next(), Progress(3, 4))
        self.assertIsNone(await box.next())

    async def test_nothing_is_kept_for_a_reader_who_left(self) -> None:
        box, early, late = Mailbox(), self.preview(1), self.preview(2)
        box.put(early)
        box.close()
        box.put(late)
        self.assertEqual((early.image.data, late.image.data), (b"", b""))
        self.assertIsNone(await box.next())

    async def test_a_reader_is_woken(self) -> None:
        box = Mailbox()
        reader = asyncio.create_task(box.next())
        asyncio.get_running_loop().call_soon(box.put, Progress(1, 2))
        async with asyncio.timeout(SECONDS):
            self.assertEqual(await reader, Progress(1, 2))


if __name__ == "__main__":
    unittest.main()
