"""Draws image files on a canvas in headless Chromium, which shares no code with Imagebus."""

from __future__ import annotations

import mimetypes
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from PIL import Image
from browser import Browser, BrowserError
from picture import DRAWN, LOSSY, Picture, Refused

TYPES = {
    ".apng": "image/apng", ".avif": "image/avif", ".avifs": "image/avif", ".bmp": "image/bmp",
    ".cur": "image/x-icon", ".ico": "image/x-icon", ".jxl": "image/jxl", ".webp": "image/webp",
    ".svg": "image/svg+xml", ".heic": "image/heic", ".heif": "image/heif",
}  # fmt: skip
#: Draws one file and posts its pixels. Returns the size, or the reason for a failure.
DRAW = """
    const image = new Image();
    const loaded = new Promise((done) => {
        image.onload = () => done(true);
        image.onerror = () => done(false);
        setTimeout(() => done(false), 20000);
    });
    image.src = "/file?" + arguments[0];
    if (!await loaded) return "not shown";
    const [width, height] = [image.naturalWidth, image.naturalHeight];
    if (width * height > arguments[1]) return "too large to compare";
    const canvas = new OffscreenCanvas(width, height);
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(image, 0, 0);
    await fetch("/pixels", { method: "POST",
        body: context.getImageData(0, 0, width, height).data });
    return [width, height];
"""
#: Draws the last frame with the WebCodecs decoder. Returns the size and the number of frames.
DRAW_LAST = """
    const data = await (await fetch("/file?" + arguments[0])).arrayBuffer();
    const decoder = new ImageDecoder({ data, type: arguments[1] });
    await decoder.tracks.ready;
    await decoder.completed;
    const frames = decoder.tracks.selectedTrack.frameCount;
    const { image } = await decoder.decode({ frameIndex: frames - 1 });
    const [width, height] = [image.displayWidth, image.displayHeight];
    const canvas = new OffscreenCanvas(width, height);
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(image, 0, 0);
    await fetch("/pixels", { method: "POST",
        body: context.getImageData(0, 0, width, height).data });
    return [width, height, frames];
"""


class Chromium:
    """A browser and the server for its page, for one file at a time."""

    def __init__(self) -> None:
        self._count = 0
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        try:
            self._start()
        except BaseException:
            self._server.shutdown()
            raise

    def _start(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="ib-", ignore_cleanup_errors=True)
        self._browser = Browser(self._folder.name)
        self._browser.visit(f"http://127.0.0.1:{self._server.server_port}/")

    def _stop(self) -> None:
        try:
            self._browser.close()
        except (BrowserError, OSError):
            pass  # it has crashed
        self._folder.cleanup()

    def close(self) -> None:
        self._stop()
        self._server.shutdown()
        self._server.server_close()

    def read(self, path: Path, pixel_limit: int) -> Picture:
        """The image as shown on a page; the first frame of an animation."""
        width, height = self._run(DRAW, path, pixel_limit)
        return self._picture(path, (width, height), None)

    def read_last(self, path: Path) -> Picture:
        """The last frame, and the number of frames."""
        width, height, frames = self._run(DRAW_LAST, path, media_type(path))
        return self._picture(path, (width, height), frames)

    def _picture(self, path: Path, size: tuple[int, int], frames: int | None) -> Picture:
        image = Image.frombytes("RGBA", size, self._server.pixels)
        is_drawn = path.suffix.lower() == ".svg"
        return Picture(image, frames, tolerance=DRAWN if is_drawn else LOSSY)

    def _run(self, script: str, path: Path, argument: object) -> list[int]:
        self._count += 1
        self._server.file = path
        try:
            value = self._browser.run(script, str(self._count), argument)
        except (BrowserError, OSError) as error:
            self._stop()
            self._start()
            raise Refused("crashed", str(error)) from None
        if isinstance(value, str):
            raise Refused(value)
        return value


def media_type(path: Path) -> str:
    return TYPES.get(path.suffix.lower()) or mimetypes.guess_type(path.name)[0] or "image/png"


class _Handler(BaseHTTPRequestHandler):
    """Serves the page and the current file, and receives the pixels."""

    def do_GET(self) -> None:
        if not self.path.startswith("/file"):
            self._reply(b"<!doctype html><title>sweep</title>", "text/html")
            return
        path = self.server.file
        self._reply(path.read_bytes(), media_type(path))

    def do_POST(self) -> None:
        self.server.pixels = self.rfile.read(int(self.headers["Content-Length"]))
        self._reply(b"", "text/plain")

    def _reply(self, data: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass
