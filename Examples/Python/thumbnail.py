"""Makes thumbnails of pictures, eight at a time.

    python thumbnail.py -o thumbnails https://www.swift.org/apple-touch-icon.png mine.jpg

Arguments without `://` are files, which are uploaded. Ctrl-C cancels everything. The trace context
in $TRACEPARENT is sent with every picture.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sys
from pathlib import Path

from imagebus import ImagebusError, resize
from imagebus.aio import Client
from imagebus.trust import default_runtime_dir

AT_ONCE = 8


def current_delivery(word: str) -> str:
    """The value of --delivery; its former name `pieces` still works."""
    return "chunks" if word == "pieces" else word


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="make thumbnails of pictures, eight at a time")
    parser.add_argument("pictures", nargs="+", metavar="URL|FILE")
    parser.add_argument("-o", "--output", type=Path, default=Path("thumbnails"), metavar="DIR")
    parser.add_argument("--size", type=int, default=256, help="longest side in pixels (256)")
    parser.add_argument("--format", default="webp", choices=("jpeg", "png", "webp"))
    parser.add_argument("--quality", type=int, default=80, metavar="0..100")
    parser.add_argument("--timeout", type=float, default=30.0, metavar="SECONDS")
    parser.add_argument("--runtime-dir", type=Path, metavar="DIR")
    parser.add_argument(
        "--delivery", default="auto", choices=("auto", "mapped", "chunks"), type=current_delivery
    )
    return parser.parse_args()


def name_of(number: int, picture: str, extension: str) -> str:
    """A file name derived from an untrusted one: only harmless characters are kept."""
    stem = Path(re.sub(r"[?#].*", "", picture)).stem
    return f"{number:04}-{re.sub(r'[^A-Za-z0-9_-]+', '-', stem)[:64]}.{extension}"


class Thumbnails:
    """One run: the pictures, their progress, and the number of failures."""

    def __init__(self, client: Client, arguments: argparse.Namespace) -> None:
        self._client, self._arguments = client, arguments
        self._places = asyncio.Semaphore(AT_ONCE)
        self._received: dict[int, int] = {}
        self.failed = 0

    async def make_all(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            for number, picture in enumerate(self._arguments.pictures, start=1):
                tasks.create_task(self._make(number, picture))

    async def _make(self, number: int, picture: str) -> None:
        async with self._places:
            try:
                line = await self._save(number, picture)
            except (ImagebusError, OSError) as error:
                self.failed += 1
                line = f"{picture}: {error}"
            print(f"\r\x1b[K{line}" if sys.stderr.isatty() else line, flush=True)

    async def _save(self, number: int, picture: str) -> str:
        wanted = self._arguments
        step = resize(wanted.size, wanted.size)
        how = {"format": wanted.format, "quality": wanted.quality, "timeout": wanted.timeout}
        how["traceparent"] = os.environ.get("TRACEPARENT", "")
        if "://" in picture:

            def show(received: int, expected: int) -> None:
                self._show_progress(number, received)

            image = await self._client.load(picture, step, progress=show, **how)
        else:
            data = await asyncio.to_thread(Path(picture).read_bytes)
            image = await self._client.upload(data, step, **how)
        with image:
            target = wanted.output / name_of(number, picture, wanted.format)
            target.write_bytes(image.data)
            return f"{target} {image.width}x{image.height} {len(image.data)} bytes"

    def _show_progress(self, number: int, received: int) -> None:
        self._received[number] = received
        if sys.stderr.isatty():
            total = sum(self._received.values())
            print(f"\r\x1b[K{total / 1e6:.1f} MB received", end="", file=sys.stderr, flush=True)


async def main(arguments: argparse.Namespace) -> int:
    arguments.output.mkdir(parents=True, exist_ok=True)
    runtime_dir = arguments.runtime_dir or default_runtime_dir()
    async with Client(runtime_dir, arguments.delivery) as client:
        thumbnails = Thumbnails(client, arguments)
        await thumbnails.make_all()
    return 1 if thumbnails.failed else 0


if __name__ == "__main__":
    try:
        sys.exit(asyncio.run(main(parse_arguments())))
    except ImagebusError as error:
        sys.exit(f"thumbnail: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
