"""A client of Imagebus for asyncio, written from Proto/PROTOCOL.md.

    async with Client("/run/imagebus") as client:
        image = await client.load(url, resize(256, 256), format="webp", quality=75)
        async for event in client.events(url, resize(256, 256)):
            ...

Cancelling the task of a load cancels the load, in the stack too.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, Iterable, Mapping

import imagebus_pb2 as pb
from imagebus.caches import Count, named, secret_of
from imagebus.errors import ImagebusError
from imagebus.events import Event, Loaded, Mailbox, Progress
from imagebus.images import Image
from imagebus.options import Options, Tiers
from imagebus.prefetch import PrefetchReport, Report
from imagebus.request import OnProgress, new_token
from imagebus.session import Session
from imagebus.steps import Step, request_for

__all__ = ["Client", "Operator", "new_token"]


class Client(Session):
    """A connection to the coordinator below `runtime_dir`, made again whenever it breaks. Where no
    directory is named it is $IMAGEBUS_RUNTIME_DIR, or where `imagebus serve` puts it, if that is
    this user's or root's (else this raises `AddressForbidden`).

    `delivery`: "mapped" reads results from shared memory, "pieces" gets them through the socket,
    "auto" decides by whether the results can be opened. `patience`: seconds. Belongs to one event
    loop, whose thread alone calls its functions.
    """

    @property
    def knows_pieces(self) -> bool:
        """Whether the coordinator takes uploads and delivers in pieces."""
        return self._piece_window > 0

    async def load(
        self,
        url: str,
        *steps: Step,
        format: str | None = None,
        quality: int | None = None,
        headers: Mapping[str, str] | None = None,
        info_only: bool = False,
        timeout: float = 30.0,
        progress: OnProgress | None = None,
        token: bytes | None = None,
        traceparent: str = "",
        options: Options = Options(0),
        query: Tiers | None = None,
        store: Tiers | None = None,
    ) -> Image:
        """The picture at `url` after `steps`, in its own format where none is named. `format` is a
        name as "jpeg", "png", "webp", "avif", or "pam" for pixels as they are; `quality` 0 to 100.
        `headers` are for the origin. `timeout`: seconds, up to 3,600. `progress` is called with the
        bytes that have come and those that are expected (0: unknown). `token`: 16 bytes, which
        name it for `cancel`. A `traceparent` (W3C Trace Context) goes into the logs of all
        processes that work for it. `query` and `store`: the tiers that are asked and that get it,
        of the image and of the original that it is made of; absent: both of the image, the disk of
        the original. Under `Options.REFRESH_CACHED` the newest image comes back.

        Raises a class of `imagebus.errors` that says how it failed, `errors.CacheMiss` under
        `Options.FROM_CACHE_ONLY`, and `ValueError` for a format or a mode that nobody knows.

        An image that this client was told before is given again without a message, as long as
        the coordinator would answer the same from memory."""
        image = request_for(
            steps, format, quality, info_only, headers, options, query, store
        )  # fmt: skip
        image.url = url
        return await self._run(image, timeout, token, traceparent, progress=progress)

    async def upload(
        self,
        data: bytes,
        *steps: Step,
        format: str | None = None,
        quality: int | None = None,
        info_only: bool = False,
        timeout: float = 30.0,
        token: bytes | None = None,
        traceparent: str = "",
    ) -> Image:
        """The same with a picture that the caller has."""
        image = request_for(steps, format, quality, info_only)
        return await self._run(image, timeout, token, traceparent, upload=bytes(data))

    async def events(
        self,
        url: str,
        *steps: Step,
        previews: bool = True,
        format: str | None = None,
        quality: int | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 30.0,
        traceparent: str = "",
        options: Options = Options(0),
    ) -> AsyncGenerator[Event, None]:
        """What a load tells: `Progress`, with `previews` also `Preview`, images of what has arrived
        so far, under `Options.REFRESH_CACHED` what a cache has (`Cached`), and at last `Loaded`.
        Who reads slowly is told the newest of each. Leaving the loop cancels the load. Arguments
        and errors are those of `load`."""
        if previews:
            options |= Options.PROGRESSIVE_LOAD
        image = request_for(steps, format, quality, False, headers, options)
        image.url = url
        box = Mailbox()
        load = asyncio.create_task(
            self._run(
                image, timeout, None, traceparent,
                progress=lambda *counts: box.put(Progress(*counts)), early=box.put,
            )  # fmt: skip
        )
        load.add_done_callback(box.end)
        try:
            while (event := await box.next()) is not None:
                yield event
            yield Loaded(await load)
        finally:
            box.close()
            load.cancel()
            await asyncio.gather(load, return_exceptions=True)

    async def prefetch(
        self,
        urls: Iterable[str],
        *steps: Step,
        format: str | None = None,
        quality: int | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 30.0,
        concurrency: int = 3,
        report: Report | None = None,
        options: Options = Options(0),
    ) -> PrefetchReport:
        """Loads the pictures at `urls`, 100,000 at most, into the caches, as `load` with the same
        arguments would store them, `concurrency` (1 to 64) at a time, each within `timeout`
        seconds. `report` is told how far it is, and the last report comes back: a URL that fails
        ends nothing, and is counted there. Cancelling the task cancels the rest.

        Raises `LimitExceeded` or `Busy` where there are too many, and `ValueError` for a URL of
        more than 8,192 bytes."""
        if not 1 <= concurrency <= 64:
            raise ValueError(f"concurrency must be 1 to 64, not {concurrency}")
        self._check_open()
        image = request_for(steps, format, quality, False, headers, options)
        image.timeout_milliseconds = max(1, math.ceil(1000 * timeout))
        return await self._batches.run(image, urls, concurrency, report)


class Operator(Client):
    """A client at the operators' socket of the runtime directory, which only its owner may use. It
    loads as others do, and puts, looks up and removes entries of the caches, by the `key` that
    images have; `cache` is the name of one, and empty for the default one."""

    _place = "admin/admin.sock"

    def _secret(self) -> bytes:
        return secret_of(self._runtime_dir / "admin")

    async def put(
        self, key: str, data: bytes, cache: str = "", tiers: Tiers = Tiers.ALL
    ) -> Tiers:
        """Stores an image under a key; returns which tiers have it. Raises `BadImageData` for what
        no decoder takes for an image, and `ArenaFull` where no tier took it."""
        image = pb.ImageRequest(info_only=True, store_cache_types=tiers)
        image.context.base_key, image.context.cache = key, cache
        return (await self._run(image, 30.0, None, "", upload=bytes(data))).stored

    async def tiers(self, key: str, cache: str = "") -> Tiers:
        """Those that have the entry."""
        report = await self._command(named(pb.ENTRY_ACTION_CONTAINS, key, cache))
        return Tiers(report.tiers)

    async def remove(self, key: str, cache: str = "", tiers: Tiers = Tiers.ALL) -> Tiers:
        """Removes the entry from tiers; returns those that are without it now. No load that begins
        after this finds it there."""
        report = await self._command(named(pb.ENTRY_ACTION_REMOVE, key, cache, tiers))
        return Tiers(report.tiers)

    async def clear(self, tiers: Tiers = Tiers.ALL) -> Tiers:
        """Removes every entry of every cache from tiers; returns those that are empty now."""
        command = pb.CacheCommand(action=pb.ENTRY_ACTION_CLEAR, tiers=tiers)
        return Tiers((await self._command(command)).tiers)

    async def counts(self) -> dict[Tiers, Count]:
        """What all caches have, by tier."""
        page = (await self._command(pb.CacheCommand(action=pb.ENTRY_ACTION_COUNT))).page
        found = {Tiers.MEMORY: page.memory, Tiers.DISK: page.disk}
        return {tier: Count(count.entries, count.bytes) for tier, count in found.items()}

    async def _command(self, command: pb.CacheCommand) -> pb.CacheReport:
        self._check_open()
        if not self._has_session:
            raise ImagebusError(pb.ERROR_CODE_UNAVAILABLE, "the client has no session now")
        return await self._commands.run(command)
