"""A client of Imagebus for asyncio, written from Proto/PROTOCOL.md; § means a section of it.

    async with Client("/run/imagebus") as client:
        image = await client.load(url, resize(256, 256), format="webp", quality=75)

Cancelling the task of a load cancels the load.
"""

from __future__ import annotations

import asyncio
import logging
import math
import mmap
import os
import secrets
import stat
import struct
import time
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import zmq
import zmq.asyncio
from google.protobuf.message import DecodeError, Message
from zmq.utils.monitor import parse_monitor_message

import imagebus_pb2 as pb

MAGIC, VERSION, FRAME_MAX = b"IBUS", 1, 98_304  # §2, §3
PIECE_MAX, MAPPED_FROM, BLOCK_HEADER = 61_440, 1 << 20, 64  # §7, §10
STALE_RETRIES_MAX = 3  # §10
GRACE = 1.0  # seconds in which the coordinator may say itself that a deadline passed

VERSIONS, HELLO_REQUIRED, RELEASE, GOODBYE, REFUSED = 0, 3, 11, 16, 19  # §6
HELLO, WELCOME, LOAD, CANCEL, PIECE, TAKEN, EVENT, REPLY = 32, 33, 34, 35, 38, 39, 40, 41

RETRYABLE = {3001, 3002, 3008, 3009, 3010, 3011, 3012, 3014, 3022, 3023, 3024, 3026}  # §9

Progress = Callable[[int, int], object]
log = logging.getLogger("imagebus")


class ImagebusError(Exception):
    """How a load failed: number and name of §9, a sentence, and details by name."""

    def __init__(self, code: int, message: str, details: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.details = code, message, dict(details or {})
        known = pb.ErrorCode.Name(code) if code in pb.ErrorCode.values() else "UNKNOWN"
        first, *rest = known.removeprefix("ERROR_CODE_").split("_")
        self.name = first.lower() + "".join(w if w == "URL" else w.capitalize() for w in rest)
        status = int(self.details.get("httpStatus", 0))
        self.retryable = code in RETRYABLE or (code == 2001 and (status == 429 or status >= 500))

    def __str__(self) -> str:
        return f"{self.name} ({self.code}): {self.message}"


class StaleError(Exception):
    """The bytes of a reference were reused before they were read (§10)."""


@dataclass(eq=False)
class Image:
    """A picture, or facts about one. `data` of 1 MiB and more is a view of shared memory: it is
    given back by `release()`, by the end of a `with`, or when nobody holds the image any more."""

    token: bytes
    data: bytes | memoryview
    format: str
    width: int
    height: int
    pages: int
    has_alpha: bool
    cache_type: int  # the tier that had it: 0 none, 1 disk, 2 memory
    key: str
    timings: dict[str, float]  # milliseconds by stage
    _give_back: Callable[[], object] = lambda: None

    def release(self) -> None:
        self.data = b""
        self._give_back()

    def __enter__(self) -> Image:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def resize(width: int, height: int, mode: str = "fit") -> pb.Step:
    """Into a box of pixels; `mode` is stretch, letterbox, fill or fit."""
    box = pb.Size(width=width, height=height)
    return pb.Step(resize=pb.Resize(box=box, mode=f"RESIZE_MODE_{mode.upper()}"))


def crop(x: int, y: int, width: int, height: int) -> pb.Step:
    return pb.Step(crop=pb.Rect(x=x, y=y, size=pb.Size(width=width, height=height)))


def rotate(degrees: float, fits_size: bool = True) -> pb.Step:
    """Counter-clockwise; `fits_size` makes room for the corners."""
    return pb.Step(rotate=pb.Rotate(radians=math.radians(degrees), fits_size=fits_size))


def flip(horizontal: bool = False, vertical: bool = False) -> pb.Step:
    return pb.Step(flip=pb.Flip(horizontal=horizontal, vertical=vertical))


def new_token() -> bytes:
    """What names a load for `Client.cancel`."""
    return secrets.token_bytes(16)


@dataclass(eq=False)
class Request:
    """A load without a result: what was asked for, and how far it is."""

    load: pb.Load
    done: asyncio.Future[Image]
    deadline: float
    upload: bytes
    progress: Progress | None
    is_sent: bool = False
    is_cancelled: bool = False
    uploaded: int = 0
    body: bytearray = field(default_factory=bytearray)  # what has come in pieces


class Client:
    """A connection to the coordinator below `runtime_dir`, made again whenever it breaks.

    `delivery`: "mapped" reads results from shared memory, "pieces" gets them through the socket,
    "auto" decides by whether the results can be opened. Belongs to one event loop.
    """

    def __init__(
        self, runtime_dir: str | os.PathLike[str], delivery: str = "auto", patience: float = 5
    ) -> None:
        if delivery not in ("auto", "mapped", "pieces"):
            raise ValueError(f"delivery is auto, mapped or pieces, not {delivery!r}")
        self._runtime_dir, self._delivery = Path(runtime_dir), delivery
        self._patience = patience
        self._incarnation = secrets.token_bytes(16)
        self._requests: dict[bytes, Request] = {}
        self._waiting: deque[Request] = deque()
        self._uploads: deque[Request] = deque()
        self._in_flight = self._bytes_out = self._bytes_in = self._session = 0
        self._welcome: pb.ClientWelcome | None = None  # none: no session
        self._answered = asyncio.Event()  # the first hello
        self._broken: ImagebusError | None = None
        self._is_open = False

    # ---- What users call

    async def __aenter__(self) -> Client:
        """Raises `unavailable` where nobody welcomes this client within `patience` seconds."""
        self._loop = asyncio.get_running_loop()
        self._context = zmq.asyncio.Context()
        self._socket = self._context.socket(zmq.DEALER)
        for option, value in {
            zmq.IMMEDIATE: 1,
            zmq.MAXMSGSIZE: FRAME_MAX,
            zmq.SNDHWM: 0,  # the windows are the limit
            zmq.RECONNECT_IVL: 10,
            zmq.RECONNECT_IVL_MAX: 250,
        }.items():
            self._socket.setsockopt(option, value)
        events = zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_DISCONNECTED
        self._monitor = self._socket.get_monitor_socket(events)
        self._socket.connect(f"ipc://{self._runtime_dir}/front/front.sock")
        self._is_open = True
        self._tasks = [self._loop.create_task(self._watch()), self._loop.create_task(self._read())]
        try:
            async with asyncio.timeout(self._patience):
                await self._answered.wait()
            if self._broken is not None:
                raise self._broken
        except TimeoutError:
            await self.__aexit__()
            sentence = f"nobody answers at {self._runtime_dir}"
            raise ImagebusError(pb.ERROR_CODE_UNAVAILABLE, sentence) from None
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        """Cancels what is still loading and says goodbye."""
        for token in list(self._requests):
            self.cancel(token)
        self._send(GOODBYE, pb.Goodbye(reason=pb.GOODBYE_REASON_TERMINATED))
        self._is_open = False
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._fail_all(ImagebusError(pb.ERROR_CODE_CANCELLED, "the client was closed"))
        self._socket.disable_monitor()
        self._monitor.close(linger=0)
        self._socket.close(linger=250)  # with 0 the goodbye would be dropped
        self._context.term()

    async def load(
        self,
        url: str,
        *steps: pb.Step,
        format: str | None = None,
        quality: int | None = None,
        headers: Mapping[str, str] | None = None,
        info_only: bool = False,
        timeout: float = 30.0,
        progress: Progress | None = None,
        token: bytes | None = None,
    ) -> Image:
        """The picture at `url` after `steps`, in its own format where none is named. `progress` is
        called with the bytes that have come and those that are expected (0: unknown)."""
        image = _request_for(steps, format, quality, info_only)
        image.url = url
        image.headers.extend(pb.Header(name=n, value=v) for n, v in (headers or {}).items())
        return await self._run(image, timeout, token, progress=progress)

    async def upload(
        self,
        data: bytes,
        *steps: pb.Step,
        format: str | None = None,
        quality: int | None = None,
        info_only: bool = False,
        timeout: float = 30.0,
        token: bytes | None = None,
    ) -> Image:
        """The same with a picture that the caller has."""
        image = _request_for(steps, format, quality, info_only)
        return await self._run(image, timeout, token, upload=bytes(data))

    def cancel(self, token: bytes) -> None:
        """Ends that load with `cancelled`, whatever it is doing; nothing if it has ended."""
        request = self._requests.get(token)
        if request is None:
            return
        request.is_cancelled = True
        if request.is_sent and self._welcome is not None:
            self._send(CANCEL, pb.Cancel(token=token))  # its reply ends the load
        else:
            self._fail(request, ImagebusError(pb.ERROR_CODE_CANCELLED, "cancelled by the caller"))

    # ---- Requests

    async def _run(
        self,
        image: pb.ImageRequest,
        timeout: float,
        token: bytes | None,
        progress: Progress | None = None,
        upload: bytes = b"",
    ) -> Image:
        if self._broken is not None:
            raise self._broken
        if not self._is_open:
            raise ImagebusError(pb.ERROR_CODE_UNAVAILABLE, "the client is closed")
        load = pb.Load(token=token or new_token(), image=image, upload_bytes=len(upload))
        load.wants_progress = progress is not None
        if load.token in self._requests:
            raise ImagebusError(pb.ERROR_CODE_TOKEN_IN_USE, "this token names another load")
        deadline = time.monotonic() + timeout
        request = Request(load, self._loop.create_future(), deadline, upload, progress)
        self._requests[load.token] = request
        self._waiting.append(request)
        self._pump()
        try:
            async with asyncio.timeout(timeout + GRACE):
                return await request.done
        except TimeoutError:
            raise ImagebusError(pb.ERROR_CODE_DEADLINE_EXCEEDED, "the deadline passed") from None
        finally:
            if self._requests.get(load.token) is request:  # nobody waits any more
                self.cancel(load.token)
                self._forget(request)

    def _pump(self) -> None:
        """Sends what the windows permit: loads in their order, pieces of all uploads in turns."""
        welcome = self._welcome
        if welcome is None:
            return
        while self._waiting and self._in_flight < welcome.window:
            request = self._waiting.popleft()
            if request.done.done():
                continue
            if request.upload and welcome.piece_window == 0:
                sentence = "this coordinator takes no uploads"
                self._fail(request, ImagebusError(pb.ERROR_CODE_VERSION_MISMATCH, sentence))
                continue
            left = int(1000 * (request.deadline - time.monotonic()))
            request.load.image.timeout_milliseconds = max(left, 1)
            request.is_sent = True
            self._in_flight += 1
            self._send(LOAD, request.load)
            if request.upload:
                self._uploads.append(request)
        while self._uploads:
            request = self._uploads[0]
            size = min(PIECE_MAX, len(request.upload) - request.uploaded)
            if request.done.done() or request.is_cancelled or size == 0:
                self._uploads.popleft()
                continue
            if self._bytes_out + size > welcome.piece_window:
                return  # until something is taken
            self._send_piece(request, size)
            self._uploads.rotate(-1)

    def _send_piece(self, request: Request, size: int) -> None:
        start, total = request.uploaded, len(request.upload)
        data = request.upload[start : start + size]
        self._send(PIECE, pb.Piece(token=request.load.token, offset=start, total=total, data=data))
        request.uploaded += size
        self._bytes_out += size

    def _send_again(self, request: Request) -> None:
        if request.is_sent:
            self._in_flight -= 1
        request.is_sent, request.uploaded = False, 0
        request.body.clear()
        self._waiting.append(request)

    def _forget(self, request: Request) -> None:
        if self._requests.pop(request.load.token, None) is not None and request.is_sent:
            self._in_flight -= 1
        self._pump()

    def _fail(self, request: Request, error: ImagebusError) -> None:
        if not request.done.done():
            request.done.set_exception(error)
        self._forget(request)

    def _fail_all(self, error: ImagebusError) -> None:
        for request in list(self._requests.values()):
            self._fail(request, error)

    # ---- The session (§5)

    async def _watch(self) -> None:
        while True:
            event = parse_monitor_message(await self._monitor.recv_multipart())["event"]
            self._welcome = None
            if event == zmq.EVENT_HANDSHAKE_SUCCEEDED:
                self._greet()

    def _greet(self) -> None:
        self._welcome = None
        hello = pb.ClientHello(incarnation=self._incarnation, pid=os.getpid(), version="python 1")
        hello.wants_pieces = self._delivery == "pieces" or (
            self._delivery == "auto" and not os.access(self._results(), os.R_OK | os.X_OK)
        )
        self._send(HELLO, hello)

    def _on_welcome(self, welcome: pb.ClientWelcome) -> None:
        """Sends all again under whatever epoch: with a connection its requests have ended."""
        self._welcome, self._broken = welcome, None
        self._session += 1
        self._in_flight = self._bytes_out = self._bytes_in = 0
        self._waiting.clear()
        self._uploads.clear()
        for request in list(self._requests.values()):
            request.is_sent = False
            if request.is_cancelled:
                self._fail(request, ImagebusError(pb.ERROR_CODE_CANCELLED, "cancelled"))
            else:
                self._send_again(request)
        self._answered.set()
        self._pump()

    def _send(self, kind: int, body: Message) -> None:
        self._send_frames([MAGIC + bytes((VERSION, kind, 0, 0)), body.SerializeToString()])

    def _send_frames(self, frames: list[bytes]) -> None:
        if self._is_open:  # without a connection they are dropped: the next welcome repeats them
            sent = asyncio.ensure_future(self._socket.send_multipart(frames, zmq.NOBLOCK))
            sent.add_done_callback(asyncio.Future.exception)

    async def _read(self) -> None:
        while True:
            frames = await self._socket.recv_multipart()
            try:
                self._handle(frames)
            except DecodeError as error:
                self._break(pb.ERROR_CODE_PROTOCOL_VIOLATION, f"a body is unreadable: {error}")

    def _break(self, code: int, sentence: str) -> None:
        """The other end is no coordinator that this client understands."""
        self._broken, self._welcome = ImagebusError(code, sentence), None
        self._answered.set()
        self._fail_all(self._broken)

    def _handle(self, frames: list[bytes]) -> None:
        header = frames[0]
        if len(frames) != 2 or len(header) != 8 or header[:4] != MAGIC:
            return self._break(pb.ERROR_CODE_PROTOCOL_VIOLATION, "this is no message of Imagebus")
        version, kind = header[4:6]
        if kind == VERSIONS:
            sentence = f"the coordinator speaks versions {list(frames[1][:2])}"
            return self._break(pb.ERROR_CODE_VERSION_MISMATCH, sentence)
        if version != VERSION:
            answer = MAGIC + bytes((VERSION, VERSIONS, 0, 0))
            self._send_frames([answer, bytes((VERSION, VERSION))])
            return self._break(pb.ERROR_CODE_VERSION_MISMATCH, f"a message of version {version}")
        if kind == HELLO_REQUIRED:
            return self._greet() if self._welcome is not None else None  # else a hello is under way
        if kind == WELCOME:
            return self._on_welcome(pb.ClientWelcome.FromString(frames[1]))
        handlers: dict[int, tuple[type[Message], Callable[..., None]]] = {
            EVENT: (pb.Event, self._on_event),
            REPLY: (pb.Reply, self._on_reply),
            PIECE: (pb.Piece, self._on_piece),
            TAKEN: (pb.Taken, self._on_taken),
            REFUSED: (pb.Refused, self._on_refused),
        }
        if kind not in handlers:
            return self._break(pb.ERROR_CODE_PROTOCOL_VIOLATION, f"a message of kind {kind}")
        message, handler = handlers[kind]
        if self._welcome is not None:  # else it is of a session that has ended
            handler(message.FromString(frames[1]))

    # ---- What comes back

    def _on_event(self, event: pb.Event) -> None:
        request = self._requests.get(event.token)
        if request is not None and request.progress is not None and event.HasField("progress"):
            received, expected = event.progress.received, event.progress.expected
            self._loop.call_soon(request.progress, received, expected)

    def _on_refused(self, refused: pb.Refused) -> None:
        request = self._requests.get(refused.token)
        if request is not None:
            self._fail(request, _error_from(refused.error))
        else:
            log.warning("a message was refused: %s", _error_from(refused.error))

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
                sentence = f"a piece at {piece.offset} after {len(request.body)} bytes"
                self._fail(request, ImagebusError(pb.ERROR_CODE_PROTOCOL_VIOLATION, sentence))
        self._bytes_in += len(piece.data)  # of whatever load: the window is for all
        if end >= piece.total or 2 * self._bytes_in >= self._welcome.piece_window:
            self._send(TAKEN, pb.Taken(bytes=self._bytes_in))
            self._bytes_in = 0

    def _on_reply(self, reply: pb.Reply) -> None:
        request = self._requests.get(reply.token)
        case = reply.WhichOneof("outcome")
        if case != "image" or request is None:
            if case == "image" and _is_lent(reply.image):  # it crossed a cancel
                self._release(reply.image.reference.block, self._session)
            if request is not None:
                missing = pb.Error(code=pb.ERROR_CODE_PROTOCOL_VIOLATION, message="no image")
                self._fail(request, _error_from(reply.failure if case == "failure" else missing))
            return
        try:
            image = self._image_from(request, reply)
        except StaleError as error:
            request.load.stale_retries += 1
            self._retry(request, error, request.load.stale_retries > STALE_RETRIES_MAX)
        except OSError as error:
            self._retry(request, error, True)
        else:
            if not request.done.done():
                request.done.set_result(image)
            self._forget(request)

    def _retry(self, request: Request, error: Exception, in_pieces: bool) -> None:
        """The same load once more: its caller sees one. What cannot be read may come in pieces."""
        can_ask = self._delivery != "mapped" and self._welcome.piece_window > 0
        if in_pieces and (request.load.wants_pieces or not can_ask):
            is_stale = isinstance(error, StaleError)
            code = pb.ERROR_CODE_STALE if is_stale else pb.ERROR_CODE_INTERNAL_ERROR
            self._fail(request, ImagebusError(code, str(error)))
        else:
            request.load.wants_pieces = in_pieces
            self._send_again(request)
            self._pump()

    def _image_from(self, request: Request, reply: pb.Reply) -> Image:
        delivered, info = reply.image, reply.image.info
        data: bytes | memoryview = b""
        if delivered.HasField("piece_bytes"):
            data = bytes(request.body)
            if len(data) != delivered.piece_bytes:
                raise StaleError(f"{len(data)} of {delivered.piece_bytes} bytes came in pieces")
        elif delivered.HasField("reference"):
            try:
                data = read_result(self._results(), delivered)
            except (StaleError, OSError):
                if _is_lent(delivered):
                    self._release(delivered.reference.block, self._session)
                raise
        image = Image(
            token=reply.token,
            data=data,
            format=pb.ImageFormat.Name(info.format).removeprefix("IMAGE_FORMAT_").lower(),
            width=info.width,
            height=info.height,
            pages=info.pages,
            has_alpha=info.has_alpha,
            cache_type=delivered.cache_type,
            key=delivered.key,
            timings={stage.name: value for stage, value in reply.timings.ListFields()},
        )
        if _is_lent(delivered):
            loan = (delivered.reference.block, self._session)
            image._give_back = weakref.finalize(image, self._release_soon, *loan)
            image._give_back.atexit = False
        return image

    def _results(self) -> Path:
        """Where results lie (§10); asked each time, since another stack may have come."""
        try:
            return Path((self._runtime_dir / "segments").read_text().strip()) / "results"
        except FileNotFoundError:
            return self._runtime_dir / "results"

    def _release_soon(self, block: int, session: int) -> None:
        """From the garbage collector, which may run in any thread."""
        if self._is_open:
            self._loop.call_soon_threadsafe(self._release, block, session)

    def _release(self, block: int, session: int) -> None:
        if self._welcome is not None and session == self._session:  # else all is released
            self._send(RELEASE, pb.Release(blocks=[block]))


def read_result(results: Path, delivered: pb.DeliveredImage) -> bytes | memoryview:
    """The bytes of a reference, as §10 says: a copy that is checked, or a mapping."""
    reference = delivered.reference
    name = f"{reference.producer.incarnation.hex()}.{reference.segment}"
    try:
        file = os.open(results / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise StaleError(f"segment {name} is gone") from None
    try:
        facts, end = os.fstat(file), reference.offset + reference.length
        if (
            reference.arena != pb.ARENA_RESULTS
            or not stat.S_ISREG(facts.st_mode)
            or facts.st_uid != results.stat().st_uid
            or not BLOCK_HEADER <= reference.offset <= end <= facts.st_size
        ):
            raise PermissionError(f"segment {name} is not what the reference says")
        if _is_lent(delivered):
            mapping = mmap.mmap(file, facts.st_size, access=mmap.ACCESS_READ)
            data: bytes | memoryview = memoryview(mapping)[reference.offset : end]
        else:
            data = os.pread(file, reference.length, reference.offset)
        # Only now: what was copied before the id changed is whole.
        block = os.pread(file, 8, reference.offset - BLOCK_HEADER)
    finally:
        os.close(file)
    if len(data) != reference.length or struct.unpack("<Q", block) != (reference.block,):
        raise StaleError(f"block {reference.block} was reused")
    return data


def _is_lent(delivered: pb.DeliveredImage) -> bool:
    """Whether the bytes are this client's until it releases them."""
    return delivered.reference.length >= MAPPED_FROM and not delivered.must_copy


def _request_for(
    steps: tuple[pb.Step, ...], format: str | None, quality: int | None, info_only: bool
) -> pb.ImageRequest:
    image = pb.ImageRequest(steps=steps, info_only=info_only)
    if format is not None:
        image.output.format = pb.ImageFormat.Value(f"IMAGE_FORMAT_{format.upper()}")
    if quality is not None:
        image.output.quality = quality
    return image


def _error_from(error: pb.Error) -> ImagebusError:
    details = {detail.name: detail.value for detail in error.details}
    return ImagebusError(error.code, error.message, details)
