"""Answers that are repeated without a request: how they end, and how they are reported."""

from __future__ import annotations

import asyncio
import os
import shutil
import struct
import tempfile
import time
import unittest
from collections.abc import Coroutine
from pathlib import Path
from typing import Any
from unittest.mock import DEFAULT, Mock, patch

from google.protobuf.message import Message

import imagebus_pb2 as pb
from example_stack import SECONDS, ExampleTests, png
from imagebus import Image, resize
from imagebus.aio import Client
from imagebus.vouchers import ANSWERS_MAX, HEADER, MAGIC, WORDS_MAX, RepeatedAnswers
from test_sessions import PRODUCER, Script

LIMIT = 60  # seconds until an expected event counts as missing
WORDS = 2_048
NEVER = 3_600.0  # seconds; longer than any test


class Sent:
    """The messages that a client has sent since the last call."""

    def __init__(self, client: Client) -> None:
        self._messages: list[Message] = []
        line = client._transport
        send = patch.object(line, "send", side_effect=self._note, wraps=line.send)
        send.start()
        self.stop = send.stop

    def _note(self, message: Message) -> Any:
        self._messages.append(message)
        return DEFAULT  # then calls the wrapped function

    def take(self, kind: type[Message]) -> list[Any]:
        taken = [message for message in self._messages if type(message) is kind]
        self._messages.clear()
        return taken


class VoucherTests(ExampleTests):
    """With a real coordinator and cache."""

    async def learn(self, client: Client, url: str, **how: Any) -> Image:
        """Loads until the client repeats the answer by itself: one hit by voucher."""
        sent = Sent(client)
        async with asyncio.timeout(LIMIT):
            while True:
                image = await client.load(url, **how)
                if not sent.take(pb.Load):
                    sent.stop()
                    return image
                await asyncio.sleep(0.001)

    async def until_told(self, hits: int) -> dict[str, int]:
        async with asyncio.timeout(LIMIT):
            while True:
                counters = await asyncio.to_thread(self.stack.counters)
                if counters["voucherHits"] >= hits:
                    return counters
                await asyncio.sleep(0.02)

    async def test_repeated_hits_cost_no_message_and_count(self) -> None:
        data, loads = png(112, 110, 90), 2_000
        url = self.serve(data)
        async with self.client() as client:
            before = await asyncio.to_thread(self.stack.counters)
            first = await self.learn(client, url)
            before = await self.until_told(before["voucherHits"] + 1)
            sent, told = Sent(client), list[pb.Used]()
            begun = time.perf_counter()
            for _ in range(loads):
                image = await client.load(url)
                self.assert_same(image.data, data)
            each = (time.perf_counter() - begun) / loads
            print(f"{len(data)} bytes in {1e6 * each:.0f} µs ", end="", flush=True)
            self.assertEqual(sent.take(pb.Load), [])
            self.assertNotEqual(image.token, first.token)
            facts = "format", "width", "height", "pages", "cache_type", "key"
            for name in facts:
                self.assertEqual(getattr(image, name), getattr(first, name))
            after = await self.until_told(before["voucherHits"] + loads)
        for name in "requests", "memoryHits", "voucherHits":
            self.assertEqual(after[name] - before[name], loads, name)
        self.assertEqual(self.gets(url), 1)

    async def test_what_was_used_is_told_before_the_goodbye(self) -> None:
        url = self.serve(png(64, 48, 91))
        before = self.stack.counters()
        with patch("imagebus.session.TELL_USED", NEVER):
            async with self.client() as client:
                await self.learn(client, url)
                for _ in range(10):
                    await client.load(url)
        after = await self.until_told(before["voucherHits"] + 11)
        self.assertEqual(after["voucherHits"] - before["voucherHits"], 11)

    async def test_after_a_removal_is_told_nobody_repeats(self) -> None:
        pictures = png(112, 110, 92), png(110, 112, 93)
        url = self.serve(pictures[0])
        async with self.client() as client:
            for number in range(50):
                data, width = pictures[number % 2], (112, 110)[number % 2]
                self.origin.pictures[url.removeprefix(self.origin.url(""))] = data
                self.stack.run("cache", "remove", "--url", url)
                # Properties have no bytes that could be checked: only the words reveal the removal.
                self.assertEqual((await client.load(url, info_only=True)).width, width)
                self.assertEqual((await self.learn(client, url, info_only=True)).width, width)
                self.assert_same((await client.load(url)).data, data)
                self.assert_same((await self.learn(client, url)).data, data)
        self.assertEqual(self.gets(url), 50)

    async def test_a_coordinator_that_was_killed_vouches_for_nothing(self) -> None:
        old, new = png(112, 110, 94), png(110, 112, 95)
        url = self.serve(old)
        async with self.client() as client:
            self.assert_same((await self.learn(client, url)).data, old)
            self.assertEqual((await self.learn(client, url, info_only=True)).width, 112)
            self.origin.pictures[url.removeprefix(self.origin.url(""))] = new
            # This task doesn't yield meanwhile: the client has not noticed the end.
            self.stack.kill_coordinator()
            self.stack.run("cache", "remove", "--url", url)
            self.assertTrue(client._has_session)
            self.assertEqual((await client.load(url, info_only=True)).width, 110)
            self.assert_same((await client.load(url)).data, new)
            self.assert_same((await self.learn(client, url)).data, new)


class NoVoucherTests(ExampleTests):
    options = ("--vouchers", "0")

    async def test_without_vouchers_all_is_asked(self) -> None:
        data = png(112, 110, 96)
        url = self.serve(data)
        async with self.client() as client:
            sent = Sent(client)
            for _ in range(6):
                self.assert_same((await client.load(url)).data, data)
            self.assertEqual(len(sent.take(pb.Load)), 6)
        counters = self.stack.counters()
        self.assertEqual((counters["requests"], counters["voucherHits"]), (6, 0))


class WordTests(unittest.IsolatedAsyncioTestCase):
    """With a scripted coordinator, and a handmade voucher file."""

    async def asyncSetUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="ib-", dir="/tmp"))
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "results").mkdir(mode=0o750)
        self.front = self.folder / "front"
        self.front.mkdir(mode=0o750)
        self.script = Script(self.folder)
        self.addCleanup(lambda: self.script.close())
        self.segment = self.folder / "results" / f"{'ab' * 16}.1"
        self.write_block(7, b"picture")
        self.number, self.until = 5, 0
        self.epoch = os.urandom(16)

    # ---- Actions of the coordinator and the cache

    def write_block(self, block: int, data: bytes) -> None:
        self.segment.write_bytes(struct.pack("<Q", block) + bytes(56) + data)
        place = dict(arena=pb.ARENA_RESULTS, segment=1, offset=64, length=len(data), block=block)
        self.reference = pb.Reference(producer=PRODUCER, **place)

    @property
    def words(self) -> Path:
        return self.front / f"vouchers.{self.epoch.hex()}"

    def write_words(self, head: bytes = b"", size: int = HEADER + 8 * WORDS) -> None:
        """Makes all vouchers from 1 on valid."""
        head = head or MAGIC + struct.pack("<Q", WORDS) + self.epoch
        numbers = struct.pack(f"<{WORDS}Q", WORDS, *range(1, WORDS))
        self.words.write_bytes((head.ljust(HEADER, b"\0") + numbers).ljust(size, b"\0")[:size])

    def write_number(self, offset: int, number: int) -> None:
        with self.words.open("r+b", buffering=0) as file:
            file.seek(offset)
            file.write(struct.pack("<Q", number))

    def write_word(self, word: int, number: int) -> None:
        self.write_number(HEADER + 8 * word, number)

    async def connect(self, clock: int | None = None) -> Client:
        client = Client(self.folder, "mapped")
        entering = asyncio.create_task(self.enterAsyncContext(client))
        await self.welcome(clock)
        await entering
        return client

    async def welcome(self, clock: int | None = None, words: int = WORDS) -> None:
        clock = time.clock_gettime_ns(time.CLOCK_MONOTONIC) if clock is None else clock
        await self.script.welcome(2_048, epoch=self.epoch, voucher_words=words, clock=clock)

    async def begin_anew(self, client: Client, words: int = WORDS) -> None:
        """Starts another session of the same client."""
        session = client._session
        await self.script.say(pb.HelloRequired())
        await self.welcome(words=words)
        async with asyncio.timeout(LIMIT):
            while client._session == session:
                await asyncio.sleep(0.001)

    def delivered(self, **other: Any) -> pb.DeliveredImage:
        info = pb.ImageInfo(width=1, height=1, pages=1)
        voucher = pb.Voucher(number=self.number, until=self.until)
        facts = dict(info=info, voucher=voucher, reference=self.reference) | other
        return pb.DeliveredImage(**facts)

    async def is_asked(self, load: Coroutine[Any, Any, Image]) -> bool:
        """Whether a load is sent to the coordinator, which answers it with a voucher."""
        task = asyncio.create_task(load)
        for _ in range(3):  # turns of the loop; without an answer a load can't finish in them
            await asyncio.sleep(0)
        if is_asked := not task.done():
            while type(message := await self.script.receive()) is not pb.Load:
                assert type(message) in (pb.Used, pb.Piece), message
            await self.script.say(pb.Reply(token=message.token, image=self.delivered()))
        async with asyncio.timeout(SECONDS):
            self.image = await task
        return is_asked

    async def assert_asked(self, load: Coroutine[Any, Any, Image]) -> None:
        self.assertTrue(await self.is_asked(load), "it was given again")

    async def assert_repeated(self, load: Coroutine[Any, Any, Image]) -> None:
        self.assertFalse(await self.is_asked(load), "it was asked for")
        self.assertEqual(self.image.data, b"picture")

    # ---- Valid answers

    async def test_an_answer_stands_as_long_as_its_word_and_the_floor_say(self) -> None:
        self.write_words()
        client = await self.connect()
        await self.assert_asked(client.load("http://a/"))
        await self.assert_repeated(client.load("http://a/"))
        self.write_word(5, 0)
        await self.assert_asked(client.load("http://a/"))
        self.write_word(5, 5 + WORDS)
        await self.assert_asked(client.load("http://a/"))
        self.number += WORDS
        await self.assert_asked(client.load("http://a/"))
        self.write_number(64, self.number)
        await self.assert_repeated(client.load("http://a/"))
        self.write_number(64, self.number + 1)
        await self.assert_asked(client.load("http://a/"))
        await self.assert_asked(client.load("http://a/"))

    async def test_an_answer_is_forgotten_at_its_time(self) -> None:
        self.write_words()
        client = await self.connect()
        self.until = time.monotonic_ns() + 3_600_000_000_000
        await self.assert_asked(client.load("http://a/"))
        await self.assert_repeated(client.load("http://a/"))
        with patch("imagebus.vouchers.time.monotonic_ns", Mock(return_value=self.until - 1)):
            await self.assert_repeated(client.load("http://a/"))
        with patch("imagebus.vouchers.time.monotonic_ns", Mock(return_value=self.until)):
            await self.assert_asked(client.load("http://a/"))

    async def test_the_time_of_another_clock_says_nothing(self) -> None:
        self.write_words()
        client = await self.connect(clock=time.monotonic_ns() + 3_600_000_000_000)
        self.until = time.monotonic_ns() + 7_200_000_000_000
        await self.assert_asked(client.load("http://a/"))
        await self.assert_asked(client.load("http://a/"))
        self.until = 0
        await self.assert_asked(client.load("http://a/"))
        await self.assert_repeated(client.load("http://a/"))

    async def test_bytes_of_another_block_are_asked_for(self) -> None:
        self.write_words()
        client = await self.connect()
        await self.assert_asked(client.load("http://a/"))
        self.write_block(8, b"another")
        await self.assert_asked(client.load("http://a/"))
        self.assertEqual(self.image.data, b"another")
        self.write_block(9, b"picture")
        await self.assert_asked(client.load("http://a/"))
        await self.assert_repeated(client.load("http://a/"))
        self.segment.rename(self.folder / "elsewhere")
        load = asyncio.create_task(client.load("http://a/"))
        while type(asked := await self.script.receive()) is not pb.Load:
            self.assertIs(type(asked), pb.Used)
        (self.folder / "elsewhere").rename(self.segment)
        await self.script.say(pb.Reply(token=asked.token, image=self.delivered()))
        self.assertEqual((await load).data, b"picture")

    async def test_only_the_same_request_has_the_same_answer(self) -> None:
        self.write_words()
        client = await self.connect()
        await self.assert_asked(client.load("http://a/"))
        for other in (
            client.load("http://b/"),
            client.load("http://a/", resize(8, 8)),
            client.load("http://a/", format="webp"),
            client.load("http://a/", headers={"X-A": "b"}),
            client.load("http://a/", info_only=True),
            client.load("http://a/", traceparent=f"00-{'1' * 32}-{'2' * 16}-00"),
            client.upload(b"bytes", resize(8, 8)),
            client.upload(b"others", resize(8, 8)),
        ):
            await self.assert_asked(other)
        await self.assert_repeated(client.load("http://a/"))
        await self.assert_repeated(client.load("http://a/", timeout=7))
        await self.assert_repeated(client.load("http://a/", progress=lambda *_: None))
        await self.assert_asked(client.load("", traceparent=f"00-{'1' * 32}-{'2' * 16}-00"))
        await self.assert_asked(client.load(""))

    async def test_an_image_of_its_own_is_given_each_time(self) -> None:
        self.write_words()
        client = await self.connect()
        token = b"\x01" * 16
        await self.assert_asked(client.load("http://a/"))
        for _ in range(2):
            self.image.timings["total"], self.image.width = -1.0, 9
            self.image.release()
            await self.assert_repeated(client.load("http://a/", token=token))
            self.assertEqual((self.image.token, self.image.width), (token, 1))
            self.assertNotIn(-1.0, self.image.timings.values())

    # ---- The voucher file

    async def test_a_file_that_is_not_right_means_no_vouchers(self) -> None:
        whole, count = HEADER + 8 * WORDS, struct.pack("<Q", WORDS)
        elsewhere = self.folder / "elsewhere"

        def link() -> None:
            self.write_words()
            self.words.rename(elsewhere)
            self.words.symlink_to(elsewhere)

        def let_others_write() -> None:
            self.write_words()
            self.front.chmod(0o770)
            self.addCleanup(self.front.chmod, 0o750)

        wrong = {
            "none": lambda: None,
            "another magic": lambda: self.write_words(b"IBUSVCH\x02" + count + self.epoch),
            "another count": lambda: self.write_words(MAGIC + b"\x07" + count[1:] + self.epoch),
            "another epoch": lambda: self.write_words(MAGIC + count + os.urandom(16)),
            "empty": lambda: self.words.touch(),
            "a word short": lambda: self.write_words(size=whole - 8),
            "a word long": lambda: self.write_words(size=whole + 8),
            "a link": link,
            "no file": lambda: os.mkfifo(self.words),
            "others may write": let_others_write,
        }
        client = await self.connect()
        for name, make in wrong.items():
            with self.subTest(name):
                self.epoch = os.urandom(16)
                make()
                await self.begin_anew(client)
                await self.assert_asked(client.load("http://a/"))
                await self.assert_asked(client.load("http://a/"))
        self.front.chmod(0o750)
        self.epoch = os.urandom(16)
        self.write_words()
        for words, repeats in (0, False), (WORDS_MAX + 1, False), (WORDS, True):
            with self.subTest(words=words):
                self.write_words(MAGIC + struct.pack("<Q", words) + self.epoch)
                os.truncate(self.words, HEADER + 8 * words)
                await self.begin_anew(client, words=words)
                await self.assert_asked(client.load("http://a/"))
                self.assertNotEqual(await self.is_asked(client.load("http://a/")), repeats)

    async def test_nothing_is_given_again_after_the_end_of_the_session(self) -> None:
        self.write_words()
        client = await self.connect()
        await self.assert_asked(client.load("http://a/"))
        await self.assert_repeated(client.load("http://a/"))
        await self.begin_anew(client)
        await self.assert_asked(client.load("http://a/"))
        await self.assert_repeated(client.load("http://a/"))
        self.script.close()
        async with asyncio.timeout(LIMIT):
            while client._has_session:
                await asyncio.sleep(0.001)
        load = asyncio.create_task(client.load("http://a/"))
        self.script = Script(self.folder)
        await self.welcome()
        asked = await self.script.expect(pb.Load)
        await self.script.say(pb.Reply(token=asked.token, image=self.delivered()))
        self.assertEqual((await load).data, b"picture")

    # ---- Reports

    async def test_the_coordinator_is_told_soon(self) -> None:
        self.write_words()
        client = await self.connect()
        await self.assert_asked(client.load("http://a/"))
        with patch("imagebus.session.TELL_USED", 0.001):
            await self.assert_repeated(client.load("http://a/"))
        used = await self.script.expect(pb.Used)
        self.assertEqual((used.loads, list(used.vouchers)), (1, [5]))

    async def test_a_task_that_does_nothing_but_load_is_told_of_too(self) -> None:
        self.write_words()
        client = await self.connect()
        await self.assert_asked(client.load("http://a/"))
        sent, turns, deadline = Sent(client), [0], time.monotonic() + LIMIT
        asyncio.get_running_loop().call_soon(lambda: turns.append(1))
        while not (used := sent.take(pb.Used)) and time.monotonic() < deadline:
            await client.load("http://a/")
        self.assertEqual([list(message.vouchers) for message in used], [[5]])
        self.assertEqual(turns, [0, 1], "the event loop had its turn")

    async def test_much_is_told_at_once_and_the_rest_before_the_goodbye(self) -> None:
        self.write_words()
        with patch("imagebus.session.TELL_USED", NEVER):
            client = Client(self.folder, "mapped")
            entering = asyncio.create_task(client.__aenter__())
            await self.welcome()
            await entering
            for self.number in range(1, 1_026):
                await self.assert_asked(client.load(f"http://a/{self.number}"))
            for number in [*range(1, 1_025), 1_025, 1_025]:
                await self.assert_repeated(client.load(f"http://a/{number}"))
            used = await self.script.expect(pb.Used)
            self.assertEqual((used.loads, sorted(used.vouchers)), (1_024, [*range(1, 1_025)]))
            await client.__aexit__()
        used = await self.script.expect(pb.Used)
        self.assertEqual((used.loads, list(used.vouchers)), (2, [1_025]))
        await self.script.expect(pb.Goodbye)

    # ---- Kept answers

    async def test_what_is_kept_has_a_limit_and_can_be_compared(self) -> None:
        self.write_words()
        answers = RepeatedAnswers()
        self.addCleanup(answers.end)
        welcome = pb.ClientWelcome(
            epoch=self.epoch, voucher_words=WORDS, clock=time.monotonic_ns()
        )
        answers.begin(welcome, self.front, self.folder / "results")
        image = Image(b"", b"picture", "png", 1, 1, 1, False, 2, "", {})
        for number in range(ANSWERS_MAX + 1):
            answers.learn(b"%d" % number, image, self.delivered())
        self.assertIsNone(answers.find(b"0", b""))
        for number in 1, ANSWERS_MAX:
            self.assertIsNotNone(answers.find(b"%d" % number, b""), number)
        large = pb.Reference(
            producer=PRODUCER, arena=1, segment=1, length=1 << 20, offset=64, block=7
        )
        unknown = {"voucher": pb.Voucher(number=WORDS * 2)}
        for other in {"voucher": pb.Voucher()}, {"voucher": None}, {"piece_bytes": 7}, unknown:
            answers.learn(b"other", image, self.delivered(**other))
            self.assertIsNone(answers.find(b"other", b""), other)
        with self.segment.open("ab") as file:
            file.truncate(64 + (1 << 20))
        answers.learn(b"other", image, self.delivered(reference=large))
        self.assertIsNone(answers.find(b"other", b""))


if __name__ == "__main__":
    unittest.main()
