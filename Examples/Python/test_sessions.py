"""The client with a scripted coordinator, for rare situations."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import struct
import tempfile
import unittest
from pathlib import Path
from typing import Any

import zmq
import zmq.asyncio
from google.protobuf.message import Message

import imagebus_pb2 as pb
from imagebus import ImagebusError
from imagebus.aio import Client
from imagebus.transport import KINDS, MAGIC

MESSAGES = {kind: message for message, kind in KINDS.items()}
logging.getLogger("asyncio").setLevel(logging.ERROR)
logging.getLogger("imagebus").setLevel(logging.ERROR)
WINDOW = 4 * 61_440
SECONDS = 60
PRODUCER = pb.Producer(kind=pb.WORKER_KIND_CACHE, incarnation=b"\xab" * 16)


class Script:
    """A ROUTER; each line of a test is an expected message or a reply."""

    def __init__(self, folder: Path) -> None:
        (folder / "front").mkdir(exist_ok=True)
        self._context = zmq.asyncio.Context()
        self._router = self._context.socket(zmq.ROUTER)
        self._router.bind(f"ipc://{folder}/front/front.sock")
        self._client = b""

    async def receive(self) -> Any:
        async with asyncio.timeout(SECONDS):
            self._client, header, body = await self._router.recv_multipart()
        return MESSAGES[header[5]].FromString(body)

    async def expect(self, kind: type[Message]) -> Any:
        message = await self.receive()
        assert type(message) is kind, f"{type(message).__name__} came, not {kind.__name__}"
        return message

    async def say(self, *messages: Message) -> None:
        for message in messages:
            header = MAGIC + bytes((1, KINDS[type(message)], 0, 0))
            await self.say_frames(header, message.SerializeToString())

    async def say_frames(self, *frames: bytes) -> None:
        await self._router.send_multipart([self._client, *frames])

    async def welcome(self, window: int = 8, **more: Any) -> pb.ClientHello:
        hello = await self.expect(pb.ClientHello)
        facts = dict(epoch=os.urandom(16), window=window, piece_window=WINDOW) | more
        await self.say(pb.ClientWelcome(**facts))
        return hello

    def close(self) -> None:
        self._context.destroy(linger=0)


class ScriptedTests(unittest.IsolatedAsyncioTestCase):
    """Has a folder, a script, and typical messages of a coordinator."""

    async def asyncSetUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="ib-", dir="/tmp"))
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "results").mkdir(mode=0o750)
        self.script = Script(self.folder)
        self.addCleanup(lambda: self.script.close())

    async def connect(self, delivery: str = "auto", window: int = 8) -> Client:
        client = Client(self.folder, delivery)
        entering = asyncio.create_task(self.enterAsyncContext(client))
        self.hello = await self.script.welcome(window)
        await entering
        return client

    def start(self, load: Any) -> asyncio.Task[Any]:
        return asyncio.create_task(load)

    def image(self, token: bytes, **delivered: Any) -> pb.Reply:
        info = pb.ImageInfo(width=1, height=1, pages=1)
        return pb.Reply(token=token, image=pb.DeliveredImage(info=info, **delivered))

    def failure(self, token: bytes, code: int) -> pb.Reply:
        return pb.Reply(token=token, failure=pb.Error(code=code, message="so it is"))

    def write_block(self, block: int) -> pb.Reference:
        segment = self.folder / "results" / f"{'ab' * 16}.1"
        segment.write_bytes(struct.pack("<Q", block) + bytes(56) + b"picture")
        return pb.Reference(
            producer=PRODUCER, arena=pb.ARENA_RESULTS, segment=1, offset=64, length=7, block=block
        )


class SessionTests(ScriptedTests):
    async def test_hello_is_said_again_when_asked_for(self) -> None:
        client = await self.connect()
        load = self.start(client.load("http://a/"))
        first = await self.script.expect(pb.Load)
        await self.script.say(pb.HelloRequired(), pb.HelloRequired())
        again = await self.script.welcome()
        self.assertEqual(again.incarnation, self.hello.incarnation)
        second = await self.script.expect(pb.Load)
        self.assertEqual(second.token, first.token)
        await self.script.say(self.failure(second.token, pb.ERROR_CODE_BUSY))
        with self.assertRaises(ImagebusError) as caught:
            await load
        self.assertEqual((caught.exception.name, caught.exception.retryable), ("busy", True))

    async def test_loads_go_on_with_the_next_coordinator_but_for_cancelled_ones(self) -> None:
        client = await self.connect()
        tokens = [bytes([number]) * 16 for number in range(3)]
        loads = [self.start(client.load("http://a/", token=token)) for token in tokens]
        for _ in tokens:
            await self.script.expect(pb.Load)
        client.cancel(tokens[1])
        await self.script.expect(pb.Cancel)
        await self.script.say(self.failure(tokens[2], pb.ERROR_CODE_SHUTTING_DOWN))
        self.script.close()
        self.script = Script(self.folder)
        await self.script.welcome()
        for token in tokens[0], tokens[2]:
            self.assertEqual((await self.script.expect(pb.Load)).token, token)
            await self.script.say(self.image(token))
        self.assertEqual([(await loads[0]).token, (await loads[2]).token], tokens[::2])
        with self.assertRaisesRegex(ImagebusError, "cancelled"):
            await loads[1]

    async def test_loads_beyond_the_window_wait(self) -> None:
        client = await self.connect(window=1)
        loads = [self.start(client.load(f"http://a/{number}")) for number in range(3)]
        for number in range(3):
            load = await self.script.expect(pb.Load)
            self.assertEqual(load.image.url, f"http://a/{number}")
            await self.script.say(pb.Refused(error=pb.Error(code=pb.ERROR_CODE_BUSY)))
            await self.script.say(self.image(load.token))
            await loads[number]

    async def test_former_names_of_arguments_are_accepted(self) -> None:
        client = Client(self.folder, "pieces", patience=SECONDS)
        entering = asyncio.create_task(self.enterAsyncContext(client))
        hello = await self.script.welcome()
        await entering
        self.assertTrue(hello.wants_pieces)
        self.script.close()
        with self.assertRaisesRegex(ImagebusError, "no coordinator responds"):
            await Client(self.folder, patience=0.1).__aenter__()

    async def test_stale_bytes_are_asked_for_again_and_in_the_end_in_pieces(self) -> None:
        client = await self.connect()
        self.assertFalse(self.hello.wants_pieces)
        reference = self.write_block(7)
        reference.block = 8
        load = self.start(client.load("http://a/"))
        for retries in range(4):
            asked = await self.script.expect(pb.Load)
            self.assertEqual((asked.stale_retries, asked.wants_pieces), (retries, False))
            await self.script.say(self.image(asked.token, reference=reference))
        asked = await self.script.expect(pb.Load)
        self.assertEqual((asked.stale_retries, asked.wants_pieces), (3, True))
        await self.script.say(
            pb.Piece(token=asked.token, offset=0, total=7, data=b"picture"),
            self.image(asked.token, piece_bytes=7),
        )
        self.assertEqual((await load).data, b"picture")

    async def test_a_large_result_that_crosses_a_cancel_is_given_back(self) -> None:
        client = await self.connect()
        load = self.start(client.load("http://a/"))
        token = (await self.script.expect(pb.Load)).token
        load.cancel()
        await self.script.expect(pb.Cancel)
        large = pb.Reference(producer=PRODUCER, arena=1, segment=1, length=1 << 20, block=9)
        await self.script.say(self.image(token, reference=large))
        self.assertEqual(list((await self.script.expect(pb.Release)).blocks), [9])

    async def test_pieces_begin_anew_alternate_and_are_taken(self) -> None:
        client = await self.connect("chunks")
        self.assertTrue(self.hello.wants_pieces)
        loads = [self.start(client.load(f"http://a/{number}")) for number in range(2)]
        first, second = [(await self.script.expect(pb.Load)).token for _ in loads]
        await self.script.say(
            pb.Piece(token=first, offset=0, total=6, data=b"old"),
            pb.Piece(token=second, offset=0, total=4, data=b"ab"),
            pb.Piece(token=b"x" * 16, offset=0, total=1, data=b"?"),
        )
        self.assertEqual((await self.script.expect(pb.Taken)).bytes, 6)
        await self.script.say(
            pb.Piece(token=first, offset=0, total=3, data=b"new"),
            pb.Piece(token=second, offset=2, total=4, data=b"cd"),
            self.image(second, piece_bytes=4),
            self.image(first, piece_bytes=3),
        )
        self.assertEqual((await self.script.expect(pb.Taken)).bytes, 3)
        self.assertEqual((await self.script.expect(pb.Taken)).bytes, 2)
        self.assertEqual([(await load).data for load in loads], [b"new", b"abcd"])

    async def test_half_a_window_is_said_to_be_taken(self) -> None:
        client = await self.connect("chunks")
        load = self.start(client.load("http://a/"))
        token = (await self.script.expect(pb.Load)).token
        data, total = bytes(61_440), 3 * 61_440
        for number in range(3):
            offset = number * len(data)
            await self.script.say(pb.Piece(token=token, offset=offset, total=total, data=data))
        for taken in 2 * 61_440, 61_440:
            self.assertEqual((await self.script.expect(pb.Taken)).bytes, taken)
        await self.script.say(self.image(token, piece_bytes=total))
        self.assertEqual(len((await load).data), total)

    async def test_a_gap_ends_the_load(self) -> None:
        client = await self.connect("chunks")
        load = self.start(client.load("http://a/"))
        token = (await self.script.expect(pb.Load)).token
        await self.script.say(pb.Piece(token=token, offset=1, total=9, data=b"b"))
        with self.assertRaisesRegex(ImagebusError, "protocolViolation"):
            await load
        self.assertEqual((await self.script.expect(pb.Cancel)).token, token)

    async def test_uploads_take_turns_and_keep_to_the_window(self) -> None:
        client = await self.connect()
        pictures = [os.urandom(2 * WINDOW), os.urandom(100)]
        uploads = [self.start(client.upload(data)) for data in pictures]
        sent: dict[bytes, bytes] = {}
        whole, on_the_way = list[bytes](), 0
        while len(whole) < 2:
            message = await self.script.receive()
            if isinstance(message, pb.Load):
                self.assertEqual(message.upload_bytes, len(pictures[len(sent)]))
                sent[message.token] = b""
                continue
            self.assertEqual(message.offset, len(sent[message.token]))
            sent[message.token] += message.data
            on_the_way += len(message.data)
            self.assertLessEqual(on_the_way, WINDOW)
            if on_the_way > WINDOW - 61_440:
                await self.script.say(pb.Taken(bytes=on_the_way))
                on_the_way = 0
            if len(sent[message.token]) == message.total:
                whole.append(sent[message.token])
        self.assertEqual(whole, pictures[::-1], "the small one did not wait for the large one")
        self.assertEqual(list(sent.values()), pictures)
        for token in sent:
            await self.script.say(self.image(token))
        await asyncio.gather(*uploads)

    async def test_an_upload_begins_anew_with_the_next_coordinator(self) -> None:
        client = await self.connect()
        data = os.urandom(2 * WINDOW)
        upload = self.start(client.upload(data))
        await self.script.expect(pb.Load)
        await self.script.expect(pb.Piece)
        self.script.close()
        self.script = Script(self.folder)
        await self.script.welcome()
        token, came = (await self.script.expect(pb.Load)).token, b""
        while len(came) < len(data):
            piece = await self.script.expect(pb.Piece)
            self.assertEqual(piece.offset, len(came))
            came += piece.data
            await self.script.say(pb.Taken(bytes=len(piece.data)))
        self.assertEqual(came, data)
        await self.script.say(self.image(token))
        await upload

    async def test_other_versions_are_told_and_reported(self) -> None:
        client = await self.connect()
        load = self.start(client.load("http://a/"))
        await self.script.expect(pb.Load)
        await self.script.say_frames(MAGIC + bytes((9, 0, 0, 0)), bytes((2, 3)))
        with self.assertRaises(ImagebusError) as caught:
            await load
        self.assertEqual(caught.exception.code, pb.ERROR_CODE_VERSION_MISMATCH)

    async def test_what_is_no_message_ends_the_loads(self) -> None:
        client = await self.connect()
        load = self.start(client.load("http://a/"))
        await self.script.expect(pb.Load)
        await self.script.say_frames(b"garbage!", b"")
        with self.assertRaisesRegex(ImagebusError, "protocolViolation"):
            await load


if __name__ == "__main__":
    unittest.main()
