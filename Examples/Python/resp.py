"""Speaks RESP 2 with a server of Valkey or Redis: as much of it as a cache needs."""

from __future__ import annotations

import socket

BULK_MAX = 128 << 20  # bytes of an answer that is read
BYTES_A_SECOND = 50e6  # that it takes at least
Answer = bytes | int | list["Answer"] | None


class ServerError(Exception):
    """The server says no."""


class Server:
    """One connection (RESP 2). What raises here ends it; the next call makes another."""

    def __init__(self, place: str, password: str | None, seconds: float) -> None:
        self._seconds = seconds
        self._socket = socket.socket(socket.AF_UNIX if place.startswith("/") else socket.AF_INET)
        self._socket.settimeout(seconds)
        try:
            host, _, port = place.rpartition(":")
            self._socket.connect(place if place.startswith("/") else (host, int(port)))
        except BaseException:
            self._socket.close()
            raise
        self._file = self._socket.makefile("rb")
        if password is not None:
            self.ask(b"AUTH", password.encode())

    def ask(self, *words: bytes) -> Answer:
        text = b"*%d\r\n" % len(words)
        text += b"".join(b"$%d\r\n%b\r\n" % (len(word), word) for word in words)
        self._socket.settimeout(self._seconds + len(text) / BYTES_A_SECOND)
        self._socket.sendall(text)
        return self._answer()

    def _answer(self) -> Answer:
        line = self._file.readline(65_536)
        kind, text = line[:1], line[1:-2]
        if not line.endswith(b"\r\n") or kind not in b"+-:$*":
            raise ConnectionError("the server ended, or is none")
        if kind == b"-":
            raise ServerError(text.decode(errors="replace"))
        if kind == b"+":
            return text
        number = int(text)
        if kind == b":" or number < 0:
            return number if kind == b":" else None
        if kind == b"*":
            return [self._answer() for _ in range(number)]
        if number > BULK_MAX:
            raise ConnectionError("an answer is too long")
        data = self._file.read(number + 2)
        if len(data) != number + 2:
            raise ConnectionError("the server ended in an answer")
        return data[:-2]

    def close(self) -> None:
        self._file.close()
        self._socket.close()
