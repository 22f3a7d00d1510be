"""Formats unknown to Imagebus, their frames, and previews of them."""

from __future__ import annotations

import asyncio
import io
import struct
from contextlib import aclosing

import PIL.Image
import PIL.ImageSequence

from example_stack import SECONDS, SlowPicture
from imagebus import Loaded, Options, Preview, resize
from imagebus_worker import Coder, Header, Report
from test_transformers import PictureTests, opened
from worker_bench import Working

CONFIGURATION = """
pools:
  first: {kind: decode, trust: external, formats-in: [undefined]}
  second: {kind: decode, trust: external, formats-in: [undefined, psd]}
"""
HEAD = struct.Struct(">4sHHBB")
SHOWN = 40_000  # microseconds per frame


class Book(Coder):
    """A flip book: a header, and uncompressed frames."""

    def __init__(self, signature: bytes) -> None:
        self.signature = signature
        self.seen: list[bytes] = []
        self.asked: list[int] = []

    @property
    def capabilities(self):
        made = super().capabilities
        if self.signature == b"BOKB":
            made.formats_in.names.append("psd")
        return made

    def recognises(self, data: memoryview) -> bool:
        self.seen.append(bytes(data[:4]))
        return bytes(data[:4]) == self.signature

    def header(self, data: memoryview) -> Header:
        _, width, height, bands, frames = HEAD.unpack_from(data)
        return Header(width, height, bands, [SHOWN] * frames if frames > 1 else (), loops=3)

    def pixels(self, data: memoryview, header: Header, report: Report) -> bytes:
        return bytes(data[HEAD.size :])

    def frame(self, data: memoryview, header: Header, number: int, report: Report) -> bytes:
        self.asked.append(number)
        size = header.width * header.height * header.bands
        start = HEAD.size + number * size
        if len(data) < start + size:
            raise ValueError("it ends early")
        return bytes(data[start : start + size])

    def arrived(self, data: memoryview, header: Header, report: Report) -> bytes:
        size = header.width * header.height * header.bands
        return bytes(data[HEAD.size :]).ljust(size, b"\0")


def book(signature: bytes, *frames: PIL.Image.Image) -> bytes:
    (width, height), bands = frames[0].size, len(frames[0].mode)
    head = HEAD.pack(signature, width, height, bands, len(frames))
    return head + b"".join(frame.tobytes() for frame in frames)


def plain(*colour: int, size: tuple[int, int] = (24, 16)) -> PIL.Image.Image:
    return PIL.Image.new("RGB", size, colour)


class FormatTests(PictureTests):
    configuration = CONFIGURATION

    async def test_coders_are_asked_in_turn_whether_it_is_theirs(self) -> None:
        first = Book(b"BOKA")
        self.launch_extension("test_formats", "Book(b'BOKB')", "second")
        async with Working(first, self.stack, "first"), self.client() as client:
            for signature in b"BOKA", b"BOKB":
                with self.subTest(signature):
                    image = plain(10, 200, 30)
                    made = await client.load(self.serve(book(signature, image)), format="png")
                    self.assertEqual(opened(made.data).tobytes(), image.tobytes())
                    self.assertEqual(first.seen[-1], signature)
            await self.assert_fails(1001, 1001, client.load(self.serve(b"none" * 9), format="png"))
            self.assertEqual(first.seen, [b"BOKA", b"BOKB", b"none"])
            # A known format isn't passed to pools that aren't granted it.
            load = client.load(self.serve(b"8BPS" + bytes(40)), format="png")
            await self.assert_fails(3006, 3006, load)
            self.assertEqual(first.seen[-1], b"none")

    async def test_facts_and_limits_and_original_bytes(self) -> None:
        async with Working(Book(b"BOKA"), self.stack, "first"), self.client() as client:
            data = book(b"BOKA", plain(1, 2, 3), plain(4, 5, 6))
            url = self.serve(data)
            facts = await client.load(url, info_only=True)
            self.assertEqual((facts.width, facts.height, facts.pages), (24, 16, 2))
            self.assertEqual(facts.format, "undefined")
            small = await client.load(url, resize(12, 8))
            self.assertEqual((small.format, small.width, small.height), ("jpeg", 12, 8))
            many = self.serve(HEAD.pack(b"BOKA", 60_000, 60_000, 3, 1))
            error = await self.assert_fails(3003, 3003, client.load(many, format="png"))
            self.assertEqual(error.details["limit"], "side")

    async def test_frames_by_their_number_and_all_of_them(self) -> None:
        frames = [plain(250, 10, 10), plain(10, 250, 10), plain(10, 10, 250)]
        url = self.serve(book(b"BOKA", *frames))
        coder = Book(b"BOKA")
        async with Working(coder, self.stack, "first"), self.client() as client:
            still = await client.load(url, format="png")
            self.assertEqual(opened(still.data).tobytes(), frames[0].tobytes())
            self.assertEqual(coder.asked, [0])
            options = Options.TRANSFORM_ANIMATED_IMAGE
            moving = await client.load(url, resize(12, 8), format="webp", options=options)
            self.assertEqual((moving.pages, coder.asked), (3, [0, 0, 1, 2]))
            read = opened(moving.data)
            self.assertEqual(read.info["loop"], 3)
            shown = [frame.convert("RGB") for frame in PIL.ImageSequence.Iterator(read)]
            for frame, expected in zip(shown, frames, strict=True):
                close = zip(frame.getpixel((6, 4)), expected.getpixel((6, 4)), strict=True)
                self.assertLess(max(abs(a - b) for a, b in close), 12)
                self.assertEqual(read.info["duration"], SHOWN // 1_000)
            grey = [frame.convert("L") for frame in frames]
            url = self.serve(book(b"BOKA", *grey))
            moving = await client.load(url, format="gif", options=options)
            read = opened(moving.data)
            shown = [frame.convert("L") for frame in PIL.ImageSequence.Iterator(read)]
            for frame, expected in zip(shown, grey, strict=True):
                close = frame.getpixel((6, 4)), expected.getpixel((6, 4))
                self.assertAlmostEqual(*close, delta=3)  # of a palette
            torn = self.serve(book(b"BOKA", *frames)[:-1])
            load = client.load(torn, resize(12, 8), format="webp", options=options)
            await self.assert_fails(1001, 1001, load)

    async def test_endless_frames_are_refused_and_cost_nothing(self) -> None:
        class Endless(Book):
            def header(self, data: memoryview) -> Header:
                return Header(4, 4, 3, range(1, 200_000))

        coder = Endless(b"BOKA")
        async with Working(coder, self.stack, "first"), self.client() as client:
            load = client.load(self.serve(book(b"BOKA", plain(1, 2, 3))), format="png")
            error = await self.assert_fails(3003, 3003, load)
            self.assertEqual((error.details["limit"], coder.asked), ("pages", []))

    async def test_what_its_author_did_not_foresee_is_bad_data(self) -> None:
        class Slow(Book):
            def header(self, data: memoryview) -> Header:
                return Header(4, 4, 3, [1 << 32] * 2)

        first = plain(1, 2, 3)
        async with Working(Book(b"BOKA"), self.stack, "first"), self.client() as client:
            load = client.load(self.serve(book(b"BOKA", first)[: HEAD.size - 1]), format="png")
            await self.assert_fails(1001, 1001, load)
        async with Working(Slow(b"BOKA"), self.stack, "first"), self.client() as client:
            options = Options.TRANSFORM_ANIMATED_IMAGE
            url = self.serve(book(b"BOKA", first, first))
            load = client.load(url, resize(2, 2), format="webp", options=options)
            await self.assert_fails(1001, 1001, load)

    async def test_rows_that_have_arrived_are_shown(self) -> None:
        whole = PIL.Image.effect_noise((64, 64), 60).convert("RGB")
        path = f"/{self.id()}.book"
        picture = SlowPicture(book(b"BOKA", whole))
        self.addCleanup(picture.close)
        self.origin.pictures[path] = picture
        shown: list[PIL.Image.Image] = []
        async with Working(Book(b"BOKA"), self.stack, "first"), self.client() as client:
            events = client.events(self.origin.url(path), format="png", timeout=4 * SECONDS)
            async with aclosing(events), asyncio.timeout(5 * SECONDS):
                async for event in events:
                    if isinstance(event, Preview) and not shown:
                        shown.append(PIL.Image.open(io.BytesIO(bytes(event.image.data))))
                        picture.open()  # without a preview the rest never comes
                    elif isinstance(event, Loaded):
                        self.assertEqual(opened(event.image.data).tobytes(), whole.tobytes())
        (early,) = shown
        self.assertEqual(early.size, (64, 64))
        box = (0, 0, 64, 20)
        self.assertEqual(early.convert("RGB").crop(box).tobytes(), whole.crop(box).tobytes())
