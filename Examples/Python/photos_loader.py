"""Serves photos://ALBUM/NAME from a folder, as SDWebImage's Photos plugin does from a library.

    python photos_loader.py --runtime-dir /run/imagebus --pool photos --folder /srv/photos

A smaller image of the same name in a subfolder .previews is sent first if previews are requested.
Links are not followed.
"""

from __future__ import annotations

import argparse
import os
import stat
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit

from imagebus_worker import Failure, Loaded, Loader, Report, run

DOMAIN = "SDWebImagePhotosErrorDomain"
IDENTIFIER_INVALID, NOT_AN_IMAGE, NOT_AUTHORIZED = 10001, 10002, 10003
STEPS = 1000  # progress is in thousandths, regardless of the size
PIECE = 1 << 20  # bytes
ENDINGS = {".jpg", ".jpeg", ".png", ".gif", ".webp", ".heic", ".avif", ".tif", ".tiff"}


class Photos(Loader):
    """Loads photos://ALBUM/NAME from a folder."""

    schemes = ("photos",)

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self, url: str, headers: Sequence[tuple[str, str]], report: Report) -> Loaded:
        album, name = self._place(url)
        report(0, STEPS)
        if report.wants_preview:
            with suppress(Failure):  # it is optional
                report.preview(self._read((album, ".previews", name), report, is_told=False)[0])
        data, etag = self._read((album, name), report)
        return Loaded(data, etag=etag)

    @staticmethod
    def _place(url: str) -> tuple[str, str]:
        """Album and name; neither leads outside."""
        parts = urlsplit(url)
        album, name = unquote(parts.netloc), unquote(parts.path.removeprefix("/"))
        for part in (album, name):
            if not part or part.startswith(".") or "/" in part or "\0" in part:
                raise Failure(DOMAIN, IDENTIFIER_INVALID, "no image has this name", blocks=True)
        if os.path.splitext(name)[1].lower() not in ENDINGS:
            raise Failure(DOMAIN, NOT_AN_IMAGE, f"{name} is not an image", blocks=True)
        return album, name

    def _read(
        self, parts: Sequence[str], report: Report, is_told: bool = True
    ) -> tuple[bytes, str]:
        """The bytes of a regular file, and a tag that changes with it."""
        file = self._open(parts)
        try:
            facts = os.fstat(file)
            if not stat.S_ISREG(facts.st_mode):
                raise Failure(DOMAIN, NOT_AN_IMAGE, f"{parts[-1]} is not a file", blocks=True)
            size, data = min(facts.st_size, report.bytes_max + 1), bytearray()
            while len(data) < size and (piece := os.read(file, min(PIECE, size - len(data)))):
                data += piece
                report.check()
                if is_told:
                    report(STEPS * len(data) // size, STEPS)
            return bytes(data), f'"{facts.st_ino:x}-{facts.st_size:x}-{facts.st_mtime_ns:x}"'
        finally:
            os.close(file)

    def _open(self, parts: Sequence[str]) -> int:
        """Opens the folders one by one, without following links."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        place = os.open(self._folder, flags | os.O_DIRECTORY)
        try:
            for part in parts:
                is_last = part is parts[-1]
                below = os.open(part, flags | (0 if is_last else os.O_DIRECTORY), dir_fd=place)
                os.close(place)
                place = below
        except PermissionError:
            os.close(place)
            raise Failure(DOMAIN, NOT_AUTHORIZED, "this may not be read") from None
        except OSError:
            os.close(place)
            raise Failure(DOMAIN, IDENTIFIER_INVALID, "there is no such image") from None
        return place


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--folder", type=Path, required=True)
    options, rest = parser.parse_known_args(sys.argv[1:])
    run(Photos(options.folder), rest)
