"""The client and the command with a real stack and an origin on the loopback interface."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import imagebus_pb2 as pb
from example_stack import SECONDS, ExampleTests, png
from imagebus import crop, flip, new_token, resize, rotate
from imagebus.aio import Client
from imagebus.results import StaleError, read_result

logging.getLogger("asyncio").setLevel(logging.ERROR)  # it logs every delay


class LoadTests(ExampleTests):
    async def test_a_load_runs_its_steps_and_says_what_came(self) -> None:
        url = self.serve(png(320, 200, 1))
        async with self.client() as client:
            image = await client.load(url, resize(64, 64), format="webp", quality=75)
            self.assertEqual((image.format, image.width, image.height), ("webp", 64, 40))
            self.assertEqual((image.pages, image.cache_type), (1, 0))
            self.assertEqual((image.data[:4], image.data[8:12]), (b"RIFF", b"WEBP"))
            again = await client.load(url, resize(64, 64), format="webp", quality=75)
            self.assertEqual((again.data, again.key, again.cache_type), (image.data, image.key, 2))
            self.assertEqual(self.gets(url), 1)

    async def test_a_trace_is_found_in_the_log_of_every_stage(self) -> None:
        trace = os.urandom(16).hex()
        async with self.client() as client:
            url = self.serve(png(320, 200, 9))
            await client.load(url, resize(64, 64), traceparent=f"00-{trace}-{'1' * 16}-01")
        lines = (self.stack.folder / "log").read_text().splitlines()
        stages = {line.partition("stage=")[2].split(" ")[0] for line in lines if trace in line}
        self.assertLessEqual({"query", "fetch", "decode", "transform", "store"}, stages)

    async def test_steps_run_in_order(self) -> None:
        url = self.serve(png(320, 200, 2))
        async with self.client() as client:
            steps = crop(10, 10, 100, 50), rotate(90), flip(horizontal=True)
            image = await client.load(url, *steps, format="jpeg", quality=80)
            self.assertEqual((image.format, image.width, image.height), ("jpeg", 50, 100))

    async def test_facts_come_without_bytes(self) -> None:
        async with self.client() as client:
            facts = await client.load(self.serve(png(320, 200, 3)), info_only=True)
            self.assertEqual((facts.width, facts.height, facts.data), (320, 200, b""))

    async def test_progress_is_told_while_bytes_come(self) -> None:
        data = png(320, 200, 4)
        url, picture = self.serve_slowly(data)
        told: list[tuple[int, int]] = []

        def note(received: int, expected: int) -> None:
            told.append((received, expected))
            if 0 < received < expected:
                picture.open()  # without progress the rest never comes

        async with self.client() as client:
            image = await client.load(url, progress=note)
        self.assert_same(image.data, data)
        self.assertEqual({expected for _, expected in told if expected}, {len(data)})
        self.assertEqual(told, sorted(told))

    async def test_a_cancelled_load_ends_at_once_and_lets_go_of_the_origin(self) -> None:
        url, picture = self.serve_slowly(png(320, 200, 5))
        async with self.client() as client:
            token = new_token()
            load = asyncio.create_task(client.load(url, token=token))
            await self.until_asked(picture)
            client.cancel(token)
            async with asyncio.timeout(2):
                await self.assert_fails("cancelled", 2002, load)
            await self.until_broken(picture)

    async def test_a_cancelled_task_cancels_its_load(self) -> None:
        url, picture = self.serve_slowly(png(320, 200, 6))
        async with self.client() as client:
            load = asyncio.create_task(client.load(url))
            await self.until_asked(picture)
            load.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await load
            await self.until_broken(picture)

    async def test_a_closed_client_lets_go_of_the_origin(self) -> None:
        url, picture = self.serve_slowly(png(320, 200, 7))
        async with self.client() as client:
            load = asyncio.create_task(client.load(url))
            await self.until_asked(picture)
        await self.assert_fails("cancelled", 2002, load)
        await self.until_broken(picture)

    async def test_a_deadline_ends_a_load(self) -> None:
        url, _ = self.serve_slowly(png(320, 200, 8))
        async with self.client() as client:
            late = client.load(url, timeout=0.3)
            error = await self.assert_fails("deadlineExceeded", 3002, late)
            self.assertTrue(error.retryable)

    async def test_failures_have_their_codes(self) -> None:
        async with self.client() as client:
            missing = client.load(self.origin.url("/missing.png"))
            error = await self.assert_fails("invalidDownloadStatusCode", 2001, missing)
            self.assertEqual((error.details["httpStatus"], error.retryable), ("404", False))
            text = client.load(self.serve(b"no image" * 100), resize(8, 8))
            await self.assert_fails("badImageData", 1001, text)
            private = client.load("http://127.0.0.1:1/private.png")
            await self.assert_fails("addressForbidden", 3004, private)
            await self.assert_fails("invalidURL", 1000, client.load(""))
            odd = client.load(self.serve(png(8, 8, 9)), resize(0, 0))
            await self.assert_fails("invalidRequest", 3020, odd)

    async def test_what_is_asked_64_times_at_once_is_fetched_once(self) -> None:
        url, picture = self.serve_slowly(png(320, 200, 10))
        async with self.client() as client, asyncio.TaskGroup() as tasks:
            loads = [tasks.create_task(client.load(url, resize(32, 32))) for _ in range(64)]
            await self.until_asked(picture)
            await client.load(self.serve(png(8, 8, 11)))  # sent after all 64, and answered
            picture.open()
        self.assertEqual(len({load.result().data for load in loads}), 1)
        self.assertEqual(self.gets(url), 1)

    async def test_nobody_at_home_is_unavailable(self) -> None:
        with tempfile.TemporaryDirectory(prefix="ib-", dir="/tmp") as folder:
            client = Client(folder, connect_timeout=0.1)
            await self.assert_fails("unavailable", 3022, client.__aenter__())


class SharedMemoryTests(ExampleTests):
    async def test_large_results_are_mapped_and_given_back(self) -> None:
        data = png(1400, 1100, 20)
        url = self.serve(data)
        async with self.client() as client:
            held = [await client.load(url) for _ in range(16)]
            self.assertTrue(all(image.data == data for image in held))
            self.assertIs(type(held[0].data), memoryview)
            self.assertIs(type(held[-1].data), bytes, "beyond 64 MiB it comes as a copy")
            for image in held:
                image.release()
            with await client.load(url) as image:
                self.assertIs(type(image.data), memoryview, "all was released")

    async def test_a_view_outlives_its_image_and_the_client(self) -> None:
        data = png(1400, 1100, 21)
        async with self.client() as client:
            view = (await client.load(self.serve(data))).data
        self.assert_same(view, data)


class ReadingTests(unittest.TestCase):
    """The checks that a reader must make, with handmade segments."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="ib-", dir="/tmp")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.name = f"{'ab' * 16}.1"
        self.segment = self.folder / self.name
        self.segment.write_bytes(struct.pack("<Q", 7) + bytes(56) + b"picture" + bytes(57))

    def delivered(self, **other: int) -> pb.DeliveredImage:
        producer = pb.Producer(kind=pb.WORKER_KIND_CACHE, incarnation=b"\xab" * 16)
        facts = dict(arena=pb.ARENA_RESULTS, segment=1, offset=64, length=7, block=7) | other
        return pb.DeliveredImage(reference=pb.Reference(producer=producer, **facts))

    def test_bytes_of_the_block_are_read(self) -> None:
        self.assertEqual(read_result(self.folder, self.delivered()), b"picture")

    def test_another_block_and_a_segment_that_is_gone_are_stale(self) -> None:
        for other in {"block": 8}, {"segment": 2}:
            with self.subTest(other), self.assertRaises(StaleError):
                read_result(self.folder, self.delivered(**other))

    def test_references_beyond_the_segment_are_refused(self) -> None:
        for other in {"offset": 63}, {"length": 65}, {"offset": 2**64 - 1}, {"arena": 0}:
            with self.subTest(other), self.assertRaises(PermissionError):
                read_result(self.folder, self.delivered(**other))

    def test_links_and_what_is_no_file_are_refused(self) -> None:
        self.segment.rename(self.folder / "elsewhere")
        for make in lambda: self.segment.symlink_to("elsewhere"), lambda: os.mkfifo(self.segment):
            make()
            with self.assertRaises(OSError):
                read_result(self.folder, self.delivered())
            self.segment.unlink()

    def test_a_folder_in_which_others_may_write_is_refused(self) -> None:
        self.folder.chmod(0o770)
        with self.assertRaises(PermissionError):
            read_result(self.folder, self.delivered())


class RestartTests(ExampleTests):
    async def test_a_client_goes_on_with_the_next_stack(self) -> None:
        data = png(320, 200, 30)
        async with self.client() as client:
            self.assert_same((await client.load(self.serve(data))).data, data)
            await asyncio.to_thread(self.stack.stop)
            await asyncio.to_thread(self.stack.start)
            self.assert_same((await client.load(self.serve(data))).data, data)

    async def test_a_load_survives_its_coordinator(self) -> None:
        data = png(320, 200, 31)
        url, picture = self.serve_slowly(data)
        async with self.client() as client:
            load = asyncio.create_task(client.load(url))
            await self.until_asked(picture)
            self.stack.kill_coordinator()
            await self.until_asked(picture)  # under the next epoch
            picture.open()
            self.assert_same((await load).data, data)


class PieceTests(ExampleTests):
    async def test_pictures_are_the_same_mapped_and_in_pieces(self) -> None:
        for width, height in (8, 8), (200, 200), (1400, 1100):
            with self.subTest(width=width, height=height):
                data = png(width, height, width)
                url = self.serve(data)
                async with self.client("mapped") as mapped, self.client("chunks") as chunks:
                    self.assert_same((await mapped.load(url)).data, data)
                    image = await chunks.load(url)
                    self.assertIs(type(image.data), bytes)
                    self.assert_same(image.data, data)

    async def test_many_large_pictures_share_the_window(self) -> None:
        pictures = [png(1400, 1100, seed) for seed in (41, 42, 43)]
        async with self.client("chunks") as client, asyncio.TaskGroup() as tasks:
            urls = [self.serve(data) for data in pictures]
            loads = [tasks.create_task(client.load(url)) for url in urls * 2]
        for load, data in zip(loads, pictures * 2):
            self.assert_same(load.result().data, data)

    async def test_results_that_cannot_be_opened_come_in_pieces(self) -> None:
        data = png(320, 200, 44)
        elsewhere = Path(tempfile.mkdtemp(prefix="ib-", dir="/tmp"))
        self.addCleanup(shutil.rmtree, elsewhere)
        (elsewhere / "front").symlink_to(self.stack.runtime_dir / "front")
        async with Client(elsewhere) as client:
            self.assert_same((await client.load(self.serve(data))).data, data)

    async def test_an_upload_is_a_picture_like_any_other(self) -> None:
        data = png(320, 200, 45)
        for delivery in "mapped", "chunks", "pieces":
            async with self.client(delivery) as client:
                image = await client.upload(data, resize(64, 64), format="jpeg")
                self.assertEqual((image.format, image.width, image.height), ("jpeg", 64, 40))
        self.assertEqual(image.cache_type, 2, "the same bytes and steps are the same work")

    async def test_uploads_share_the_window(self) -> None:
        pictures = [png(1400, 1100, seed) for seed in (46, 47, 48)]
        async with self.client() as client, asyncio.TaskGroup() as tasks:
            loads = [tasks.create_task(client.upload(data)) for data in pictures]
        for load, data in zip(loads, pictures):
            self.assert_same(load.result().data, data)

    async def test_a_cancelled_upload_leaves_the_window_to_others(self) -> None:
        data, token = png(1400, 1100, 49), new_token()
        async with self.client() as client:
            load = asyncio.create_task(client.upload(data, token=token))
            asyncio.get_running_loop().call_soon(client.cancel, token)
            await self.assert_fails("cancelled", 2002, load)
            self.assert_same((await client.upload(data)).data, data)

    async def test_what_is_uploaded_and_no_image_is_bad(self) -> None:
        async with self.client() as client:
            upload = client.upload(b"no image" * 10, resize(8, 8))
            await self.assert_fails("badImageData", 1001, upload)


def heed_interrupts() -> None:
    """Restores the default handler in a new process: background processes of a shell ignore SIGINT
    otherwise."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


class ThumbnailTests(ExampleTests):
    def command(self, output: Path, *urls: str) -> list[str | Path]:
        script = Path(__file__).with_name("thumbnail.py")
        places = ["--runtime-dir", self.stack.runtime_dir, "-o", output]
        return [sys.executable, script, *places, "--size", "32", *urls]

    def test_thumbnails_are_written_and_failures_said(self) -> None:
        urls = [self.serve(png(64, 48, seed)) for seed in range(60, 70)]
        with tempfile.TemporaryDirectory(prefix="ib-", dir="/tmp") as folder:
            output, file = Path(folder, "out"), Path(folder, "mine.png")
            file.write_bytes(png(64, 48, 70))
            command = self.command(output, *urls, str(file), self.origin.url("/missing.png"))
            ended = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
            self.assertEqual(ended.returncode, 1, ended.stderr)
            written = sorted(output.iterdir())
            self.assertEqual(len(written), 11)
            self.assertTrue(all(file.read_bytes()[8:12] == b"WEBP" for file in written))
            self.assertIn("missing.png: invalidDownloadStatusCode (2001)", ended.stdout)

    def test_where_others_may_serve_is_no_default(self) -> None:
        environment = {name: os.environ[name] for name in ("PATH", "PYTHONPATH")}
        url = self.serve(png(64, 48, 82))
        with tempfile.TemporaryDirectory(prefix="ib-", dir="/tmp") as folder:
            script, *_ = self.command(Path(folder))[1:]
            command = [sys.executable, script, "-o", Path(folder, "out"), url]
            place = Path(folder, "imagebus")
            place.symlink_to(self.stack.runtime_dir)
            ended = self.run_command(command, environment | {"XDG_RUNTIME_DIR": folder})
            self.assertEqual((ended.returncode, self.gets(url)), (1, 0))
            self.assertIn(f"{place} is not a directory", ended.stderr)
            environment["IMAGEBUS_RUNTIME_DIR"] = str(place)
            ended = self.run_command(command, environment)
            self.assertEqual((ended.returncode, self.gets(url)), (0, 1), ended.stderr)

    def run_command(
        self, command: list[str | Path], environment: dict[str, str]
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=SECONDS
        )

    def test_an_interrupt_cancels_all(self) -> None:
        slow = [self.serve_slowly(png(64, 48, seed)) for seed in (80, 81)]
        with tempfile.TemporaryDirectory(prefix="ib-", dir="/tmp") as folder:
            command = self.command(Path(folder), *(url for url, _ in slow))
            with subprocess.Popen(
                command, stderr=subprocess.PIPE, text=True, preexec_fn=heed_interrupts
            ) as process:
                for _, picture in slow:
                    self.assertTrue(picture.asked.acquire(timeout=SECONDS))
                process.send_signal(signal.SIGINT)
                _, errors = process.communicate(timeout=SECONDS)
            self.assertEqual((process.returncode, errors), (130, ""))
            for _, picture in slow:
                self.assertTrue(picture.broken.wait(SECONDS))


if __name__ == "__main__":
    unittest.main()
