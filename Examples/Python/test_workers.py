"""The SDK for loaders with a real stack: successes, failures, and false claims."""

from __future__ import annotations

import asyncio
import os
import threading

import zmq
import zmq.asyncio

import imagebus_pb2 as pb
from example_stack import SECONDS, png
from imagebus import ImagebusError, resize
from imagebus.transport import KINDS, MAGIC
from imagebus_worker import Cancelled, Failure, Loaded, Report
from imagebus_worker.failure import error_of
from imagebus_worker.segments import Segments
from worker_bench import Function, WorkerTests, Working

DOMAIN = "Test.Domain"


class LoaderTests(WorkerTests):
    async def test_an_image_is_loaded_transformed_and_cached(self) -> None:
        picture = png(320, 200, 1)
        asked: list[str] = []

        def load(url: str, report: Report) -> bytes:
            asked.append(url)
            return picture

        loader = Function(load)
        async with Working(loader, self.stack), self.client() as client:
            image = await client.load("photos://album/1", headers={"X-Who": "me"})
            self.assertTrue(image.data == picture, "the bytes are those of the loader")
            self.assertIn(("X-Who", "me"), loader.headers)
            small = await client.load("photos://album/1", resize(64, 64), format="webp")
            self.assertEqual((small.width, small.height, small.format), (64, 40, "webp"))
            again = await client.load("photos://album/1", resize(64, 64), format="webp")
            self.assertEqual((again.cache_type, again.data), (2, small.data))
            self.assertEqual(set(asked), {"photos://album/1"})
            await self.until("its segments go", lambda: not list(self.arena.iterdir()))

    async def test_an_error_of_its_own_domain_arrives_as_it_is(self) -> None:
        def load(url: str, report: Report) -> bytes:
            raise Failure("Elsewhere.Domain", -(2**40), "why: größer \N{CAT}", blocks=True)

        async with Working(Function(load), self.stack), self.client() as client:
            load_it = client.load("photos://album/2")
            error = await self.assert_fails("Elsewhere.Domain", -(2**40), load_it)
            self.assertEqual(error.message, "why: größer \N{CAT}")
            self.assertEqual((error.name, error.code), ("foreignFailure", 3029))
            # It declared the failure as permanent.
            await self.assert_fails(1003, 1003, client.load("photos://album/2"))

    async def test_what_the_author_did_not_foresee_is_an_error_and_no_end(self) -> None:
        def load(url: str, report: Report) -> bytes:
            if url.endswith("/big"):
                return bytes(report.bytes_max + 1)
            if url.endswith("/empty"):
                return b""
            if url.endswith("/none"):
                return None  # type: ignore[return-value]
            raise RuntimeError("a secret of the author")

        async with Working(Function(load), self.stack) as worker, self.client() as client:
            error = await self.assert_fails(3000, 3000, client.load("photos://album/x"))
            self.assertIn("RuntimeError", error.message)
            self.assertNotIn("secret", error.message)
            await self.assert_fails(3000, 3000, client.load("photos://album/none"))
            await self.assert_fails(3003, 3003, client.load("photos://album/big"))
            await self.assert_fails(1001, 1001, client.load("photos://album/empty"))
            self.assertTrue(worker._has_session)

    def test_a_server_that_cannot_be_reached_is_an_error_that_may_pass(self) -> None:
        for failure, code in (
            (ConnectionRefusedError(111, "a secret of the author"), 3010), (TimeoutError(), 3012),
        ):  # fmt: skip
            with self.assertLogs("imagebus.worker", "WARNING") as logged:
                error = error_of(failure)
            self.assertEqual(error.code, code)
            self.assertNotIn("secret", error.message)
            self.assertTrue(ImagebusError(error.code, error.message).retryable)
            self.assertEqual([record.exc_info for record in logged.records], [None])
            self.assertIn(str(failure), logged.output[0])

    async def test_zeros_and_long_texts_cost_no_session(self) -> None:
        picture = png(16, 16, 3)

        def load(url: str, report: Report) -> Loaded:
            if url.endswith("/bad"):
                details = {"a\0b": "c\0d" * 4_000, "e" * 9_000: "f"}
                raise ImagebusError(pb.ERROR_CODE_BAD_IMAGE_DATA, "no\0image", details)
            return Loaded(picture, content_type="image/png\0", etag="\0" * 5_000)

        working = Working(Function(load), self.stack)
        async with working, self.client() as client:
            with self.assertRaises(ImagebusError) as caught:
                await client.load("photos://album/bad")
            self.assertEqual(caught.exception.code, pb.ERROR_CODE_BAD_IMAGE_DATA)
            image = await client.load("photos://album/good")
            self.assertTrue(image.data == picture)
            self.assertEqual(working.welcomes, 1)

    async def test_progress_has_the_scale_of_the_author(self) -> None:
        told: list[tuple[int, int]] = []
        is_told = threading.Event()

        def load(url: str, report: Report) -> bytes:
            report(250, 1000)
            report.wait_until_cancelled(0)
            if not is_told.wait(SECONDS):
                raise Failure(DOMAIN, 1, "nobody was told")
            return png(8, 8, 3)

        def note(received: int, expected: int) -> None:
            told.append((received, expected))
            if received == 250:
                is_told.set()

        async with Working(Function(load), self.stack), self.client() as client:
            await client.load("photos://album/3", progress=note)
        self.assertIn((250, 1000), told)

    async def test_a_cancel_is_over_at_once_and_the_function_learns_of_it(self) -> None:
        began, ended = threading.Event(), threading.Event()

        def load(url: str, report: Report) -> bytes:
            if url.endswith("/after"):
                return png(8, 8, 4)
            began.set()
            try:
                report.wait_until_cancelled(SECONDS)
            except Cancelled:
                ended.set()
                raise
            raise Failure(DOMAIN, 1, "nobody cancelled")

        working = Working(Function(load), self.stack)
        async with working, self.client() as client:
            task = asyncio.create_task(client.load("photos://album/4"))
            self.assertTrue(await asyncio.to_thread(began.wait, SECONDS))
            task.cancel()
            self.assertTrue(await asyncio.to_thread(ended.wait, SECONDS))
            await client.load("photos://album/after")
            self.assertEqual(working.welcomes, 1, "its session did not end for it")

    async def test_a_function_that_heeds_nothing_does_not_keep_the_worker(self) -> None:
        """Its deadline passes while it blocks a thread; others are served meanwhile."""
        gate = threading.Event()
        self.addCleanup(gate.set)

        def load(url: str, report: Report) -> bytes:
            if url.endswith("/slow"):
                gate.wait()
            return png(8, 8, 5)

        async with Working(Function(load), self.stack), self.client() as client:
            slow = client.load("photos://album/slow", timeout=0.5)
            await self.assert_fails(3002, 3002, slow)
            await client.load("photos://album/5")
            gate.set()
        await self.until("what it made is gone", lambda: not list(self.arena.iterdir()))

    async def test_what_has_not_changed_is_not_sent_again(self) -> None:
        asked: list[str] = []

        def load(url: str, report: Report) -> Loaded:
            asked.append(url)
            return Loaded(png(8, 8, 60 + len(asked)), etag='"one"')

        async with Working(Function(load), self.stack), self.client() as client:
            await client.load("photos://album/6")
            request = pb.ImageRequest(url="photos://album/6", options=1 << 3)  # refresh-cached
            self.assertEqual(await self.terminal(request), "not_modified")
            self.assertEqual(len(asked), 2)

    async def terminal(self, image: pb.ImageRequest) -> str:
        """The last reply of a load, received by a client of one message."""
        context = zmq.asyncio.Context()
        socket = context.socket(zmq.DEALER)
        socket.connect(f"ipc://{self.stack.runtime_dir}/front/front.sock")
        try:
            hello = pb.ClientHello(incarnation=os.urandom(16), pid=os.getpid(), version="test")
            load = pb.Load(token=os.urandom(16), image=image)
            for message in (hello, load):
                header = MAGIC + bytes((1, KINDS[type(message)], 0, 0))
                await socket.send_multipart([header, message.SerializeToString()])
            while True:
                async with asyncio.timeout(SECONDS):
                    header, body = await socket.recv_multipart()
                if header[5] != KINDS[pb.Reply]:
                    continue
                reply = pb.Reply.FromString(body)
                if not reply.is_refreshing:
                    return str(reply.WhichOneof("outcome"))
        finally:
            socket.close(linger=0)
            context.term()

    async def test_the_last_loader_that_takes_a_url_is_asked_and_one_by_name_alone(self) -> None:
        self.launch_extension("test_workers", "failing('other')", "other")
        async with Working(failing("photos"), self.stack), self.client() as client:
            await self.assert_fails("photos", 1, client.load("photos://album/7"))
            await self.assert_fails("other", 1, client.load("photos://shelf/7"))
            await self.assert_fails("other", 1, client.load("other:7"))
            await self.assert_fails(3005, 3005, client.load("third://album/7"))

    async def test_a_worker_that_is_told_to_end_finishes_what_it_has(self) -> None:
        began, gate = threading.Event(), threading.Event()

        def load(url: str, report: Report) -> bytes:
            began.set()
            gate.wait(SECONDS)
            return png(8, 8, 8)

        working = Working(Function(load), self.stack)
        async with self.client() as client:
            async with working as worker:
                task = asyncio.create_task(client.load("photos://album/8"))
                self.assertTrue(await asyncio.to_thread(began.wait, SECONDS))
                worker.terminate()
                gate.set()
                await task
            self.assertEqual(working.status, 0)
        self.assertEqual(list(self.arena.iterdir()), [])


def failing(domain: str) -> Function:
    """A loader that identifies itself."""

    def load(url: str, report: Report) -> bytes:
        raise Failure(domain, 1, "it was this one")

    return Function(load)


class LyingSegments(Segments):
    """Makes false claims about its bytes."""

    lie: dict[str, int] = {}

    def put(self, data: bytes | bytearray | memoryview) -> tuple[pb.Segments, pb.Reference]:
        opened, reference = super().put(data)
        for name, value in self.lie.items():
            setattr(reference, name, value)
        return opened, reference


class LieTests(WorkerTests):
    async def test_who_lies_of_its_bytes_loses_its_session_and_another_one_is_asked(self) -> None:
        """A wrong size, an unannounced segment, bytes before the payload, and the block of another
        job."""
        lies = {"length": 1 << 30}, {"segment": 99}, {"offset": 0}, {"offset": 1 << 40}
        picture = png(8, 8, 9)
        for number, lie in enumerate(lies):
            url = f"photos://album/lie{number}"
            liar = Working(Function(lambda url, report: picture), self.stack)
            segments = LyingSegments(self.arena, liar.worker.incarnation)
            segments.lie = lie
            liar.worker._segments = segments
            async with self.client() as client:
                async with liar:
                    task = asyncio.create_task(client.load(url))
                    async with asyncio.timeout(SECONDS):
                        self.assertEqual(await liar._task, 70, lie)
                    self.assertFalse(task.done())
                async with Working(Function(lambda url, report: picture), self.stack):
                    image = await task
            self.assertTrue(image.data == picture)
            self.assertEqual(list(self.arena.iterdir()), [])

    async def test_a_worker_without_the_secret_is_none(self) -> None:
        working = Working(Function(lambda url, report: b""), self.stack)
        working.worker._secret = lambda: bytes(32)  # type: ignore[method-assign]
        async with asyncio.timeout(SECONDS):
            self.assertEqual(await working.worker.work(), 77)

    async def test_a_worker_that_cannot_do_what_its_pool_is_granted_is_none(self) -> None:
        loader = Function(lambda url, report: b"")
        loader.schemes = ("photos",)
        working = Working(loader, self.stack, "other")
        async with asyncio.timeout(SECONDS):
            self.assertEqual(await working.worker.work(), 70)
