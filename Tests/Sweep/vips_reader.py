"""Reads image files with the command line of libvips, some of whose loaders Imagebus uses."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from PIL import Image
from picture import DRAWN, LOSSY, Picture, Refused, eight_bits

SIDE = "10000000"  # larger than any image: `--size down` then keeps the size
ANIMATED = "gifload", "webpload"


def read(path: Path, pixel_limit: int) -> Picture:
    header = _run("vipsheader", "-a", str(path))
    pairs = [line.strip().partition(": ") for line in header.splitlines()]
    fields = {name: value for name, _, value in pairs}
    width, height = int(fields["width"]), int(fields["height"])
    if width * height > pixel_limit:
        raise Refused("too large to compare", f"{width}x{height}")
    # Without a profile, 8.14 would convert sRGB through a PCS with another white point.
    has_profile = "icc-profile-data" in fields or fields.get("interpretation") == "cmyk"
    export = ("--export-profile", "srgb") if has_profile else ()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.png"
        _run(
            "vips", "thumbnail", str(path), f"{out}[compression=1]", SIDE, "--height", SIDE,
            "--size", "down", *export,
        )  # fmt: skip
        with Image.open(out) as file:
            image = eight_bits(file).convert("RGBA")
    loader = fields.get("vips-loader", "")
    frames = int(fields.get("n-pages", 1)) if loader.startswith(ANIMATED) else None
    tolerance = DRAWN if loader.startswith(("svg", "pdf")) else LOSSY
    return Picture(image, frames, tolerance=tolerance)


def _run(*command: str) -> str:
    ended = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace"
    )
    if ended.returncode == 0:
        return ended.stdout
    if ended.returncode < 0:
        raise Refused("crashed", f"signal {-ended.returncode}")
    lines = [line for line in ended.stderr.splitlines() if line.strip()]
    message = lines[-1] if lines else f"exit status {ended.returncode}"
    known = "unsupported format" if "not a known file format" in ended.stderr else "error"
    raise Refused(known, message)
