"""An origin whose images wait at gates, and the pages of the tests."""

from __future__ import annotations

import select
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from browser import SECONDS


class Answer:
    """One response."""

    def __init__(
        self, data: bytes = b"", kind: str = "image/png", status: int = 200, **fields: str
    ) -> None:
        self.data, self.kind, self.status = data, kind, status
        self.fields = {name.replace("_", "-"): value for name, value in fields.items()}


class Gate:
    """Half of an image is sent at once; the rest when `open` is called, or never. Records when it
    was requested and when the peer closed.
    """

    def __init__(self, data: bytes, kind: str = "image/png") -> None:
        self.data, self.kind = data, kind
        self._asked = threading.Semaphore(0)
        self._closed = threading.Semaphore(0)
        self._inside, self._outside = socket.socketpair()
        self.closed_at = 0.0

    def open(self) -> None:
        """Opens the gate for all current and later requests."""
        self._outside.send(b"!")

    def await_asked(self) -> None:
        assert self._asked.acquire(timeout=SECONDS), "nobody asks for it"

    def await_closed(self) -> float:
        """When the peer closed, on the monotonic clock."""
        assert self._closed.acquire(timeout=SECONDS), "the connection to the origin goes on"
        return self.closed_at

    @property
    def is_closed(self) -> bool:
        return self._closed._value > 0

    def wait_beside(self, connection: socket.socket) -> bool:
        """Whether to send the rest; otherwise the peer has gone, or the test is over."""
        self._asked.release()
        ready, _, _ = select.select([connection, self._inside], [], [], 2 * SECONDS)
        if self._inside in ready:
            return True
        if connection in ready:
            self.closed_at = time.monotonic()
            self._closed.release()
        return False


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Origin

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        with self.server.lock:
            asked = self.server.asked.setdefault(path, [])
            asked.append((time.monotonic(), dict(self.headers.items())))
            answers = self.server.answers.get(path)
            answer = answers[min(len(asked), len(answers)) - 1] if answers else None
        if isinstance(answer, Gate):
            return self.send_gated(answer)
        self.send(answer or Answer(b"nothing here", "text/plain", 404))

    def send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.kind)
        self.send_header("Content-Length", str(len(answer.data)))
        self.send_header("Access-Control-Allow-Origin", "*")
        for name, value in answer.fields.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.data)

    def send_gated(self, gate: Gate) -> None:
        half = len(gate.data) // 2
        self.send_response(200)
        self.send_header("Content-Type", gate.kind)
        self.send_header("Content-Length", str(len(gate.data)))
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Cache-Control", "max-age=600")
        self.end_headers()
        self.wfile.write(gate.data[:half])
        if gate.wait_beside(self.connection):
            self.wfile.write(gate.data[half:])
        else:
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


class Origin(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: dict[str, list[Answer | Gate]] = {}
        self.asked: dict[str, list[tuple[float, dict[str, str]]]] = {}
        self.lock = threading.Lock()
        self._thread = threading.Thread(target=self.serve_forever, daemon=True)
        self._thread.start()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}{path}"

    def put(self, path: str, *answers: Answer | Gate) -> str:
        """Sets the responses of a path, one after another; the last one repeats. Returns the
        URL.
        """
        with self.lock:
            self.answers[path] = list(answers)
        return self.url(path)

    def times(self, path: str) -> list[float]:
        """The times of the requests for a path."""
        with self.lock:
            return [when for when, _ in self.asked.get(path, [])]

    def handle_error(self, *_: object) -> None:
        """Ignores errors: peers that disconnect are part of the tests."""

    def stop(self) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()
