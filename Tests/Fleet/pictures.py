"""The images of origins."""

from __future__ import annotations

import random
import subprocess
import tempfile
from pathlib import Path

from processes import SECONDS


def jpeg(width: int, height: int) -> bytes:
    """An image with coarse noise, so that no two parts of it look alike."""
    noise = random.Random(1).randbytes(3 * (width // 8) * (height // 8))
    with tempfile.TemporaryDirectory(prefix="ib-", dir="/tmp") as folder:
        small, large = Path(folder, "small.ppm"), Path(folder, "large.jpg")
        small.write_bytes(b"P6 %d %d 255\n" % (width // 8, height // 8) + noise)
        subprocess.run(
            ["vips", "resize", small, f"{large}[Q=85]", "8"],
            check=True, capture_output=True, timeout=SECONDS,
        )  # fmt: skip
        return large.read_bytes()
