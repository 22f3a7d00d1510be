"""Frames to and from the coordinator (PROTOCOL §2 to §5), independent of their meaning."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import zmq
import zmq.asyncio
from google.protobuf.message import DecodeError, Message
from zmq.utils.monitor import parse_monitor_message

import imagebus_pb2 as pb
from imagebus.errors import ImagebusError

MAGIC, VERSION, FRAME_MAX = b"IBUS", 1, 98_304

KINDS: dict[type[Message], int] = {  # PROTOCOL §6
    pb.HelloRequired: 3,
    pb.Release: 11,
    pb.Goodbye: 16,
    pb.Refused: 19,
    pb.ClientHello: 32,
    pb.ClientWelcome: 33,
    pb.Load: 34,
    pb.Cancel: 35,
    pb.Piece: 38,
    pb.Taken: 39,
    pb.Event: 40,
    pb.Reply: 41,
    pb.Prefetch: 47,
    pb.PrefetchReport: 48,
    pb.CacheCommand: 49,
    pb.CacheReport: 50,
    pb.Used: 54,
}
Kinds = dict[int, type[Message]]
SENT_ONLY = {
    pb.Release, pb.Goodbye, pb.ClientHello, pb.Load, pb.Cancel, pb.Prefetch, pb.CacheCommand,
    pb.Used,
}  # fmt: skip
RECEIVED: Kinds = {kind: message for message, kind in KINDS.items() if message not in SENT_ONLY}


class Transport:
    """A DEALER that reconnects automatically. `on_connect` and `on_disconnect` are called for every
    connection and its end, `on_message` for each message, `on_error` for an invalid one. `received`
    lists the messages sent by the coordinator, and `frame_max` limits their size."""

    def __init__(
        self,
        socket: Path,
        on_connect: Callable[[], None],
        on_disconnect: Callable[[], None],
        on_message: Callable[[Message], None],
        on_error: Callable[[ImagebusError], None],
        received: Kinds = RECEIVED,
        frame_max: int = FRAME_MAX,
    ) -> None:
        self._received = received
        self._on_connect, self._on_disconnect = on_connect, on_disconnect
        self._on_message, self._on_error = on_message, on_error
        self._context = zmq.asyncio.Context()
        self._socket = self._context.socket(zmq.DEALER)
        for option, value in {
            zmq.IMMEDIATE: 1,
            zmq.MAXMSGSIZE: frame_max,
            zmq.SNDHWM: 0,  # the windows of the session are the limit
            zmq.RECONNECT_IVL: 10,
            zmq.RECONNECT_IVL_MAX: 250,
        }.items():
            self._socket.setsockopt(option, value)
        events = zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_DISCONNECTED
        self._monitor = self._socket.get_monitor_socket(events)
        self._socket.connect(f"ipc://{socket}")
        self.is_open = True
        self._tasks = [asyncio.create_task(self._watch()), asyncio.create_task(self._read())]

    async def close(self) -> None:
        self.is_open = False
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._socket.disable_monitor()
        self._monitor.close(linger=0)
        self._socket.close(linger=250)  # milliseconds; with 0 the goodbye would be dropped
        self._context.term()

    def send(self, body: Message, kind: int | None = None) -> None:
        """Sends a message, or drops it without a connection, as the next session starts from
        scratch. The kind defaults to that of the body."""
        self._send_frames(KINDS[type(body)] if kind is None else kind, body.SerializeToString())

    def _send_frames(self, kind: int, body: bytes) -> None:
        if self.is_open:
            header = MAGIC + bytes((VERSION, kind, 0, 0))
            sent = self._socket.send_multipart([header, body], zmq.NOBLOCK)
            asyncio.ensure_future(sent).add_done_callback(asyncio.Future.exception)

    async def _watch(self) -> None:
        while True:
            event = parse_monitor_message(await self._monitor.recv_multipart())["event"]
            is_connected = event == zmq.EVENT_HANDSHAKE_SUCCEEDED
            (self._on_connect if is_connected else self._on_disconnect)()

    async def _read(self) -> None:
        while True:
            frames = await self._socket.recv_multipart()
            try:
                message = self._message_of(frames)
            except DecodeError as error:
                self._on_error(ImagebusError(pb.ERROR_CODE_PROTOCOL_VIOLATION, str(error)))
            except ImagebusError as error:
                self._on_error(error)
            else:
                self._on_message(message)

    def _message_of(self, frames: list[bytes]) -> Message:
        header = frames[0]
        if len(frames) != 2 or len(header) != 8 or header[:4] != MAGIC:
            raise ImagebusError(pb.ERROR_CODE_PROTOCOL_VIOLATION, "not an Imagebus message")
        version, kind = header[4:6]
        if kind == 0:
            sentence = f"the coordinator supports protocol versions {list(frames[1][:2])}"
            raise ImagebusError(pb.ERROR_CODE_VERSION_MISMATCH, sentence)
        if version != VERSION:
            self._send_frames(0, bytes((VERSION, VERSION)))
            sentence = f"unsupported protocol version {version}"
            raise ImagebusError(pb.ERROR_CODE_VERSION_MISMATCH, sentence)
        if kind not in self._received:
            raise ImagebusError(pb.ERROR_CODE_PROTOCOL_VIOLATION, f"unexpected message kind {kind}")
        return self._received[kind].FromString(frames[1])
