"""The SDK for encoders, and the QOI example written with it, with a real stack. qoiconv, the
reference program, is the independent reader and writer."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import subprocess
import unittest
from collections.abc import Callable

import PIL.Image

import imagebus_pb2 as pb
from example_stack import SECONDS, png
from imagebus import Pixels, Tiers, custom, resize
from imagebus_worker import Encoder, Report
from test_transformers import PictureTests, opened, picture
from worker_bench import Working

CONFIGURATION = """
pools:
  qoi-in: {kind: decode, trust: external, formats-in: [qoi]}
  qoi-out: {kind: transform, trust: external, formats-out: [qoi]}
  others: {kind: transform, trust: external, formats-out: [jpeg, psd]}
  watermark: {kind: transform, trust: external, steps: [examples.watermark]}
"""
LIES = 7


class Function(Encoder):
    """Encodes with a function of a test."""

    def __init__(
        self, format: str, function: Callable[[Pixels, int | None], bytes | bytearray]
    ) -> None:
        self.format = format
        self._function = function

    def encode(self, pixels: Pixels, quality: int | None, report: Report) -> bytes | bytearray:
        return self._function(pixels, quality)

    @property
    def capabilities(self) -> pb.Capabilities:
        """Whatever its pool is granted."""
        names = ["jpeg", "psd"] if self.format in ("jpeg", "psd") else [self.format]
        return pb.Capabilities(
            steps=pb.Capabilities.Names(), formats_out=pb.Capabilities.Names(names=names)
        )


class Liar(Function):
    """Makes various false claims about its result."""

    def __init__(self, lie: int) -> None:
        super().__init__("qoi", lambda pixels, _: files[lie % 2](pixels))
        self._lie = lie
        files = (head, lambda pixels: b"none" + head(pixels)[4:])

    def refer(self, outcome: pb.Outcome, reference: pb.Reference) -> None:
        super().refer(outcome, reference)
        made = outcome.transformed
        match self._lie:
            case 0:
                made.info.width += 1
            case 1:
                pass  # its bytes aren't QOI
            case 2:
                made.reference.length = 1 << 32
            case 3:
                made.reference.offset += 1 << 40
            case 4:
                made.reference.segment += 7
            case 5:
                made.info.format = pb.IMAGE_FORMAT_PNG
            case 6:
                made.info.pages = (1 << 32) - 1


def head(pixels: Pixels) -> bytes:
    """The part of a QOI file that is needed to read its size."""
    width, height = pixels.width.to_bytes(4, "big"), pixels.height.to_bytes(4, "big")
    return b"qoif" + width + height + b"\3\0" + bytes(7) + b"\1"


def photograph(width: int, height: int, mode: str) -> bytes:
    """A PNG with noise, gradients and single-color areas: every kind of QOI chunk."""
    noise = PIL.Image.effect_noise((width, height), 40)
    slope = PIL.Image.linear_gradient("L").resize((width, height))
    flat = PIL.Image.new("L", (width, height), 90)
    flat.paste(255, (width // 4, height // 4, width // 2, height // 2))
    bands = [slope, noise, flat, slope.rotate(180)]
    image = PIL.Image.merge(mode, bands[: len(mode)])
    image.paste(0, (0, 0, width // 3, height // 3))
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


class EncoderTests(PictureTests):
    configuration = CONFIGURATION

    def convert(self, data: bytes | memoryview, before: str, after: str) -> bytes:
        files = [self.folder / f"converted.{ending}" for ending in (before, after)]
        files[0].write_bytes(data)
        subprocess.run(["qoiconv", *files], check=True, timeout=SECONDS, stdout=subprocess.DEVNULL)
        return files[1].read_bytes()

    async def test_another_reader_sees_the_same_pixels(self) -> None:
        self.launch("qoi_encoder.py", "qoi-out")
        async with self.client() as client:
            for mode, size in ("RGB", (211, 97)), ("RGBA", (64, 64)), ("RGB", (1, 1)):
                with self.subTest(mode=mode, size=size):
                    data = photograph(*size, mode)
                    image = await client.load(self.serve(data), format="qoi")
                    self.assertEqual((image.format, image.width, image.height), ("qoi", *size))
                    read = opened(self.convert(image.data, "qoi", "png"))
                    self.assertEqual(read.mode, mode)
                    self.assertEqual(read.tobytes(), opened(data).tobytes())
            for mode in "L", "LA":
                with self.subTest(mode):
                    data = picture(mode)
                    image = await client.load(self.serve(data), format="qoi")
                    read = opened(self.convert(image.data, "qoi", "png")).convert("RGBA")
                    self.assertEqual(read.tobytes(), opened(data).convert("RGBA").tobytes())

    async def test_in_and_out_with_steps_between_and_from_the_cache(self) -> None:
        self.launch("qoi_encoder.py", "qoi-out")
        self.launch("qoi_coder.py", "qoi-in")
        self.launch("watermark_transformer.py", "watermark")
        mark = custom("examples.watermark", text="Abc", opacity="1")
        data = photograph(80, 60, "RGB")
        url = self.serve(self.convert(data, "png", "qoi"))
        async with self.client() as client:
            same = await client.load(url, format="qoi")
            read = opened(self.convert(same.data, "qoi", "png"))
            self.assertEqual(read.tobytes(), opened(data).tobytes())
            made = [await client.load(url, resize(40, 30), mark, format="qoi") for _ in range(2)]
            self.assertEqual(made[1].cache_type, Tiers.MEMORY)
            self.assertEqual(bytes(made[0].data), bytes(made[1].data))
            plain = await client.load(url, resize(40, 30), format="png")
            marked = opened(self.convert(made[0].data, "qoi", "png"))
            self.assertEqual(marked.size, (40, 30))
            self.assertNotEqual(marked.tobytes(), opened(plain.data).tobytes())
        self.assertEqual(self.gets(url), 1)

    async def test_a_format_of_ours_by_name_is_encoded_by_who_is_granted_it(self) -> None:
        said: list[int | None] = []

        def jpeg(pixels: Pixels, quality: int | None) -> bytes:
            said.append(quality)
            file = io.BytesIO()
            image = PIL.Image.frombytes(pixels.mode, pixels.size, bytes(pixels.data))
            image.convert("RGB").save(file, "JPEG", comment=b"by somebody else")
            return file.getvalue()

        url = self.serve(png(30, 20, 1))
        async with Working(Function("jpeg", jpeg), self.stack, "others"), self.client() as client:
            theirs = await client.load(url, format="jpeg", quality=61)
            self.assertIn(b"by somebody else", bytes(theirs.data))
            ours = [
                await client.load(url, format="png"),
                await client.load(url, resize(10, 10)),
            ]
            self.assertFalse(any(b"by somebody else" in bytes(image.data) for image in ours))
        self.assertEqual(said, [61])

    async def test_a_format_without_a_known_size_is_known_by_its_signature(self) -> None:
        def photoshop(start: bytes) -> Function:
            return Function("psd", lambda pixels, _: start + bytes(60))

        async with self.client() as client:
            liar = Working(photoshop(b"none"), self.stack, "others")
            async with liar:
                task = asyncio.create_task(client.load(self.serve(png(9, 9, 5)), format="psd"))
                await asyncio.wait_for(asyncio.shield(liar._task), SECONDS)
            async with Working(photoshop(b"8BPS"), self.stack, "others"):
                image = await asyncio.wait_for(task, SECONDS)
                self.assertEqual((image.format, bytes(image.data)), ("psd", b"8BPS" + bytes(60)))

    async def test_what_it_cannot_hold_is_said(self) -> None:
        def refuse(pixels: Pixels, quality: int | None) -> bytes:
            raise ValueError("too blue")

        async with Working(Function("qoi", refuse), self.stack, "qoi-out"):
            async with self.client() as client:
                load = client.load(self.serve(png(9, 9, 3)), format="qoi")
                error = await self.assert_fails(3006, 3006, load)
                self.assertIn("too blue", str(error))

    async def test_what_is_too_long_is_said(self) -> None:
        class Small(Function):
            def bytes_max(self, job: pb.Job) -> int:
                most = super().bytes_max(job)
                return 99 if most == job.transform.limits.pixel_bytes_max > 0 else 1 << 40

        async with Working(Small("qoi", lambda *_: b"qoif" + bytes(96)), self.stack, "qoi-out"):
            async with self.client() as client:
                load = client.load(self.serve(png(9, 9, 6)), format="qoi")
                error = await self.assert_fails(3003, 3003, load)
                self.assertEqual(error.details["limit"], "bytes")

    async def test_nothing_is_loaded_for_a_format_that_nobody_encodes(self) -> None:
        url = self.serve(png(9, 9, 4))
        async with self.client() as client:
            for format in "exr", "mp4":
                error = await self.assert_fails(3006, 3006, client.load(url, format=format))
                self.assertEqual(error.details["format"], format)
        self.assertEqual(self.gets(url), 0)

    async def test_who_lies_loses_its_session_and_another_one_is_asked(self) -> None:
        for lie in range(LIES):
            with self.subTest(lie=lie):
                data = png(32, 32, lie)
                url, plain = self.serve(data), self.serve(data)
                async with self.client() as client:
                    working = Working(Liar(lie), self.stack, "qoi-out")
                    async with working:
                        task = asyncio.create_task(client.load(url, format="qoi"))
                        await asyncio.wait_for(asyncio.shield(working._task), SECONDS)
                    await client.load(plain, resize(16, 16), format="png")
                    honest = self.launch("qoi_encoder.py", "qoi-out")
                    image = await asyncio.wait_for(task, SECONDS)
                    self.end(honest)
                read = opened(self.convert(image.data, "qoi", "png"))
                self.assertEqual(read.tobytes(), opened(data).tobytes())

    async def test_it_is_killed_and_halted_and_others_go_on(self) -> None:
        async with self.client() as client:
            for ending in signal.SIGKILL, signal.SIGSTOP:
                with self.subTest(ending):
                    process = self.launch("qoi_encoder.py", "qoi-out")
                    await client.load(self.serve(png(20, 20, ending)), format="qoi")
                    os.kill(process.pid, signal.SIGSTOP)
                    loads = [
                        asyncio.create_task(client.load(url, format="qoi"))
                        for url in [self.serve(png(40, 40, 100 + n)) for n in range(4)]
                    ]
                    for number in range(8):
                        plain = self.serve(png(40, 40, 200 + number))
                        await client.load(plain, resize(20, 20), format="png")
                    if ending == signal.SIGKILL:
                        os.kill(process.pid, signal.SIGKILL)
                    other = self.launch("qoi_encoder.py", "qoi-out")
                    # A stopped process keeps its jobs until it continues.
                    if ending == signal.SIGSTOP:
                        os.kill(process.pid, signal.SIGCONT)
                    for load in loads:
                        image = await asyncio.wait_for(load, SECONDS)
                        read = opened(self.convert(image.data, "qoi", "png"))
                        self.assertEqual(read.size, (40, 40))
                    self.end(process)
                    self.end(other)


if __name__ == "__main__":
    unittest.main()
