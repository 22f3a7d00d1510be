"""Reads AVIF sequences with libavif's avifdec, which takes the color range from the AV1 header."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

from PIL import Image
from picture import Picture, Refused


def read(path: Path) -> Picture:
    """The first frame."""
    return Picture(frame(path, 0))


def read_last(path: Path) -> Picture:
    """The last frame, and the number of frames."""
    text = run("--info", path)
    count = len(re.findall(r"Decoded frame \[\d+\]", text))
    if count == 0:
        raise Refused("no frames", text[-200:])
    return Picture(frame(path, count - 1), count)


def frame(path: Path, index: int) -> Image.Image:
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "frame.png"
        run("--depth", "8", "--index", str(index), path, output)
        with Image.open(output) as image:
            return image.convert("RGBA")


def run(*words: str | Path) -> str:
    ended = subprocess.run(["avifdec", *words], capture_output=True, text=True)
    if ended.returncode != 0:
        raise Refused("avifdec", (ended.stdout + ended.stderr).strip()[-200:])
    return ended.stdout
