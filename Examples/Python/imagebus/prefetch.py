"""Lists of URLs that are loaded into the caches, without delivery (SEMANTICS §12)."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from google.protobuf.message import Message

import imagebus_pb2 as pb
from imagebus.errors import ImagebusError, error_from

PART_MAX = 1_024  # URLs per message (PROTOCOL §7)
PART_BYTES_MAX = 49_152  # of its URLs; the frame has room for as much again in addition
AHEAD_MAX = 4_096  # URLs that were sent and have not ended (PROTOCOL §8.2)
URL_MAX = 8_192  # bytes


@dataclass(frozen=True)
class PrefetchReport:
    """The progress of a list. In the last report `finished` + `cancelled` equals `total`."""

    total: int  # URLs sent so far
    finished: int  # that ended, with or without an error
    skipped: int  # that ended with an error
    cancelled: int
    is_final: bool
    failures: list[tuple[str, ImagebusError]]  # the first 16, with the start of their URLs
    cached: int = 0  # this and the next field are set in the last report only: cache hits
    errors: dict[str, int] = field(default_factory=dict)  # the number of failures by error name


Report = Callable[[PrefetchReport], object]


@dataclass(eq=False)
class Batch:
    """A list without its last report."""

    token: bytes
    image: pb.ImageRequest
    concurrency: int
    parts: list[list[str]]
    done: asyncio.Future[PrefetchReport]
    on_report: Report | None
    sent_parts: int = 0
    sent: int = 0  # URLs
    finished: int = 0


class Batches:
    """The lists of one client. `send` sends a message to the coordinator."""

    def __init__(self, send: Callable[[Message], object]) -> None:
        self._send = send
        self._batches: dict[bytes, Batch] = {}
        self._has_session = False

    async def run(
        self, image: pb.ImageRequest, urls: Iterable[str], concurrency: int, report: Report | None
    ) -> PrefetchReport:
        parts = parts_of(urls)
        if not parts:
            return PrefetchReport(0, 0, 0, 0, True, [])
        done: asyncio.Future[PrefetchReport] = asyncio.get_running_loop().create_future()
        batch = Batch(secrets.token_bytes(16), image, concurrency, parts, done, report)
        self._batches[batch.token] = batch
        self._pump(batch)
        try:
            return await done
        finally:
            if self._batches.pop(batch.token, None) is not None and self._has_session:
                self._send(pb.Cancel(token=batch.token))  # it is no longer awaited

    def begin(self) -> None:
        """Starts all lists again in a new session, from their first parts. Images that were loaded
        are in the caches."""
        self._has_session = True
        for batch in self._batches.values():
            batch.sent_parts = batch.sent = batch.finished = 0
            self._pump(batch)

    def end(self) -> None:
        self._has_session = False

    def fail_all(self, error: ImagebusError) -> None:
        for batch in list(self._batches.values()):
            self._fail(batch, error)

    def on_report(self, report: pb.PrefetchReport) -> None:
        batch = self._batches.get(report.batch)
        if batch is None:
            return
        batch.finished = report.finished
        if report.is_final:
            del self._batches[batch.token]
            if not batch.done.done():
                batch.done.set_result(report_from(report))
            return
        self._pump(batch)
        if batch.on_report is not None:
            asyncio.get_running_loop().call_soon(batch.on_report, report_from(report))

    def on_refused(self, refused: pb.Refused) -> bool:
        """Whether the refused token belonged to a list. A list refused because the coordinator is
        shutting down waits for the next one."""
        batch = self._batches.get(refused.token)
        if batch is None:
            return False
        if refused.error.code == pb.ERROR_CODE_SHUTTING_DOWN:
            batch.sent_parts = len(batch.parts)  # no more for this one
        else:
            self._fail(batch, error_from(refused.error))
        return True

    def _fail(self, batch: Batch, error: ImagebusError) -> None:
        self._batches.pop(batch.token, None)
        if not batch.done.done():
            batch.done.set_exception(error)

    def _pump(self, batch: Batch) -> None:
        """Sends the parts that fit into the window."""
        while self._has_session and batch.sent_parts < len(batch.parts):
            urls = batch.parts[batch.sent_parts]
            if batch.sent and batch.sent - batch.finished + len(urls) > AHEAD_MAX:
                return  # until more have ended
            batch.sent_parts += 1
            batch.sent += len(urls)
            is_last = batch.sent_parts == len(batch.parts)
            self._send(
                pb.Prefetch(
                    batch=batch.token, image=batch.image, urls=urls,
                    is_last=is_last, concurrency=batch.concurrency,
                )  # fmt: skip
            )


def parts_of(urls: Iterable[str]) -> list[list[str]]:
    """Splits a list into parts as large as a message permits. Raises `ValueError` for a URL that
    fits into none."""
    parts: list[list[str]] = []
    room = 0
    for url in urls:
        size = len(url.encode())
        if size > URL_MAX:
            raise ValueError(f"a URL has {size} bytes; at most {URL_MAX} are permitted")
        if not parts or len(parts[-1]) == PART_MAX or size > room:
            parts.append([])
            room = PART_BYTES_MAX
        parts[-1].append(url)
        room -= size
    return parts


def report_from(report: pb.PrefetchReport) -> PrefetchReport:
    """Converts a message to a report."""
    return PrefetchReport(
        total=report.total,
        finished=report.finished,
        skipped=report.skipped,
        cancelled=report.cancelled,
        is_final=report.is_final,
        failures=[(failure.url, error_from(failure.error)) for failure in report.failures],
        cached=report.ends.cached,
        errors={ImagebusError(e.code, "").name: e.count for e in report.ends.errors},
    )
