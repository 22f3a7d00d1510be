"""The SDK for coders with a real stack."""

from __future__ import annotations

import asyncio
import struct
import threading
import zlib
from collections.abc import Callable

from example_stack import SECONDS
from imagebus import resize
from imagebus_worker import Coder, Header, Report
from worker_bench import WorkerTests, Working


class Card(Coder):
    """Decodes single-color cards from QOI, which has no other decoder here."""

    format = "qoi"

    def __init__(self, pixels: Callable[[Header, Report], bytes]) -> None:
        self._pixels = pixels

    def header(self, data: memoryview) -> Header:
        if len(data) < 14:
            raise ValueError("it is too short")
        width, height = struct.unpack_from(">II", data, 4)
        return Header(width, height, 3)

    def pixels(self, data: memoryview, header: Header, report: Report) -> bytes:
        return self._pixels(header, report)


class CoderTests(WorkerTests):
    def serve(self, width: int, height: int) -> str:
        path = f"/{self.id()}-{len(self.origin.pictures)}.qoi"
        self.origin.pictures[path] = b"qoif" + struct.pack(">II", width, height) + bytes(20)
        return self.origin.url(path)

    async def test_what_it_makes_is_encoded_in_the_order_of_its_rows(self) -> None:
        def rows(header: Header, report: Report) -> bytes:
            return b"".join(bytes((row, 0, 0)) * header.width for row in range(header.height))

        async with Working(Card(rows), self.stack, "cards"), self.client() as client:
            image = await client.load(self.serve(6, 4), format="png")
            self.assertEqual((image.width, image.height, image.format), (6, 4, "png"))
            self.assertEqual([row[1:4] for row in png_rows(image.data)], [
                bytes((row, 0, 0)) for row in range(4)
            ])  # fmt: skip

    async def test_limits_are_looked_at_before_pixels_are_made(self) -> None:
        asked: list[Header] = []

        def rows(header: Header, report: Report) -> bytes:
            asked.append(header)
            return b""

        async with Working(Card(rows), self.stack, "cards"), self.client() as client:
            load = client.load(self.serve(1 << 31, 1 << 31), resize(8, 8), format="png")
            error = await self.assert_fails(3003, 3003, load)
            self.assertEqual(error.details["limit"], "side")
            await self.assert_fails(1001, 1001, client.load(self.serve(0, 4), format="png"))
            self.assertEqual(asked, [])

    async def test_pixels_that_are_too_many_or_too_few_are_nobodys_image(self) -> None:
        for count in (0, 71, 73):
            with self.subTest(count=count):
                coder = Card(lambda header, report, count=count: bytes(count))
                async with Working(coder, self.stack, "cards"), self.client() as client:
                    load = client.load(self.serve(6, 4), format="png")
                    await self.assert_fails(3000, 3000, load)

    async def test_a_decode_that_heeds_no_cancel_ends_the_process(self) -> None:
        began, gate = threading.Event(), threading.Event()
        self.addCleanup(gate.set)

        def rows(header: Header, report: Report) -> bytes:
            began.set()
            gate.wait()
            return b""

        working = Working(Card(rows), self.stack, "cards")
        async with working, self.client() as client:
            task = asyncio.create_task(client.load(self.serve(6, 4), format="png"))
            self.assertTrue(await asyncio.to_thread(began.wait, SECONDS))
            task.cancel()
            async with asyncio.timeout(SECONDS):
                self.assertEqual(await working._task, 70)


def png_rows(data: bytes | memoryview) -> list[bytes]:
    """Filter byte and samples of each row of a PNG of RGB."""
    data = bytes(data)
    width, height = struct.unpack_from(">II", data, 16)
    body, place = b"", 8
    while place < len(data):
        length, kind = struct.unpack_from(">I4s", data, place)
        body += data[place + 8 : place + 8 + length] if kind == b"IDAT" else b""
        place += 12 + length
    raw, rows, above = zlib.decompress(body), [], bytes(3 * width)
    for row in range(height):
        start = row * (1 + 3 * width)
        filter, line = raw[start], bytearray(raw[start + 1 : start + 1 + 3 * width])
        for index in range(len(line)):
            left = line[index - 3] if index >= 3 else 0
            over, corner = above[index], above[index - 3] if index >= 3 else 0
            line[index] = line[index] + predicted(filter, left, over, corner) & 255
        above = bytes(line)
        rows.append(bytes((filter,)) + above)
    return rows


def predicted(filter: int, left: int, above: int, corner: int) -> int:
    """PNG, section 9.2."""
    nearest = min((left, above, corner), key=lambda value: abs(left + above - corner - value))
    return (0, left, above, (left + above) // 2, nearest)[filter]
