"""An origin that counts requests per client."""

from __future__ import annotations

import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Origin

    def do_GET(self) -> None:
        origin = self.server
        is_same = self.headers["If-None-Match"] == origin.tag
        with origin.lock:
            counter = origin.confirmations if is_same else origin.gets
            counter[self.path] += 1
            origin.askers.setdefault(self.path, []).append(self.headers["User-Agent"] or "")
        time.sleep(origin.seconds)
        self.send_response(304 if is_same else 200)
        self.send_header("ETag", origin.tag)
        self.send_header("Cache-Control", f"max-age={origin.max_age}")
        if not is_same:
            self.send_header("Content-Type", "image/jpeg")
            self.send_header("Content-Length", str(len(origin.picture)))
        self.end_headers()
        if not is_same:
            self.wfile.write(origin.picture)

    def log_message(self, *_: object) -> None:
        pass


class Origin(ThreadingHTTPServer):
    """Every path returns the same image, after a delay."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def __init__(self, picture: bytes, seconds: float = 0.0, max_age: int = 3_600) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.picture, self.seconds, self.max_age = picture, seconds, max_age
        self.tag = '"1"'
        self.gets: Counter[str] = Counter()  # responses with bytes
        self.confirmations: Counter[str] = Counter()  # 304 responses
        self.askers: dict[str, list[str]] = {}  # by User-Agent, in order
        self.lock = threading.Lock()
        self._thread = threading.Thread(target=self.serve_forever, daemon=True)
        self._thread.start()

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.server_port}"

    def url(self, path: str) -> str:
        return f"http://{self.place}{path}"

    def handle_error(self, *_: object) -> None:
        """Ignores errors: machines that die during a response are part of the tests."""

    def stop(self) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()
