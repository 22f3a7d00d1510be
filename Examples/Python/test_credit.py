"""Workers of every kind that request more jobs than granted: they get what the configuration
permits, and others continue."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

from example_stack import SECONDS, png
from imagebus import Image, custom, resize
from imagebus.aio import Client
from imagebus_worker import Cache, Coder, Encoder, Header, Loader, Transformer
from imagebus_worker.extension import Extension
from test_transformers import PictureTests
from worker_bench import Serving

CLAIM = (1 << 32) - 1
GRANTED = 3
CONFIGURATION = f"""
pools:
  photos: {{kind: download, trust: external, schemes: [photos], credit: {GRANTED}}}
  coder: {{kind: decode, trust: external, formats-in: [qoi], credit: {GRANTED}}}
  encoder: {{kind: transform, trust: external, formats-out: [qoi], credit: {GRANTED}}}
  steps: {{kind: transform, trust: external, steps: [test.step], credit: {GRANTED}}}
  held: {{kind: cache, trust: external, credit: {GRANTED}}}
loaders:
  photos: {{kind: pool, pool: photos}}
caches:
  own:
  theirs: {{pool: held, timeout: 10000}}
profiles:
  default:
    cache: own
    rules:
      - match: "http://127.0.0.1:*/kept*"
        context: {{image-cache: theirs}}
"""


class Greedy:
    """Blocks in each call, and counts the blocked ones."""

    credit = CLAIM

    def __init__(self) -> None:
        self.gate, self.calls = threading.Event(), threading.Semaphore(0)

    def wait(self) -> None:
        self.calls.release()
        self.gate.wait()


class GreedyLoader(Greedy, Loader):
    schemes = ("photos",)

    def load(self, url: str, *_: Any) -> bytes:
        self.wait()
        return png(20, 20, int(url.rsplit('/', 1)[1]))


class GreedyCoder(Greedy, Coder):
    format = "qoi"

    def header(self, data: memoryview) -> Header:
        return Header(4, 4, 3)

    def pixels(self, *_: Any) -> bytes:
        self.wait()
        return bytes(48)


class GreedyEncoder(Greedy, Encoder):
    format = "qoi"

    def encode(self, pixels: Any, *_: Any) -> bytes:
        self.wait()
        width, height = pixels.width.to_bytes(4, "big"), pixels.height.to_bytes(4, "big")
        return b"qoif" + width + height + b"\3\0" + bytes(7) + b"\1"


class GreedyTransformer(Greedy, Transformer):
    steps = ("test.step",)

    def transform(self, step: str, parameters: Any, pixels: Any, report: Any) -> bytes:
        self.wait()
        return bytes(pixels.data)


class GreedyCache(Greedy, Cache):
    def __init__(self) -> None:
        Greedy.__init__(self)
        Cache.__init__(self)

    def get(self, key: str) -> None:
        self.wait()

    def put(self, *_: Any) -> bool:
        return False


class CreditTests(PictureTests):
    configuration = CONFIGURATION

    async def held(
        self, extension: Any, pool: str, load: Callable[[Client, int], Any]
    ) -> list[Image]:
        """Blocks as many jobs as it is given, while others load, and then completes all of them."""
        worker: Extension = extension
        serving = Serving(worker, self.stack, pool)
        async with serving as session, self.client() as client:
            self.addCleanup(extension.gate.set)
            loads = [asyncio.create_task(load(client, n)) for n in range(4 * GRANTED)]
            for _ in range(GRANTED):
                self.assertTrue(await asyncio.to_thread(extension.calls.acquire, timeout=SECONDS))
            for number in range(2 * GRANTED):
                plain = self.serve(png(24, 24, 100 + number))
                image = await client.load(plain, resize(12, 12), format="png")
                self.assertEqual((image.width, image.height), (12, 12))
            self.assertEqual(len(session._held), GRANTED)
            extension.gate.set()
            return await asyncio.wait_for(asyncio.gather(*loads), SECONDS)

    async def test_a_loader(self) -> None:
        images = await self.held(
            GreedyLoader(), "photos", lambda client, n: client.load(f"photos://a/{n}")
        )
        self.assertEqual({image.width for image in images}, {20})

    async def test_a_coder(self) -> None:
        def load(client: Client, number: int) -> Any:
            return client.load(self.serve(b"qoif" + bytes([number]) * 20), format="png")

        images = await self.held(GreedyCoder(), "coder", load)
        self.assertEqual({image.width for image in images}, {4})

    async def test_an_encoder(self) -> None:
        def load(client: Client, number: int) -> Any:
            return client.load(self.serve(png(16, 16, number)), format="qoi")

        images = await self.held(GreedyEncoder(), "encoder", load)
        self.assertEqual({image.format for image in images}, {"qoi"})

    async def test_a_transformer(self) -> None:
        def load(client: Client, number: int) -> Any:
            return client.load(self.serve(png(16, 16, number)), custom("test.step"), format="png")

        images = await self.held(GreedyTransformer(), "steps", load)
        self.assertEqual({image.width for image in images}, {16})

    async def test_a_cache(self) -> None:
        def load(client: Client, number: int) -> Any:
            self.origin.pictures[f"/kept{number}"] = png(16, 16, number)
            return client.load(self.origin.url(f"/kept{number}"))

        images = await self.held(GreedyCache(), "held", load)
        self.assertEqual({image.width for image in images}, {16})
