"""A client for programs without an event loop: runs that of `imagebus.aio` in its own thread."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from typing import Any, TypeVar

import imagebus_pb2 as pb
from imagebus import aio
from imagebus.caches import Count
from imagebus.errors import ImagebusError
from imagebus.events import Event
from imagebus.images import Image
from imagebus.options import Options, Tiers
from imagebus.prefetch import PrefetchReport, Report
from imagebus.request import OnProgress
from imagebus.steps import Step

Result = TypeVar("Result")
Live = tuple[asyncio.AbstractEventLoop, aio.Client, asyncio.Event]


class Client:
    """A connection to the coordinator below `runtime_dir`, which reconnects automatically. Its
    functions block and may be called from any thread, several at a time. An interrupt (Ctrl-C) of a
    blocked call cancels its load.

        with Client() as client:
            client.load("https://…", resize(256, 256), format="webp").data

    Arguments and errors are those of `imagebus.aio.Client`. Callbacks (`progress`, `report`) run in
    the client's thread, and must be short."""

    _kind: type[aio.Client] = aio.Client

    def __init__(
        self,
        runtime_dir: str | os.PathLike[str] | None = None,
        delivery: str = "auto",
        connect_timeout: float = 5,
        *,
        patience: float | None = None,  # the former name of `connect_timeout`
    ) -> None:
        self._client = self._kind(runtime_dir, delivery, connect_timeout, patience=patience)
        self._live: Live | None = None
        # Work passed to the loop before it is told to stop is completed by it; afterwards none may
        # be passed, as nothing would complete it.
        self._giving = threading.Lock()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Client:
        """Raises `Unavailable` if no coordinator welcomes this client within `connect_timeout`
        seconds."""
        if self._thread is not None:
            raise ValueError("a client can be opened only once")
        ready: Future[Live] = Future()
        self._thread = threading.Thread(
            target=self._run, args=(ready,), name="imagebus", daemon=True
        )
        self._thread.start()
        try:
            self._live = ready.result()
        except BaseException:
            ready.add_done_callback(end_when_ready)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Cancels pending loads and says goodbye."""
        if self._live is not None and self._thread is not None:
            loop, _, end = self._live
            with self._giving:
                self._live = None
            loop.call_soon_threadsafe(end.set)
            self._thread.join()

    def load(
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
        """Returns the picture at `url` after `steps`: `imagebus.aio.Client.load`."""
        return self._wait(
            lambda client: client.load(
                url, *steps, format=format, quality=quality, headers=headers, info_only=info_only,
                timeout=timeout, progress=progress, token=token, traceparent=traceparent,
                options=options, query=query, store=store,
            )  # fmt: skip
        )

    def upload(
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
        """Like `load`, with a picture that the caller provides: `imagebus.aio.Client.upload`."""
        return self._wait(
            lambda client: client.upload(
                data, *steps, format=format, quality=quality, info_only=info_only,
                timeout=timeout, token=token, traceparent=traceparent,
            )  # fmt: skip
        )

    def events(
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
    ) -> Iterator[Event]:
        """Yields the events of a load, one after another: `imagebus.aio.Client.events`. Leaving the
        loop cancels the load."""
        loop, client, _ = self._opened()
        stream = client.events(
            url, *steps, previews=previews, format=format, quality=quality, headers=headers,
            timeout=timeout, traceparent=traceparent, options=options,
        )  # fmt: skip

        async def step() -> Event | None:
            return await anext(stream, None)

        async def end() -> None:
            with suppress(RuntimeError):  # an interrupted step ends the stream itself
                await stream.aclose()

        try:
            while (event := self._wait(lambda _: step())) is not None:
                yield event
        finally:
            # The result isn't awaited: this may be the garbage collector, in any thread.
            ending = end()
            try:
                asyncio.run_coroutine_threadsafe(ending, loop)
            except RuntimeError:  # the client was closed, and the stream with it
                ending.close()

    def prefetch(
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
        """Loads a list of URLs into the caches: `imagebus.aio.Client.prefetch`."""
        return self._wait(
            lambda client: client.prefetch(
                urls, *steps, format=format, quality=quality, headers=headers, timeout=timeout,
                concurrency=concurrency, report=report, options=options,
            )  # fmt: skip
        )

    def cancel(self, token: bytes) -> None:
        """Ends the load with that token, in whichever thread it blocks, with `Cancelled`."""
        loop, client, _ = self._opened()
        loop.call_soon_threadsafe(client.cancel, token)

    # ---- The thread

    def _run(self, ready: Future[Live]) -> None:
        asyncio.run(self._live_until_closed(ready))

    async def _live_until_closed(self, ready: Future[Live]) -> None:
        end = asyncio.Event()
        try:
            async with self._client as client:
                ready.set_result((asyncio.get_running_loop(), client, end))
                await end.wait()
        except BaseException as error:
            if ready.done():
                raise
            ready.set_exception(error)

    def _opened(self) -> Live:
        if self._live is None:
            raise ImagebusError(pb.ERROR_CODE_UNAVAILABLE, "the client is closed")
        return self._live

    def _wait(self, work: Callable[[aio.Client], Coroutine[Any, Any, Result]]) -> Result:
        if threading.current_thread() is self._thread:
            raise ValueError("a callback must not wait for its own client")
        with self._giving:
            loop, client, _ = self._opened()
            future = asyncio.run_coroutine_threadsafe(work(client), loop)
        try:
            return future.result()
        except CancelledError:
            raise ImagebusError(pb.ERROR_CODE_CANCELLED, "the client was closed") from None
        except BaseException:
            future.cancel()  # no effect if it has ended
            raise


class Operator(Client):
    """A client at the operators' socket: `imagebus.aio.Operator`."""

    _kind = aio.Operator

    def put(self, key: str, data: bytes, cache: str = "", tiers: Tiers = Tiers.ALL) -> Tiers:
        """Stores an image under a key: `imagebus.aio.Operator.put`."""
        return self._ask(lambda operator: operator.put(key, data, cache, tiers))

    def tiers(self, key: str, cache: str = "") -> Tiers:
        """The tiers that have the entry: `imagebus.aio.Operator.tiers`."""
        return self._ask(lambda operator: operator.tiers(key, cache))

    def remove(self, key: str, cache: str = "", tiers: Tiers = Tiers.ALL) -> Tiers:
        """Removes an entry: `imagebus.aio.Operator.remove`."""
        return self._ask(lambda operator: operator.remove(key, cache, tiers))

    def clear(self, tiers: Tiers = Tiers.ALL) -> Tiers:
        """Removes all entries: `imagebus.aio.Operator.clear`."""
        return self._ask(lambda operator: operator.clear(tiers))

    def counts(self) -> dict[Tiers, Count]:
        """Entries and bytes of all caches: `imagebus.aio.Operator.counts`."""
        return self._ask(lambda operator: operator.counts())

    def _ask(self, work: Callable[[aio.Operator], Coroutine[Any, Any, Result]]) -> Result:
        def ask(client: aio.Client) -> Coroutine[Any, Any, Result]:
            assert isinstance(client, aio.Operator)
            return work(client)

        return self._wait(ask)


def end_when_ready(ready: Future[Live]) -> None:
    """Stops the client if the thread that opened it was interrupted meanwhile."""
    if ready.exception() is None:
        loop, _, end = ready.result()
        loop.call_soon_threadsafe(end.set)
