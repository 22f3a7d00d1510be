"""The session between client and coordinator (PROTOCOL §5, §8.2, §10)."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import secrets
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from google.protobuf.message import Message

import imagebus_pb2 as pb
from imagebus.caches import Commands
from imagebus.errors import CacheMiss, ImagebusError, error_from
from imagebus.events import Cached, Preview
from imagebus.images import Image, image_from
from imagebus.options import Options
from imagebus.prefetch import Batches
from imagebus.request import OnImage, OnProgress, Request, new_token
from imagebus.results import StaleError, can_open, is_lent, read_result, results_folder
from imagebus.transport import Transport
from imagebus.trust import default_runtime_dir
from imagebus.vouchers import RepeatedAnswers

PIECE_MAX = 61_440  # bytes (PROTOCOL §7)
STALE_RETRIES_MAX = 3  # PROTOCOL §10
USUAL_TIMEOUT = 30_000  # milliseconds; the default timeout of a load
GRACE = 1.0  # seconds in which the coordinator may report itself that a deadline passed
TELL_USED = 0.05  # seconds; PROTOCOL §10.2 permits twice that, and timers are late

log = logging.getLogger("imagebus")


class Session:
    """The requests of one client: sent within the windows, sent again in the next session if a
    session breaks, and completed."""

    _place = "front/front.sock"  # below the runtime directory

    def __init__(
        self,
        runtime_dir: str | os.PathLike[str] | None = None,
        delivery: str = "auto",
        connect_timeout: float = 5,
        *,
        patience: float | None = None,  # the former name of `connect_timeout`
    ) -> None:
        if delivery == "pieces":  # the former name
            delivery = "chunks"
        if delivery not in ("auto", "mapped", "chunks"):
            raise ValueError(f"delivery must be auto, mapped or chunks, not {delivery!r}")
        self._runtime_dir = default_runtime_dir() if runtime_dir is None else Path(runtime_dir)
        self._delivery = delivery
        self._connect_timeout = connect_timeout if patience is None else patience
        self._incarnation = secrets.token_bytes(16)
        self._requests: dict[bytes, Request] = {}
        self._waiting: deque[Request] = deque()
        self._uploads: deque[Request] = deque()
        self._in_flight = self._bytes_out = self._bytes_in = self._session = 0
        self._window = self._piece_window = 0
        self._has_session = False
        self._answered = asyncio.Event()  # the first hello
        self._broken: ImagebusError | None = None
        self._answers = RepeatedAnswers()
        self._batches = Batches(lambda message: self._transport.send(message))
        self._commands = Commands(lambda message: self._transport.send(message))
        self._used_due = math.inf  # when repeated answers are to be reported to the coordinator
        self._handlers: dict[type[Message], Callable[[Any], None]] = {
            pb.Event: self._on_event,
            pb.Reply: self._on_reply,
            pb.Refused: self._on_refused,
            pb.Piece: self._on_piece,
            pb.Taken: self._on_taken,
            pb.PrefetchReport: self._batches.on_report,
            pb.CacheReport: self._commands.on_report,
        }

    async def __aenter__(self) -> Self:
        """Raises `Unavailable` if no coordinator welcomes this client within `connect_timeout`
        seconds."""
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
        self._transport = Transport(
            self._runtime_dir / self._place,
            self._greet, self._end_session, self._receive, self._break,
        )  # fmt: skip
        try:
            async with asyncio.timeout(self._connect_timeout):
                await self._answered.wait()
            if self._broken is not None:
                raise self._broken
        except TimeoutError:
            await self.__aexit__()
            sentence = f"no coordinator responds at {self._runtime_dir}"
            raise ImagebusError(pb.ERROR_CODE_UNAVAILABLE, sentence) from None
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        """Cancels pending loads and says goodbye; has no effect if already closed."""
        if not self._transport.is_open:
            return
        for token in list(self._requests):
            self.cancel(token)
        self._tell_used()
        self._transport.send(pb.Goodbye(reason=pb.GOODBYE_REASON_TERMINATED))
        self._end_session()
        self._fail_all(ImagebusError(pb.ERROR_CODE_CANCELLED, "the client was closed"))
        await self._transport.close()

    def cancel(self, token: bytes) -> None:
        """Ends that load with `Cancelled` in any state; has no effect if it has ended."""
        request = self._requests.get(token)
        if request is None:
            return
        request.is_cancelled = True
        if request.is_sent and self._has_session:
            self._transport.send(pb.Cancel(token=token))  # its reply ends the load
        else:
            self._fail(request, ImagebusError(pb.ERROR_CODE_CANCELLED, "cancelled by the caller"))

    # ---- Requests

    async def _run(
        self,
        image: pb.ImageRequest,
        timeout: float,
        token: bytes | None,
        traceparent: str,
        progress: OnProgress | None = None,
        upload: bytes = b"",
        early: OnImage | None = None,
    ) -> Image:
        self._check_open()
        load = pb.Load(token=token or new_token(), image=image, upload_bytes=len(upload))
        load.wants_progress = progress is not None
        load.traceparent = traceparent
        if load.token in self._requests:
            raise ImagebusError(pb.ERROR_CODE_TOKEN_IN_USE, "another load is using this token")
        is_asked_for = upload or traceparent or early is not None
        key = b"" if is_asked_for else image.SerializeToString(deterministic=True)
        if key and (again := self._answers.find(key, load.token)) is not None:
            await self._note_used()
            return again
        deadline = time.monotonic() + timeout
        done = self._loop.create_future()
        request = Request(load, done, deadline, upload, progress, early, key)
        self._requests[load.token] = request
        self._waiting.append(request)
        self._pump()
        try:
            async with asyncio.timeout(timeout + GRACE):
                return await request.done
        except TimeoutError:
            raise ImagebusError(pb.ERROR_CODE_DEADLINE_EXCEEDED, "the deadline passed") from None
        finally:
            if self._requests.get(load.token) is request:  # it is no longer awaited
                self.cancel(load.token)
                self._forget(request)

    def _check_open(self) -> None:
        if self._broken is not None:
            raise self._broken
        if not self._transport.is_open:
            raise ImagebusError(pb.ERROR_CODE_UNAVAILABLE, "the client is closed")

    def _pump(self) -> None:
        """Sends what the windows permit: loads in order, chunks of all uploads in turn."""
        if not self._has_session:
            return
        while self._waiting and self._in_flight < self._window:
            request = self._waiting.popleft()
            if request.done.done():
                continue
            if request.upload and self._piece_window == 0:
                sentence = "this coordinator does not accept uploads"
                error = ImagebusError(pb.ERROR_CODE_VERSION_MISMATCH, sentence)
                self._loop.call_soon(self._fail, request, error)
                continue
            self._say_time_left(request)
            request.is_sent = True
            self._in_flight += 1
            self._transport.send(request.load)
            if request.upload:
                self._uploads.append(request)
        while self._uploads:
            request = self._uploads[0]
            size = min(PIECE_MAX, len(request.upload) - request.uploaded)
            if request.done.done() or not request.is_sent or request.is_cancelled or size == 0:
                self._uploads.popleft()
                continue
            if self._bytes_out + size > self._piece_window:
                return  # until some are acknowledged
            self._send_piece(request, size)
            self._uploads.rotate(-1)

    def _say_time_left(self, request: Request) -> None:
        """Rounded up, and omitted if it equals the default: an answer has a voucher if the same
        message, without default values, was answered from memory before (PROTOCOL §10.2)."""
        left = max(1, math.ceil(1000 * (request.deadline - time.monotonic())))
        request.load.image.timeout_milliseconds = left
        if left == USUAL_TIMEOUT:
            request.load.image.ClearField("timeout_milliseconds")

    def _send_piece(self, request: Request, size: int) -> None:
        start, total = request.uploaded, len(request.upload)
        data = request.upload[start : start + size]
        token = request.load.token
        self._transport.send(pb.Piece(token=token, offset=start, total=total, data=data))
        request.uploaded += size
        self._bytes_out += size

    def _rewind(self, request: Request) -> None:
        """Marks the request as unsent; the next welcome sends it again."""
        if request.is_sent:
            self._in_flight -= 1
        request.is_sent, request.uploaded = False, 0
        request.body.clear()

    def _send_again(self, request: Request) -> None:
        self._rewind(request)
        self._waiting.append(request)
        self._pump()

    def _forget(self, request: Request) -> None:
        if self._requests.pop(request.load.token, None) is not None and request.is_sent:
            self._in_flight -= 1
        self._pump()

    def _fail(self, request: Request, error: Exception) -> None:
        if not request.done.done():
            request.done.set_exception(error)
        self._forget(request)

    def _fail_all(self, error: ImagebusError) -> None:
        for request in list(self._requests.values()):
            self._fail(request, error)
        self._batches.fail_all(error)

    # ---- Repeated answers (PROTOCOL §10.2)

    async def _note_used(self) -> None:
        """Records that an answer was repeated, which is reported soon. A task that only loads may
        starve the event loop's timers, so the time is checked here, and the loop gets a turn."""
        now = self._loop.time()
        if self._used_due == math.inf:
            self._used_due = now + TELL_USED
            self._loop.call_at(self._used_due, self._tell_used)
        if self._answers.is_full or now >= self._used_due:
            self._tell_used()
            await asyncio.sleep(0)

    def _tell_used(self) -> None:
        """A timer left from earlier reports too soon, which is harmless."""
        self._used_due = math.inf
        used = self._answers.take_used()
        if used is not None and self._has_session:
            self._transport.send(used)

    # ---- The session (PROTOCOL §5)

    def _end_session(self) -> None:
        self._has_session = False
        self._answers.end()
        self._batches.end()
        ended = "the session ended before the response"
        self._commands.fail_all(ImagebusError(pb.ERROR_CODE_UNAVAILABLE, ended))

    def _greet(self) -> None:
        self._end_session()
        hello = pb.ClientHello(incarnation=self._incarnation, pid=os.getpid(), version="python 1")
        hello.wants_pieces = self._delivery == "chunks" or (
            self._delivery == "auto" and not can_open(results_folder(self._runtime_dir))
        )
        hello.secret = self._secret()
        self._transport.send(hello)

    def _secret(self) -> bytes:
        """The secret of the socket, if it requires one."""
        return b""

    def _on_welcome(self, welcome: pb.ClientWelcome) -> None:
        """Sends everything again, regardless of the epoch: requests ended with their connection."""
        self._window, self._piece_window = welcome.window, welcome.piece_window
        self._has_session, self._broken = True, None
        self._session += 1
        front, results = self._runtime_dir / "front", results_folder(self._runtime_dir)
        self._answers.begin(welcome, front, results)
        self._in_flight = self._bytes_out = self._bytes_in = 0
        self._waiting.clear()
        self._uploads.clear()
        for request in list(self._requests.values()):
            request.is_sent = False
            if request.is_cancelled:
                self._fail(request, ImagebusError(pb.ERROR_CODE_CANCELLED, "cancelled"))
            else:
                self._send_again(request)
        self._batches.begin()
        self._answered.set()

    def _break(self, error: ImagebusError) -> None:
        """Fails everything: the peer isn't a coordinator that this client understands."""
        self._broken = error
        self._end_session()
        self._answered.set()
        self._fail_all(error)

    def _receive(self, message: Any) -> None:
        if isinstance(message, pb.ClientWelcome):
            self._on_welcome(message)
        elif not self._has_session:
            pass  # of a session that has ended; after HelloRequired a hello is already on its way
        elif isinstance(message, pb.HelloRequired):
            self._greet()
        else:
            self._handlers[type(message)](message)

    # ---- Messages from the coordinator

    def _on_event(self, event: pb.Event) -> None:
        request = self._requests.get(event.token)
        if request is not None and request.progress is not None and event.HasField("progress"):
            received, expected = event.progress.received, event.progress.expected
            self._loop.call_soon(request.progress, received, expected)

    def _on_refused(self, refused: pb.Refused) -> None:
        request = self._requests.get(refused.token)
        if request is not None:
            self._fail(request, error_from(refused.error))
        elif not refused.token:
            self._commands.fail_all(error_from(refused.error))
        elif not self._batches.on_refused(refused):
            log.warning("message refused: %s", error_from(refused.error))

    def _on_taken(self, taken: pb.Taken) -> None:
        self._bytes_out -= taken.bytes
        self._pump()

    def _on_piece(self, piece: pb.Piece) -> None:
        end = piece.offset + len(piece.data)
        request = self._requests.get(piece.token)
        if request is not None:
            if piece.offset == 0:
                request.body.clear()
            if piece.offset == len(request.body) and end <= piece.total:
                request.body += piece.data
            else:
                self.cancel(piece.token)
                sentence = f"a chunk at {piece.offset} does not follow {len(request.body)} bytes"
                self._fail(request, ImagebusError(pb.ERROR_CODE_PROTOCOL_VIOLATION, sentence))
        self._bytes_in += len(piece.data)  # of any load: the window is shared by all
        if end >= piece.total or 2 * self._bytes_in >= self._piece_window:
            self._transport.send(pb.Taken(bytes=self._bytes_in))
            self._bytes_in = 0

    def _on_reply(self, reply: pb.Reply) -> None:
        request, case = self._requests.get(reply.token), reply.WhichOneof("outcome")
        if request is None:
            if case == "image" and is_lent(reply.image):  # it crossed a cancel
                self._release(reply.image.reference.block, self._session)
        elif case == "image" and (reply.is_refreshing or reply.HasField("arrived_bytes")):
            self._on_early(request, reply)
        elif case == "image":
            self._on_image(request, reply)
        elif reply.failure.code == pb.ERROR_CODE_SHUTTING_DOWN and not request.is_cancelled:
            self._rewind(request)  # for the next coordinator
        elif case == "failure":
            self._fail(request, error_from(reply.failure))
        elif case == "miss":
            self._fail(request, CacheMiss(reply.miss))
        elif case == "not_modified":
            self._on_unmodified(request)
        else:
            sentence = f"unexpected outcome: {case}"
            self._fail(request, ImagebusError(pb.ERROR_CODE_PROTOCOL_VIOLATION, sentence))

    def _on_early(self, request: Request, reply: pb.Reply) -> None:
        """Handles a preview or a cached image. Unreadable ones are skipped: after a preview the
        next follows soon, and then the image; the end of a refresh replaces the cached one."""
        try:
            image = image_from(reply, self._bytes_of(request, reply.image))
        except (StaleError, OSError):
            return
        except ValueError as error:
            self.cancel(reply.token)
            return self._fail(request, ImagebusError(pb.ERROR_CODE_PROTOCOL_VIOLATION, str(error)))
        if is_lent(reply.image):
            self._lend(image, reply.image.reference.block)
        event: Preview | Cached = Preview(image, reply.arrived_bytes)
        if reply.is_refreshing:
            was_told = request.cached is not None
            request.cached = image  # of the latest coordinator
            if was_told:
                return
            event = Cached(image)
        if request.early is not None and not request.is_cancelled:
            self._loop.call_soon(request.early, event)
        elif not reply.is_refreshing:
            image.release()

    def _on_unmodified(self, request: Request) -> None:
        """The cached image is the newest. If it didn't arrive, it is requested again, without
        asking the origin."""
        if request.cached is None:
            request.load.image.options &= ~Options.REFRESH_CACHED
            request.key = b""
            return self._send_again(request)
        if not request.done.done():
            request.done.set_result(request.cached)
        self._forget(request)

    def _on_image(self, request: Request, reply: pb.Reply) -> None:
        try:
            image = image_from(reply, self._bytes_of(request, reply.image))
        except StaleError as error:
            is_last = request.load.stale_retries == STALE_RETRIES_MAX
            request.load.stale_retries += not is_last
            self._retry(request, error, is_last)
        except OSError as error:
            self._retry(request, error, True)
        except ValueError as error:
            self._fail(request, ImagebusError(pb.ERROR_CODE_PROTOCOL_VIOLATION, str(error)))
        else:
            if is_lent(reply.image):
                self._lend(image, reply.image.reference.block)
            if request.key:
                self._answers.learn(request.key, image, reply.image)
            if not request.done.done():
                request.done.set_result(image)
            self._forget(request)

    def _retry(self, request: Request, error: Exception, in_pieces: bool) -> None:
        """Sends the same load again, invisibly to its caller. Unreadable bytes may be requested in
        chunks."""
        can_ask = self._delivery != "mapped" and self._piece_window > 0
        if in_pieces and (request.load.wants_pieces or not can_ask):
            is_stale = isinstance(error, StaleError)
            code = pb.ERROR_CODE_STALE if is_stale else pb.ERROR_CODE_INTERNAL_ERROR
            self._fail(request, ImagebusError(code, str(error)))
        else:
            request.load.wants_pieces = in_pieces
            self._send_again(request)

    def _bytes_of(self, request: Request, delivered: pb.DeliveredImage) -> bytes | memoryview:
        if delivered.HasField("piece_bytes"):
            if len(request.body) != delivered.piece_bytes:
                raise ValueError(f"{len(request.body)} of {delivered.piece_bytes} bytes arrived")
            return bytes(request.body)
        if not delivered.HasField("reference"):
            return b""
        try:
            return read_result(results_folder(self._runtime_dir), delivered)
        except (StaleError, OSError):
            if is_lent(delivered):
                self._release(delivered.reference.block, self._session)
            raise

    def _lend(self, image: Image, block: int) -> None:
        forgotten = weakref.finalize(image, self._release_soon, block, self._session)
        forgotten.atexit = False

        def give_back(session: int = self._session) -> None:
            if forgotten.detach() is None:
                return
            if threading.get_ident() == self._thread:
                self._release(block, session)
            else:
                self._release_soon(block, session)

        image.give_back = give_back

    def _release_soon(self, block: int, session: int) -> None:
        """Releases from another thread, or from the garbage collector, which may run in any thread,
        and while another message is being written to the socket."""
        if self._transport.is_open:
            with suppress(RuntimeError):  # the loop has ended meanwhile
                self._loop.call_soon_threadsafe(self._release, block, session)

    def _release(self, block: int, session: int) -> None:
        if self._has_session and session == self._session:  # else everything was released
            self._transport.send(pb.Release(blocks=[block]))
