"""Raw pixels, and Pillow images; Pillow is the independent reader here."""

from __future__ import annotations

import asyncio
import gc
import io
import unittest
import weakref
from dataclasses import dataclass

import PIL.Image

from example_stack import ExampleTests, png
from imagebus import flip, resize
from imagebus.pixels import pixels_of


def opened(data: bytes | memoryview) -> PIL.Image.Image:
    return PIL.Image.open(io.BytesIO(data))


def picture(mode: str) -> bytes:
    """A PNG of 37 × 23 pixels, odd on purpose, with another value in each sample."""
    count = 37 * 23 * len(mode)
    file = io.BytesIO()
    samples = bytes(7 * number % 251 for number in range(count))
    PIL.Image.frombytes(mode, (37, 23), samples).save(file, "PNG")
    return file.getvalue()


class PixelTests(ExampleTests):
    async def test_samples_are_those_of_the_file(self) -> None:
        async with self.client("mapped") as mapped, self.client("chunks") as chunks:
            for mode in "L", "LA", "RGB", "RGBA":
                data = picture(mode)
                url, expected = self.serve(data), opened(data)
                for client in mapped, chunks:
                    with self.subTest(mode):
                        pixels = (await client.load(url, format="pam")).pixels
                        self.assertEqual((pixels.mode, pixels.size), (mode, expected.size))
                        self.assertEqual(pixels.stride, 37 * len(mode))
                        self.assert_same(pixels.data, expected.tobytes())

    async def test_steps_come_before_pixels(self) -> None:
        data = picture("RGB")
        turned = opened(data).transpose(PIL.Image.Transpose.FLIP_LEFT_RIGHT)
        async with self.client() as client:
            image = await client.load(self.serve(data), flip(horizontal=True), format="pam")
            self.assert_same(image.pixels.data, turned.tobytes())

    async def test_large_ones_are_not_copied_and_hold_their_image(self) -> None:
        data = png(1400, 1100, 1)
        async with self.client() as client:
            image = await client.load(self.serve(data), format="pam")
            pixels = image.pixels
            self.assertIs(type(image.data), memoryview)
            self.assertIs(pixels.data.obj, image.data.obj, "it is the same mapping")
            self.assertTrue(pixels.data.readonly)
            self.assertEqual(pixels.array.shape, (1100, 1400, 3))
            expected = opened(data)
            self.assertEqual(
                tuple(pixels.array[700, 900, channel] for channel in range(3)),
                expected.getpixel((900, 700)),
            )
            held = weakref.ref(image)
            del image
            await asyncio.sleep(0)  # the task holds its result until it continues
            gc.collect()
            self.assertIsNotNone(held(), "its block is not given back under the pixels")
            self.assert_same(pixels.data, expected.tobytes())
            del pixels
            gc.collect()
            self.assertIsNone(held())

    async def test_other_formats_have_none_and_neither_has_what_was_released(self) -> None:
        async with self.client() as client:
            url = self.serve(png(64, 48, 2))
            with self.assertRaisesRegex(ValueError, "not 'png'"):
                (await client.load(url)).pixels
            image = await client.load(url, format="pam")
            image.release()
            with self.assertRaises(ValueError):
                image.pixels


class PillowTests(ExampleTests):
    async def test_an_image_is_one_of_pillow(self) -> None:
        data = picture("RGBA")
        async with self.client() as client:
            url = self.serve(data)
            for format, name in (None, "PNG"), ("webp", "WEBP"), ("tiff", "TIFF"), ("pam", None):
                image = await client.load(url, format=format)
                pillow = image.pillow()
                self.assertEqual((pillow.format, pillow.size), (name, (37, 23)))
                self.assertEqual(pillow.mode, "RGBA")
                if format != "webp":  # which is lossy
                    self.assert_same(pillow.tobytes(), opened(data).tobytes())
            small = await client.load(url, resize(16, 16), format="jpeg")
            self.assertEqual(small.pillow().size, (16, 10))

    async def test_it_outlives_shared_memory(self) -> None:
        data = png(1400, 1100, 3)
        async with self.client() as client:
            url = self.serve(data)
            for format in None, "pam":
                with await client.load(url, format=format) as image:
                    self.assertIs(type(image.data), memoryview)
                    pillow = image.pillow()
                self.assert_same(pillow.tobytes(), opened(data).tobytes())

    async def test_facts_are_no_image(self) -> None:
        async with self.client() as client:
            facts = await client.load(self.serve(png(64, 48, 4)), info_only=True)
            with self.assertRaisesRegex(ValueError, "no image data"):
                facts.pillow()


@dataclass
class Bytes:
    data: bytes | memoryview


class HeaderTests(unittest.TestCase):
    """The checks that a reader must make."""

    def file(self, samples: int = 24, end: str = "ENDHDR\n", **other: object) -> Bytes:
        facts = dict(WIDTH=4, HEIGHT=2, DEPTH=3, MAXVAL=255) | other
        start = "P7\n" + "".join(f"{name} {value}\n" for name, value in facts.items())
        padding = " " * (128 - len(start) - len(end) - 2)
        return Bytes(f"{start}#{padding}\n{end}".encode() + bytes(samples))

    def test_a_header_of_128_bytes_is_read(self) -> None:
        pixels = pixels_of(self.file())
        self.assertEqual((pixels.size, pixels.mode, len(pixels.data)), ((4, 2), "RGB", 24))

    def test_what_does_not_add_up_is_refused(self) -> None:
        files = [
            self.file(23), self.file(25), self.file(DEPTH=5), self.file(DEPTH=0, samples=0),
            self.file(WIDTH=0, samples=0), self.file(HEIGHT=-2), self.file(WIDTH="²"),
            self.file(MAXVAL=65_535), self.file(end="ENDHDX\n"), self.file(WIDTH=1 << 31),
            Bytes(b""), Bytes(b"P7\n"), Bytes(b"P6" + bytes(self.file().data)[2:]),
        ]  # fmt: skip
        for number, file in enumerate(files):
            with self.subTest(number), self.assertRaises(ValueError):
                pixels_of(file)


if __name__ == "__main__":
    unittest.main()
