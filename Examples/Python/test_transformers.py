"""The SDK for transformers, and the watermark example written with it, with a real stack. Pillow is
the independent reader."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import subprocess
import threading
import unittest
from collections.abc import Callable, Mapping

import PIL.Image
import PIL.ImageChops
import PIL.ImageOps

import imagebus_pb2 as pb
from example_stack import SECONDS, png
from imagebus import Pixels, crop, custom, flip, resize
from imagebus_worker import Failure, Report, Transformer
from worker_bench import WorkerTests, Working

LIES = 6


class Step(Transformer):
    """One step, implemented by a function of a test."""

    steps = ("test.step",)

    def __init__(self, function: Callable[[Pixels, Mapping[str, str], Report], bytes]) -> None:
        self._function = function
        self.calls = 0

    def transform(
        self, step: str, parameters: Mapping[str, str], pixels: Pixels, report: Report
    ) -> bytes:
        self.calls += 1
        return self._function(pixels, parameters, report)


class Liar(Step):
    """Makes various false claims about its result."""

    def __init__(self, lie: int) -> None:
        super().__init__(lambda pixels, *_: bytes(pixels.data))
        self._lie = lie

    def refer(self, outcome: pb.Outcome, reference: pb.Reference) -> None:
        super().refer(outcome, reference)
        made = outcome.transformed
        match self._lie:
            case 0:
                made.info.width += 1
            case 1:
                made.info.has_alpha = not made.info.has_alpha
            case 2:
                made.reference.length -= 1
            case 3:
                made.reference.offset += 1 << 40
            case 4:
                made.reference.segment += 7
            case 5:
                made.info.format = pb.IMAGE_FORMAT_PNG


def negative(pixels: Pixels, *_: object) -> bytes:
    return bytes(255 - sample for sample in pixels.data)


def opened(data: bytes | memoryview) -> PIL.Image.Image:
    return PIL.Image.open(io.BytesIO(data))


def picture(mode: str) -> bytes:
    """A PNG of 37 × 23 pixels with another value in each sample."""
    file = io.BytesIO()
    samples = bytes(7 * number % 251 for number in range(37 * 23 * len(mode)))
    PIL.Image.frombytes(mode, (37, 23), samples).save(file, "PNG")
    return file.getvalue()


class PictureTests(WorkerTests):
    def serve(self, data: bytes) -> str:
        path = f"/{self.id()}-{len(self.origin.pictures)}.png"
        self.origin.pictures[path] = data
        return self.origin.url(path)

    def gets(self, url: str) -> int:
        return self.origin.gets[url.removeprefix(self.origin.url(""))]


class TransformerTests(PictureTests):
    async def test_steps_of_ours_come_before_and_after(self) -> None:
        data = png(60, 40, 1)
        expected = PIL.ImageOps.invert(PIL.ImageOps.mirror(opened(data))).crop((5, 6, 35, 26))
        steps = flip(horizontal=True), custom("test.step"), crop(5, 6, 30, 20)
        async with Working(Step(negative), self.stack, "marks"), self.client() as client:
            image = await client.load(self.serve(data), *steps, format="png")
            self.assertEqual(opened(image.data).tobytes(), expected.tobytes())

    async def test_it_is_given_the_samples_that_there_are_and_may_make_others(self) -> None:
        seen: list[str] = []

        def first_band(pixels: Pixels, *_: object) -> bytes:
            seen.append(pixels.mode)
            self.assertEqual(pixels.size, (37, 23))
            return bytes(pixels.data[:: pixels.channels])

        async with Working(Step(first_band), self.stack, "marks"), self.client() as client:
            for mode in "L", "LA", "RGB", "RGBA":
                with self.subTest(mode):
                    data = picture(mode)
                    image = await client.load(self.serve(data), custom("test.step"), format="png")
                    grey = opened(data).getchannel(0)
                    self.assertEqual(opened(image.data).convert("L").tobytes(), grey.tobytes())
        self.assertEqual(seen, ["L", "LA", "RGB", "RGBA"])

    async def test_steps_and_parameters_are_in_the_key(self) -> None:
        said: list[Mapping[str, str]] = []

        def note(pixels: Pixels, parameters: Mapping[str, str], *_: object) -> bytes:
            said.append(parameters)
            return bytes(pixels.data)

        url = self.serve(png(8, 8, 2))
        async with Working(Step(note), self.stack, "marks"), self.client() as client:
            for parameters in {"a": "1", "b": "x"}, {"b": "x", "a": "1"}, {"a": "2"}, {}:
                await client.load(url, custom("test.step", **parameters), format="png")
        self.assertEqual(said, [{"a": "1", "b": "x"}, {"a": "2"}, {}])
        self.assertEqual(self.gets(url), 1)

    async def test_how_it_fails_is_told(self) -> None:
        def fail(pixels: Pixels, parameters: Mapping[str, str], report: Report) -> bytes:
            match parameters["how"]:
                case "value":
                    raise ValueError("strength is a number")
                case "own":
                    raise Failure("AcmeErrorDomain", 7, "out of ink")
                case "short":
                    return bytes(pixels.data[:-1])
                case _:
                    raise KeyError(1)

        expected = {"value": (3021, 3021), "own": ("AcmeErrorDomain", 7)}
        url = self.serve(png(8, 8, 3))
        async with Working(Step(fail), self.stack, "marks"), self.client() as client:
            for how in "value", "own", "short", "other":
                with self.subTest(how):
                    load = client.load(url, custom("test.step", how=how), format="png")
                    error = await self.assert_fails(*expected.get(how, (3000, 3000)), load)
                    if how == "value":
                        self.assertEqual(error.details["step"], "test.step")
                        self.assertIn("strength is a number", error.message)

    async def test_a_step_that_nobody_does_is_refused_before_anything_is_loaded(self) -> None:
        url = self.serve(png(8, 8, 4))
        async with self.client() as client:
            load = client.load(url, custom("nobody.step"), format="png")
            error = await self.assert_fails(3021, 3021, load)
        self.assertEqual(error.details["step"], "nobody.step")
        self.assertEqual(self.gets(url), 0)

    async def test_a_cancel_reaches_it(self) -> None:
        began, ended = threading.Event(), threading.Event()

        def wait(pixels: Pixels, parameters: Mapping[str, str], report: Report) -> bytes:
            began.set()
            try:
                report.wait_until_cancelled(SECONDS)
            finally:
                ended.set()
            return bytes(pixels.data)

        async with Working(Step(wait), self.stack, "marks"), self.client() as client:
            load = client.load(self.serve(png(8, 8, 5)), custom("test.step"), format="png")
            task = asyncio.create_task(load)
            self.assertTrue(await asyncio.to_thread(began.wait, SECONDS))
            task.cancel()
            self.assertTrue(await asyncio.to_thread(ended.wait, SECONDS))

    async def test_lies_end_its_session_and_others_go_on(self) -> None:
        for lie in range(LIES):
            with self.subTest(lie):
                data = png(32, 32, 6 + lie)
                url, plain = self.serve(data), self.serve(data)
                async with self.client() as client:
                    working = Working(Liar(lie), self.stack, "marks")
                    async with working:
                        load = client.load(url, custom("test.step"), format="png")
                        task = asyncio.create_task(load)
                        await asyncio.wait_for(asyncio.shield(working._task), SECONDS)
                    await client.load(plain, resize(16, 16), format="png")
                    async with Working(Step(negative), self.stack, "marks"):
                        image = await asyncio.wait_for(task, SECONDS)
                self.assertEqual(
                    opened(image.data).tobytes(), PIL.ImageOps.invert(opened(data)).tobytes()
                )


class WatermarkTests(PictureTests):
    """The example, in processes of its own."""

    def start(self) -> subprocess.Popen[bytes]:
        return self.launch("watermark_transformer.py", "watermark")

    async def test_the_word_is_at_the_bottom_right_and_nowhere_else(self) -> None:
        self.start()
        data = picture_of(200, 100)
        url = self.serve(data)
        mark = custom("examples.watermark", text="Abc", opacity="1", size="0.3")
        async with self.client() as client:
            image = await client.load(url, mark, format="png")
            changed = PIL.ImageChops.difference(opened(image.data), opened(data)).getbbox()
            left, top, right, bottom = changed
            self.assertGreaterEqual(left, 100)
            self.assertGreaterEqual(top, 50)
            self.assertLessEqual((right, bottom), (200 - 15, 100 - 15))
            self.assertLessEqual(bottom - top, 30)
            white = opened(image.data).crop(changed).getextrema()
            self.assertTrue(all(most > 200 for _, most in white), white)
            none = await client.load(
                url, custom("examples.watermark", text="Abc", opacity="0"), format="png"
            )
            self.assertEqual(opened(none.data).tobytes(), opened(data).tobytes())
            wrong = custom("examples.watermark", opacity="2")
            await self.assert_fails(3021, 3021, client.load(url, wrong, format="png"))

    async def test_it_writes_on_whatever_samples_there_are(self) -> None:
        self.start()
        mark = custom("examples.watermark", text="Abc", opacity="1", size="0.5")
        async with self.client() as client:
            for mode in "L", "LA", "RGB", "RGBA":
                with self.subTest(mode):
                    data = picture(mode)
                    image = await client.load(self.serve(data), mark, format="png")
                    marked, plain = opened(image.data).convert("RGBA"), opened(data).convert("RGBA")
                    changed = PIL.ImageChops.difference(marked, plain).convert("RGB").getbbox()
                    self.assertIsNotNone(changed)
                    top = (0, 0, 37, 3)
                    self.assertEqual(marked.crop(top).tobytes(), plain.crop(top).tobytes())

    async def test_it_is_killed_and_halted_and_others_go_on(self) -> None:
        mark = custom("examples.watermark", text="Abc")
        async with self.client() as client:
            for ending in signal.SIGKILL, signal.SIGSTOP:
                with self.subTest(ending):
                    process = self.start()
                    await client.load(self.serve(png(20, 20, ending)), mark, format="png")
                    os.kill(process.pid, signal.SIGSTOP)
                    loads = [
                        asyncio.create_task(client.load(url, mark, format="png"))
                        for url in [self.serve(png(40, 40, 100 + n)) for n in range(4)]
                    ]
                    for number in range(8):
                        plain = self.serve(png(40, 40, 200 + number))
                        await client.load(plain, resize(20, 20), format="png")
                    if ending == signal.SIGKILL:
                        os.kill(process.pid, signal.SIGKILL)
                    other = self.start()
                    # A stopped process keeps its jobs until it continues.
                    if ending == signal.SIGSTOP:
                        os.kill(process.pid, signal.SIGCONT)
                    for load in loads:
                        await asyncio.wait_for(load, SECONDS)
                    self.end(process)
                    self.end(other)


def picture_of(width: int, height: int) -> bytes:
    """A black PNG."""
    file = io.BytesIO()
    PIL.Image.new("RGB", (width, height)).save(file, "PNG")
    return file.getvalue()


if __name__ == "__main__":
    unittest.main()
