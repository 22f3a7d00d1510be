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
    """A connection to the coordinator below `runtime_dir`, which reconnects automatically. The
    default directory is $IMAGEBUS_RUNTIME_DIR, or the default of `imagebus serve` if that belongs
    to this user or root (else this raises `AddressForbidden`).

    `delivery`: "mapped" reads results from shared memory, "chunks" receives them in chunks through
    the socket, "auto" chooses "mapped" if the results can be opened. `connect_timeout`: seconds
    within which a coordinator must welcome the client. A client belongs to one event loop, and its
    functions must be called from the loop's thread.
    """

    @property
    def knows_pieces(self) -> bool:
        """Whether the coordinator supports uploads and chunked delivery."""
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
        """Returns the picture at `url` after `steps`, in the source's format by default. `format`
        is a name such as "jpeg", "png", "webp", "avif", or "pam" for raw pixels; `quality` is 0 to
        100. `headers` are sent to the origin. `timeout`: seconds, up to 3,600. `progress` is called
        with the bytes received and expected (0: unknown). `token`: 16 bytes that identify the load
        for `cancel`. A `traceparent` (W3C Trace Context) is logged by all processes that work on
        the load. `query` and `store`: the cache tiers to query and to store in, for the image and
        for the original it is made from; defaults: both tiers for the image, the disk for the
        original. With `Options.REFRESH_CACHED` the newest image is returned.

        Raises a class of `imagebus.errors` that describes the failure, `errors.CacheMiss` with
        `Options.FROM_CACHE_ONLY`, and `ValueError` for an unknown format or mode.

        An image that this client received before is returned again without a message, as long as
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
        """Like `load`, with a picture that the caller provides."""
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
        """Yields the events of a load: `Progress`; with `previews` also `Preview`, images of the
        data that has arrived so far; with `Options.REFRESH_CACHED` the cached image (`Cached`); and
        finally `Loaded`. A slow reader gets only the latest of each. Leaving the loop cancels the
        load. Arguments and errors are those of `load`."""
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
        """Loads the pictures at `urls`, at most 100,000, into the caches, stored as `load` with the
        same arguments would, `concurrency` (1 to 64) at a time, each within `timeout` seconds.
        `report` is called with the progress, and the last report is returned: a failed URL doesn't
        stop the batch, and is counted there. Cancelling the task cancels the rest.

        Raises `LimitExceeded` or `Busy` if there are too many, and `ValueError` for a URL of more
        than 8,192 bytes."""
        if not 1 <= concurrency <= 64:
            raise ValueError(f"concurrency must be 1 to 64, not {concurrency}")
        self._check_open()
        image = request_for(steps, format, quality, False, headers, options)
        image.timeout_milliseconds = max(1, math.ceil(1000 * timeout))
        return await self._batches.run(image, urls, concurrency, report)


class Operator(Client):
    """A client at the operators' socket of the runtime directory, which only its owner may use. It
    loads like other clients, and also stores, looks up and removes cache entries by the `key` of an
    image; `cache` is a cache name, empty for the default cache."""

    _place = "admin/admin.sock"

    def _secret(self) -> bytes:
        return secret_of(self._runtime_dir / "admin")

    async def put(
        self, key: str, data: bytes, cache: str = "", tiers: Tiers = Tiers.ALL
    ) -> Tiers:
        """Stores an image under a key; returns the tiers that have it. Raises `BadImageData` if no
        decoder recognizes an image, and `ArenaFull` if no tier stored it."""
        image = pb.ImageRequest(info_only=True, store_cache_types=tiers)
        image.context.base_key, image.context.cache = key, cache
        return (await self._run(image, 30.0, None, "", upload=bytes(data))).stored

    async def tiers(self, key: str, cache: str = "") -> Tiers:
        """The tiers that have the entry."""
        report = await self._command(named(pb.ENTRY_ACTION_CONTAINS, key, cache))
        return Tiers(report.tiers)

    async def remove(self, key: str, cache: str = "", tiers: Tiers = Tiers.ALL) -> Tiers:
        """Removes the entry from tiers; returns the tiers that no longer have it. No load that
        starts afterwards finds it there."""
        report = await self._command(named(pb.ENTRY_ACTION_REMOVE, key, cache, tiers))
        return Tiers(report.tiers)

    async def clear(self, tiers: Tiers = Tiers.ALL) -> Tiers:
        """Removes every entry of every cache from tiers; returns the tiers that are now empty."""
        command = pb.CacheCommand(action=pb.ENTRY_ACTION_CLEAR, tiers=tiers)
        return Tiers((await self._command(command)).tiers)

    async def counts(self) -> dict[Tiers, Count]:
        """Entries and bytes of all caches, by tier."""
        page = (await self._command(pb.CacheCommand(action=pb.ENTRY_ACTION_COUNT))).page
        found = {Tiers.MEMORY: page.memory, Tiers.DISK: page.disk}
        return {tier: Count(count.entries, count.bytes) for tier, count in found.items()}

    async def _command(self, command: pb.CacheCommand) -> pb.CacheReport:
        self._check_open()
        if not self._has_session:
            raise ImagebusError(pb.ERROR_CODE_UNAVAILABLE, "the client has no session now")
        return await self._commands.run(command)
