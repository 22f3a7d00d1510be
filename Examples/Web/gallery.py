"""The gallery: its page, the origin of its pictures, and the figures of the stack.

    python3 gallery.py --gateway http://127.0.0.1:8001 --keys FILE --pictures DIRECTORY \\
        --metrics FILE --imagebus PROGRAM [--port 8000]

`scripts/demo --web` starts it beside a stack. Pictures go to the browser through the gateway alone;
this server is where the stack downloads them from. URLs are signed here, all widths of a picture:
a browser cannot sign, and has no reason to know the key.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import hmac
import html
import json
import secrets
import select
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from pictures import ANIMATIONS, SIZE, SMALL, STILLS

FOLDER = Path(__file__).parent
WIDTHS = (240, 360, 480, 720, 960, 1440)
ASSETS = {
    "/gallery.css": ("gallery.css", "text/css; charset=utf-8"),
    "/gallery.js": ("gallery.js", "text/javascript; charset=utf-8"),
}
MODES = {"normal": "Normal", "slow": "Slow", "failing": "Failing"}
# Never ends: for tests, which have no patience and all the time.
STUCK = "stuck"


class Signer:
    """Makes URLs of the gateway, in imgproxy's grammar."""

    def __init__(self, gateway: str, keys: Path) -> None:
        self.gateway = gateway
        self.key, self.salt = (bytes.fromhex(word) for word in keys.read_text().split()[:2])

    def url(self, options: str, source: str) -> str:
        path = f"/{options}/plain/{source}"
        code = hmac.new(self.key, self.salt + path.encode(), hashlib.sha256).digest()
        signature = base64.urlsafe_b64encode(code).rstrip(b"=").decode()
        return f"{self.gateway}/{signature}{path}"


class Picture:
    """One of the gallery, with what the stack says of it."""

    def __init__(self, name: str, title: str, alt: str, size: tuple[int, int]) -> None:
        self.name, self.title, self.alt, self.size = name, title, alt, size
        self.thumb_hash = self.colour = ""

    @property
    def is_animated(self) -> bool:
        return self.name.endswith(".webp")


PICTURES = [Picture(f"{n:02}.jpg", title, alt, SIZE) for n, (title, alt, *_) in enumerate(STILLS)]
MOVING = [Picture(f"a{n}.webp", title, alt, SMALL) for n, (title, alt, _) in enumerate(ANIMATIONS)]
# Among the others, where they are found.
ALL = PICTURES[:3] + MOVING[:1] + PICTURES[3:8] + MOVING[1:] + PICTURES[8:]


class Gallery(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, arguments: argparse.Namespace) -> None:
        super().__init__(("127.0.0.1", arguments.port), Handler)
        self.arguments = arguments
        self.signer = Signer(arguments.gateway, arguments.keys)
        self.here = f"http://127.0.0.1:{self.server_port}"
        self.over = threading.Event()

    def look(self) -> None:
        """Asks the stack for the ThumbHash and the colour of each picture, and for its figures,
        which `serve` itself writes a second later."""
        subprocess.run(
            [self.arguments.imagebus, "status", "--prometheus", "-o", self.arguments.metrics],
            timeout=60, check=True,
        )  # fmt: skip
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(self.ask, ALL))

    def ask(self, picture: Picture) -> None:
        said = subprocess.run(
            [self.arguments.imagebus, "get", f"{self.here}/pictures/normal/0/{picture.name}",
             "--properties", "thumbhash,colors", "--json"],
            capture_output=True, text=True, timeout=60, check=True,
        ).stdout  # fmt: skip
        facts = json.loads(said)["facts"]
        picture.thumb_hash = facts["thumbHash"]
        # #AARRGGBB
        picture.colour = "#" + facts["average"][3:]

    # What is shown

    def page(self, mode: str, run: str, limit: int) -> str:
        text = (FOLDER / "gallery.html").read_text()
        items = "".join(
            self.item(picture, mode, run, number) for number, picture in enumerate(ALL[:limit])
        )
        links = "".join(
            f'<a href="?origin={key}&amp;run={secrets.token_hex(4)}"'
            f'{" aria-current=page" if key == mode.replace(STUCK, "slow") else ""}>{name}</a>'
            for key, name in MODES.items()
        )
        return (
            text.replace("<!-- pictures -->", items)
            .replace("<!-- origins -->", links)
            .replace("{gateway}", self.arguments.gateway)
            .replace("{again}", f"?origin={mode}&amp;run={secrets.token_hex(4)}")
        )

    def item(self, picture: Picture, mode: str, run: str, number: int) -> str:
        source = f"{self.here}/pictures/{mode}/{run}/{picture.name}"
        widest = picture.size[0]
        ladder = {w: self.signer.url(f"rs:fit:{w}:0", source) for w in WIDTHS if w <= widest}
        middle = ladder[480]
        large = ladder.get(1440) or self.signer.url("q:85", source)
        image = {
            "src": middle,
            "srcset": ", ".join(f"{url} {width}w" for width, url in ladder.items()),
            "sizes": "(min-width: 40rem) 22rem, 100vw",
            "alt": picture.alt,
            "width": str(picture.size[0]),
            "height": str(picture.size[1]),
        }
        element = image | {
            "thumbhash": picture.thumb_hash,
            "color": picture.colour,
            "lazy": "150px",
            "progress": "",
            "prefetch": large,
        }
        if picture.is_animated:
            # Its bytes as they are: the poster is a still image of the same source.
            element["animated"] = self.signer.url("raw:1", source)
            del element["prefetch"]
        return f"""
      <li class="tile" style="--order: {number}">
        <bus-image {attributes(element)}>
          <noscript><img loading="lazy" {attributes(image)}></noscript>
        </bus-image>
        <p><a href="{html.escape(large)}">{html.escape(picture.title)}</a> <output></output></p>
      </li>"""


def attributes(values: dict[str, str]) -> str:
    return " ".join(
        f'{name}="{html.escape(value)}"' if value else name for name, value in values.items()
    )


class Handler(BaseHTTPRequestHandler):
    server: Gallery

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        query = {name: values[-1] for name, values in parse_qs(url.query).items()}
        if url.path == "/":
            mode = query.get("origin", "")
            if mode not in {*MODES, STUCK}:
                mode = "normal"
            run = query.get("run", "0")
            if not run.isalnum():
                run = "0"
            limit = int(query["limit"]) if query.get("limit", "").isdigit() else len(ALL)
            page = self.server.page(mode, run, limit)
            self.answer(page.encode(), "text/html; charset=utf-8")
        elif url.path in ASSETS:
            name, kind = ASSETS[url.path]
            self.answer((FOLDER / name).read_bytes(), kind)
        elif url.path == "/metrics":
            self.metrics()
        elif url.path.startswith("/pictures/"):
            self.picture(*url.path.split("/")[2:])
        else:
            self.answer(b"there is nothing here\n", "text/plain", 404)

    def metrics(self) -> None:
        """What `serve --metrics-file` writes each second; from here, as the page may read it."""
        try:
            self.answer(self.server.arguments.metrics.read_bytes(), "text/plain; version=0.0.4")
        except FileNotFoundError:
            self.answer(b"the stack has ended\n", "text/plain", 503)

    def picture(self, mode: str, run: str = "", name: str = "") -> None:
        known = {picture.name: number for number, picture in enumerate(ALL)}
        if mode not in {*MODES, STUCK} or name not in known:
            return self.answer(b"there is no such picture\n", "text/plain", 404)
        number = known[name]
        data = (self.server.arguments.pictures / name).read_bytes()
        kind = "image/webp" if name.endswith(".webp") else "image/jpeg"
        if mode == "failing" and number % 4 != 1:
            return self.fail(number, data, kind)
        if mode == STUCK:
            self.head(200, kind, len(data))
            self.wfile.write(data[: len(data) // 2])
            # Until the client disconnects or the server ends.
            select.select([self.connection], [], [])
            return
        # Between two and five seconds, each its own.
        pieces = 1 if mode != "slow" else 20
        pause = (2 + number * 7 % 11 / 3) / pieces if mode == "slow" else 0
        self.head(200, kind, len(data))
        for piece in range(pieces):
            if piece and self.server.over.wait(pause):
                return
            start, end = (len(data) * part // pieces for part in (piece, piece + 1))
            self.wfile.write(data[start:end])

    def fail(self, number: int, data: bytes, kind: str) -> None:
        if number % 4 == 0:
            self.answer(b"gone\n", "text/plain", 404)
        elif number % 4 == 2:
            self.answer(b"<!doctype html><title>Sorry</title>", "text/html")
        else:
            self.answer(b"out of order\n", "text/plain", 500)

    def head(self, status: int, kind: str, length: int) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(length))
        kept = "max-age=3600" if kind.startswith("image/") else "no-store"
        self.send_header("Cache-Control", kept)
        self.end_headers()

    def answer(self, data: bytes, kind: str, status: int = 200) -> None:
        self.head(status, kind, len(data))
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass

    def handle(self) -> None:
        try:
            super().handle()
        except ConnectionError:
            pass  # this page shows cancelled loads, whose connections are closed


def main() -> None:
    parser = argparse.ArgumentParser(description="the gallery of <bus-image>")
    parser.add_argument("--gateway", required=True)
    for name in "keys", "pictures", "metrics", "imagebus":
        parser.add_argument(f"--{name}", required=True, type=Path)
    parser.add_argument("--port", type=int, default=8000)
    gallery = Gallery(parser.parse_args())
    thread = threading.Thread(target=gallery.serve_forever, daemon=True)
    thread.start()
    gallery.look()
    print(f"ready {gallery.here}/", flush=True)
    try:
        thread.join()
    except KeyboardInterrupt:
        gallery.over.set()


if __name__ == "__main__":
    main()
