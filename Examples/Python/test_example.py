"""The client and the command against a real stack and an origin on the loopback interface."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
import zlib
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import imagebus_pb2 as pb
from imagebus import Client, ImagebusError, crop, flip, new_token, resize, rotate
from imagebus_results import StaleError, read_result

PROGRAMS = Path(os.environ["IMAGEBUS_PROGRAMS"])
logging.getLogger("asyncio").setLevel(logging.ERROR)  # it tells of every busy moment
SECONDS = 30  # until what should happen counts as not happening


def png(width: int, height: int, seed: int) -> bytes:
    """Noise, which does not compress: the file has three bytes a pixel."""
    noise = random.Random(seed)
    rows = b"".join(b"\0" + noise.randbytes(3 * width) for _ in range(height))

    def chunk(kind: bytes, data: bytes) -> bytes:
        checksum = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + checksum

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    pixels = chunk(b"IDAT", zlib.compress(rows, 1))
    return b"\x89PNG\r\n\x1a\n" + header + pixels + chunk(b"IEND", b"")


class SlowPicture:
    """Half of it is sent at once; the rest when `open` is called, or never."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.asked, self.broken = threading.Semaphore(0), threading.Event()
        self._inside, self._outside = socket.socketpair()

    def open(self) -> None:
        self._outside.send(b"!")

    def close(self) -> None:
        self._inside.close()
        self._outside.close()

    def is_opened(self, connection: socket.socket) -> bool:
        readable, _, _ = select.select([connection, self._inside], [], [], SECONDS)
        if connection in readable:
            self.broken.set()
        return self._inside in readable


class Handler(BaseHTTPRequestHandler):
    server: Origin

    def do_GET(self) -> None:
        with self.server.lock:
            self.server.gets[self.path] += 1
        picture = self.server.pictures.get(self.path)
        if picture is None:
            return self.send_error(404)
        data = picture.data if isinstance(picture, SlowPicture) else picture
        self.send_response(200)
        self.send_header("Content-Type", "image/png")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        half = len(data) // 2 if isinstance(picture, SlowPicture) else 0
        self.wfile.write(data[:half])
        if isinstance(picture, SlowPicture):
            picture.asked.release()
            if not picture.is_opened(self.connection):
                return
        self.wfile.write(data[half:])

    def log_message(self, *_: object) -> None:
        pass


class Origin(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.pictures: dict[str, bytes | SlowPicture] = {}
        self.gets: Counter[str] = Counter()
        self.lock = threading.Lock()
        self._thread = threading.Thread(target=self.serve_forever)
        self._thread.start()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}{path}"

    def stop(self) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()


class Stack:
    """`imagebus serve` with directories of its own, which may reach one origin only."""

    def __init__(self, origin: Origin) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="ib-", dir="/tmp"))
        self.runtime_dir = self.folder / "run"
        self._command = [
            PROGRAMS / "imagebus", "serve", "--decode", "1", "--transform", "1",
            "--runtime-dir", self.runtime_dir, "--cache-dir", self.folder / "cache",
            "--allow-address", f"127.0.0.1:{origin.server_port}",
        ]  # fmt: skip
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with open(self.folder / "log", "ab") as log:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log
            )
        output = self._process.stdout
        assert output is not None
        readable, _, _ = select.select([output], [], [], SECONDS)
        line = output.readline() if readable else b""
        if not line.startswith(b"ready "):
            raise AssertionError(f"the stack is not ready: {line!r}")

    def stop(self) -> None:
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder)

    def kill_coordinator(self) -> None:
        for children in Path(f"/proc/{self._process.pid}/task").glob("*/children"):
            for child in children.read_text().split():
                name = Path(f"/proc/{child}/comm").read_text().strip()
                if "imagebus-coordinator".startswith(name) and name != "imagebus":
                    return os.kill(int(child), signal.SIGKILL)
        raise AssertionError("there is no coordinator")


class ExampleTests(unittest.IsolatedAsyncioTestCase):
    origin: Origin
    stack: Stack

    @classmethod
    def setUpClass(cls) -> None:
        cls.origin = Origin()
        cls.addClassCleanup(cls.origin.stop)
        cls.stack = Stack(cls.origin)
        cls.addClassCleanup(cls.stack.remove)
        cls.stack.start()

    def client(self, delivery: str = "mapped") -> Client:
        return Client(self.stack.runtime_dir, delivery)

    def serve(self, picture: bytes | SlowPicture) -> str:
        """A URL that no other test has."""
        path = f"/{self.id()}-{len(self.origin.pictures)}.png"
        self.origin.pictures[path] = picture
        return self.origin.url(path)

    def serve_slowly(self, data: bytes) -> tuple[str, SlowPicture]:
        picture = SlowPicture(data)
        self.addCleanup(picture.close)
        return self.serve(picture), picture

    def gets(self, url: str) -> int:
        return self.origin.gets[url.removeprefix(self.origin.url(""))]

    async def until_asked(self, picture: SlowPicture) -> None:
        asked = await asyncio.to_thread(picture.asked.acquire, timeout=SECONDS)
        self.assertTrue(asked, "the origin was not asked")

    async def until_broken(self, picture: SlowPicture) -> None:
        broken = await asyncio.to_thread(picture.broken.wait, SECONDS)
        self.assertTrue(broken, "the connection to the origin goes on")

    def assert_same(self, data: bytes | memoryview, expected: bytes) -> None:
        """Without printing them."""
        self.assertTrue(data == expected, f"{len(data)} and {len(expected)} bytes differ")

    async def assert_fails(self, name: str, code: int, load: object) -> ImagebusError:
        with self.assertRaises(ImagebusError) as caught:
            await load
        self.assertEqual((caught.exception.name, caught.exception.code), (name, code))
        return caught.exception


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
            odd = client.load(self.serve(png(8, 8, 9)), resize(0, 8))
            await self.assert_fails("invalidRequest", 3020, odd)

    async def test_what_is_asked_64_times_at_once_is_fetched_once(self) -> None:
        url, picture = self.serve_slowly(png(320, 200, 10))
        async with self.client() as client, asyncio.TaskGroup() as tasks:
            loads = [tasks.create_task(client.load(url, resize(32, 32))) for _ in range(64)]
            await self.until_asked(picture)
            await client.load(self.serve(png(8, 8, 11)))  # came after all 64, and was answered
            picture.open()
        self.assertEqual(len({load.result().data for load in loads}), 1)
        self.assertEqual(self.gets(url), 1)

    async def test_nobody_at_home_is_unavailable(self) -> None:
        with tempfile.TemporaryDirectory(prefix="ib-", dir="/tmp") as folder:
            client = Client(folder, patience=0.1)
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
    """What a reader must check, against segments made by hand."""

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
                async with self.client("mapped") as mapped, self.client("pieces") as pieces:
                    self.assert_same((await mapped.load(url)).data, data)
                    image = await pieces.load(url)
                    self.assertIs(type(image.data), bytes)
                    self.assert_same(image.data, data)

    async def test_many_large_pictures_share_the_window(self) -> None:
        pictures = [png(1400, 1100, seed) for seed in (41, 42, 43)]
        async with self.client("pieces") as client, asyncio.TaskGroup() as tasks:
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
        for delivery in "mapped", "pieces":
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

    def test_an_interrupt_cancels_all(self) -> None:
        slow = [self.serve_slowly(png(64, 48, seed)) for seed in (80, 81)]
        with tempfile.TemporaryDirectory(prefix="ib-", dir="/tmp") as folder:
            command = self.command(Path(folder), *(url for url, _ in slow))
            with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
                for _, picture in slow:
                    self.assertTrue(picture.asked.acquire(timeout=SECONDS))
                process.send_signal(signal.SIGINT)
                _, errors = process.communicate(timeout=SECONDS)
            self.assertEqual((process.returncode, errors), (130, ""))
            for _, picture in slow:
                self.assertTrue(picture.broken.wait(SECONDS))


if __name__ == "__main__":
    unittest.main()
