"""The session of a worker in an external pool (PROTOCOL §5 and §8.1 to §8.4)."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from google.protobuf.message import Message

import imagebus_pb2 as pb
from imagebus.errors import ImagebusError
from imagebus.transport import Kinds, Transport
from imagebus_worker.failure import Cancelled, error_of
from imagebus_worker.extension import Extension
from imagebus_worker.formats import format_of
from imagebus_worker.inputs import Inputs
from imagebus_worker.report import Report
from imagebus_worker.segments import Segments, arena_folder

FRAME_MAX = 32_768  # bytes (PROTOCOL §2)
HELLO, CREDIT, PROGRESS, OUTCOME, GOODBYE, OPENED, CLOSED = 1, 4, 7, 9, 16, 17, 18
RECEIVED: Kinds = {
    2: pb.WorkerWelcome,
    3: pb.HelloRequired,
    5: pb.Job,
    6: pb.AdjustJob,
    10: pb.CancelJob,
    11: pb.Release,
    15: pb.Drain,
    19: pb.Refused,
    22: pb.DownloadSettings,
}
GRACE = 0.4  # seconds until work that ignores a cancel ends the process; PROTOCOL §11 has 500 ms
LAST_WORDS = 3.0  # seconds for the blocks of a departing worker (PROTOCOL §8.1)
FORSAKEN_MAX = 16  # threads that ignore a cancel
SHOWN_AGAIN = (0.1, 5.0)  # seconds between the first two and later repetitions of the same preview
OK, BROKEN, REFUSED, TOO_OLD = 0, 70, 77, 78  # exit statuses
NO_NEW_PRIVILEGES = 1  # of WorkerHello.sandbox
log = logging.getLogger("imagebus.worker")


@dataclass(eq=False)
class Held:
    """A job of this worker, from its message to its outcome."""

    job: pb.Job
    report: Report
    began: float
    end: asyncio.TimerHandle | None = None
    progress: pb.Progress | None = None  # the latest one
    preview: pb.Reference | None = None  # the latest one handed out
    preview_format: int | None = None
    newer: bytes | None = None  # the one after it
    pause: float = SHOWN_AGAIN[0]
    timers: list[asyncio.TimerHandle] = field(default_factory=list)


class Worker:
    """One process of a pool: accepts jobs, runs them in threads, hands the bytes over. Everything
    but the author's function runs in one event loop."""

    def __init__(
        self,
        extension: Extension,
        runtime_dir: Path,
        pool: str,
        restarts: int = 0,
        on_welcome: Callable[[], None] = lambda: None,
    ) -> None:
        self._extension, self._restarts, self._on_welcome = extension, restarts, on_welcome
        self._back = runtime_dir / "back" / pool
        self.incarnation = secrets.token_bytes(16)
        arena = arena_folder(runtime_dir, pool)
        self._segments = Segments(arena, self.incarnation)
        self._inputs = Inputs(arena.parent)
        self._held: dict[int, Held] = {}
        self._forsaken = 0
        self._shown: dict[int, Held] = {}  # by block
        self._has_session = self._is_leaving = False
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[int] = self._loop.create_future()
        self._reason = pb.GOODBYE_REASON_DRAINED
        self._handlers: dict[type[Message], Callable[[Any], None]] = {
            pb.Job: self._on_job,
            pb.AdjustJob: self._on_adjust,
            pb.CancelJob: self._on_cancel,
            pb.Release: self._on_release,
            pb.Drain: lambda _: self._leave(pb.GOODBYE_REASON_DRAINED),
            pb.DownloadSettings: lambda _: None,  # concerns built-in downloads
        }

    async def work(self) -> int:
        """Runs until drained, terminated or refused; returns the exit status."""
        if swept := self._segments.sweep():
            log.info("removed %d segments of exited processes", swept)
        self._transport = Transport(
            self._back / "back.sock", self._greet, self._end_session, self._receive, self._misread,
            received=RECEIVED, frame_max=FRAME_MAX,
        )  # fmt: skip
        try:
            return await self._ended
        finally:
            self._end_session()
            await self._transport.close()
            self._segments.close()

    def terminate(self) -> None:
        """Finishes pending jobs, and ends."""
        self._leave(pb.GOODBYE_REASON_TERMINATED)

    # ---- The session

    def _greet(self) -> None:
        self._end_session()
        hello = pb.WorkerHello(
            incarnation=self.incarnation,
            pid=os.getpid(),
            restarts=self._restarts,
            sandbox=NO_NEW_PRIVILEGES if has_no_new_privileges() else 0,
            version="python 1",
            credit=self._extension.credit,
            capabilities=self._extension.capabilities,
            secret=self._secret(),
        )
        self._transport.send(hello, HELLO)

    def _secret(self) -> bytes:
        """Read at every hello, as the next `serve` writes a new one. There is none if each kind of
        process runs as its own user."""
        try:
            with open(self._back / "secret", "rb") as file:
                return file.read(64)
        except FileNotFoundError:
            return b""

    def _end_session(self) -> None:
        """Ends the jobs and blocks of the connection."""
        self._has_session = False
        for held in list(self._held.values()):
            self._forget(held)
        self._shown.clear()
        self._segments.release_all()
        if self._is_leaving:
            self._end(OK)

    def _receive(self, message: Any) -> None:
        if isinstance(message, pb.WorkerWelcome):
            self._end_session()
            self._has_session = True
            log.info("connected at %s", self._back)
            self._on_welcome()
        elif isinstance(message, pb.Refused):
            log.error("the coordinator refused this worker: %s", message.error.message)
            forbidden = message.error.code == pb.ERROR_CODE_ADDRESS_FORBIDDEN
            self._end(REFUSED if forbidden else BROKEN)
        elif not self._has_session:
            pass  # a hello is on its way
        elif isinstance(message, pb.HelloRequired):
            self._greet()
        else:
            self._handlers[type(message)](message)

    def _misread(self, error: ImagebusError) -> None:
        """Ignores messages that it doesn't understand, except for another version (PROTOCOL §4)."""
        log.error("%s", error)
        if error.code == pb.ERROR_CODE_VERSION_MISMATCH:
            self._end(TOO_OLD)

    def _end(self, status: int) -> None:
        if not self._ended.done():
            self._ended.set_result(status)

    # ---- The end

    def _leave(self, reason: int) -> None:
        if self._is_leaving:
            return
        self._is_leaving = True
        if not self._has_session:
            return self._end(OK)
        self._transport.send(pb.Goodbye(reason=reason), GOODBYE)
        self._look_whether_done()

    def _look_whether_done(self) -> None:
        """Ends once the last outcome was sent, and its blocks were released or timed out."""
        if not self._is_leaving or self._held:
            return
        if self._segments.is_empty:
            return self._end(OK)
        self._loop.call_later(LAST_WORDS, self._end, OK)

    # ---- Jobs

    def _on_job(self, job: pb.Job) -> None:
        if job.id in self._held:
            return
        if self._is_leaving or len(self._held) >= self._extension.credit:
            error = ImagebusError(pb.ERROR_CODE_SHUTTING_DOWN, "this worker accepts no more jobs")
            return self._answer(job, pb.Outcome(failed=error_of(error)), time.monotonic())
        seconds = job.milliseconds_left / 1000
        held = Held(
            job,
            Report(
                seconds,
                self._extension.bytes_max(job),
                lambda *counts: self._from_thread(self._told, held, *counts),
                lambda data: self._from_thread(self._show, held, data),
            ),
            time.monotonic(),
        )
        held.report.wants_preview = job.wants_arrived
        held.end = self._loop.call_later(seconds, self._stop, held, _too_late())
        self._held[job.id] = held
        threading.Thread(target=self._perform, args=(held,), daemon=True).start()

    def _perform(self, held: Held) -> None:
        """Runs in its own thread: the author's function, and the copy into shared memory."""
        opened = pb.Segments()
        reference = pb.Reference()
        try:
            outcome, data = self._extension.perform(held.job, held.report, self._inputs)
            held.report.check()
            if data is not None:
                opened, reference = self._segments.put(data)
                self._extension.refer(outcome, reference)
        except BaseException as failure:
            outcome = pb.Outcome(failed=error_of(failure))
        self._from_thread(self._finish, held, outcome, opened, reference.block)

    def _from_thread(self, function: Callable[..., None], *arguments: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(function, *arguments)
        except RuntimeError:
            pass  # the loop has ended

    def _finish(self, held: Held, outcome: pb.Outcome, opened: pb.Segments, block: int) -> None:
        if self._held.get(held.job.id) is not held:
            self._forsaken -= 1
            self._segments.release([block])
            return
        self._forget(held, is_over=True)
        if opened.segments:
            self._transport.send(opened, OPENED)
        self._answer(held.job, outcome, held.began)
        self._look_whether_done()

    def _answer(self, job: pb.Job, outcome: pb.Outcome, began: float) -> None:
        outcome.id, outcome.attempt = job.id, job.attempt
        outcome.work_microseconds = int(1e6 * (time.monotonic() - began))
        self._transport.send(outcome, OUTCOME)

    def _stop(self, held: Held, error: ImagebusError | Cancelled) -> None:
        """Stops a job that was cancelled or timed out. A load ends at once; if the work can't be
        abandoned, a worker that ignores the cancel exits."""
        if self._held.get(held.job.id) is not held:
            return
        held.report.cancel()
        if not self._extension.answers_at_once:
            held.timers.append(self._loop.call_later(GRACE, self._end_hard, held))
            return
        self._forget(held)
        self._answer(held.job, pb.Outcome(failed=error_of(error)), held.began)
        if self._forsaken > FORSAKEN_MAX:
            log.error("%d loads ignored their cancellation: exiting", self._forsaken)
            self._transport.send(pb.Goodbye(reason=pb.GOODBYE_REASON_CANCELLED_HARD), GOODBYE)
            self._end(BROKEN)
        self._look_whether_done()

    def _end_hard(self, held: Held) -> None:
        if self._held.get(held.job.id) is held:
            log.error("the job ignored its cancellation: exiting")
            self._transport.send(pb.Goodbye(reason=pb.GOODBYE_REASON_CANCELLED_HARD), GOODBYE)
            self._end(BROKEN)

    def _forget(self, held: Held, is_over: bool = False) -> None:
        """Drops a job without a further message. If its function still runs, it is notified."""
        del self._held[held.job.id]
        for timer in [held.end, *held.timers]:
            if timer is not None:
                timer.cancel()
        if held.preview is not None and held.preview.block not in self._shown:
            self._close([held.preview.block])
        if not is_over:
            self._forsaken += 1
            held.report.cancel()

    def _on_cancel(self, message: pb.CancelJob) -> None:
        if held := self._held.get(message.id):
            self._stop(held, Cancelled())

    def _on_adjust(self, message: pb.AdjustJob) -> None:
        held = self._held.get(message.id)
        if held is None:
            return
        is_new = message.wants_progress and not held.job.wants_progress
        held.job.wants_progress = message.wants_progress
        held.report.wants_preview = held.job.wants_arrived = message.wants_arrived
        if held.end is not None:
            held.end.cancel()
        seconds = message.milliseconds_left / 1000
        held.report.give(seconds)
        held.end = self._loop.call_later(seconds, self._stop, held, _too_late())
        if is_new and held.progress is not None:
            self._transport.send(held.progress, PROGRESS)

    # ---- Progress

    def _told(self, held: Held, received: int, expected: int) -> None:
        if self._held.get(held.job.id) is not held:
            return
        held.progress = pb.Progress(
            id=held.job.id, attempt=held.job.attempt, received=received, expected=expected
        )
        if held.job.wants_progress or held.job.wants_arrived:
            self._transport.send(held.progress, PROGRESS)

    def _show(self, held: Held, data: bytes) -> None:
        """Only one preview of a job is handed out at a time; of those produced meanwhile, the
        latest is next."""
        if self._held.get(held.job.id) is not held or not held.job.wants_arrived:
            return
        if held.preview is not None:
            held.newer = data
            return
        try:
            opened, reference = self._segments.put(data)
        except OSError:
            return  # the image itself may find space
        self._transport.send(opened, OPENED)
        held.pause = SHOWN_AGAIN[0]
        held.preview_format = format_of(data)
        self._hand_out(held, reference)

    def _hand_out(self, held: Held, reference: pb.Reference) -> None:
        held.preview = reference
        self._shown[reference.block] = held
        message = pb.Progress(id=held.job.id, attempt=held.job.attempt, is_preview=True)
        if held.progress is not None:
            message.received, message.expected = held.progress.received, held.progress.expected
        message.arrived.CopyFrom(reference)
        if held.preview_format is not None:
            message.format = held.preview_format
        self._transport.send(message, PROGRESS)

    def _on_release(self, message: pb.Release) -> None:
        gone: list[int] = []
        for block in message.blocks:
            held = self._shown.pop(block, None)
            if held is None or self._held.get(held.job.id) is not held or held.newer is not None:
                gone.append(block)
            else:
                # The recipient may have been too busy.
                held.timers.append(self._loop.call_later(held.pause, self._again, held))
                held.pause = min(2 * held.pause, SHOWN_AGAIN[1])
            if held is not None and held.newer is not None:
                data, held.newer, held.preview = held.newer, None, None
                self._show(held, data)
        self._close(gone)
        self._look_whether_done()

    def _close(self, blocks: list[int]) -> None:
        closed = self._segments.release(blocks)
        if closed.segments:
            self._transport.send(closed, CLOSED)

    def _again(self, held: Held) -> None:
        if self._held.get(held.job.id) is not held or held.preview is None:
            return
        if not held.job.wants_arrived:
            held.timers.append(self._loop.call_later(held.pause, self._again, held))
            return
        reference = self._segments.hand_out_again(held.preview)
        self._hand_out(held, reference)


def _too_late() -> ImagebusError:
    return ImagebusError(pb.ERROR_CODE_DEADLINE_EXCEEDED, "the worker took too long")


def has_no_new_privileges() -> bool:
    try:
        return "NoNewPrivs:\t1\n" in Path("/proc/self/status").read_text()
    except OSError:
        return False
