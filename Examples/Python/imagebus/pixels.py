"""Raw pixels: format "pam" (SEMANTICS §11.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

HEADER = 128  # bytes before the first sample
MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}  # Pillow's names, by samples per pixel
SIDE_MAX = (1 << 31) - 1


class Owner(Protocol):
    """The owner of the bytes, which keeps them alive."""

    data: bytes | memoryview


@dataclass(frozen=True)
class Pixels:
    """Interleaved 8-bit samples, rows from the top; straight alpha if there is any.

    `data` is a view of the received bytes, not a copy: for an image of 1 MiB and more it is in
    shared memory. It keeps a reference to its image, and is valid until that is released."""

    data: memoryview  # `stride * height` bytes, read-only
    width: int  # pixels
    height: int  # pixels
    mode: str  # "L", "LA", "RGB" or "RGBA"
    owner: Owner

    @property
    def channels(self) -> int:
        """Samples per pixel, 1 to 4."""
        return len(self.mode)

    @property
    def stride(self) -> int:
        """Bytes from one row to the next; there is no padding."""
        return self.width * self.channels

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        return self.width, self.height

    @property
    def array(self) -> memoryview:
        """The same memory with the shape (height, width, channels), as accepted by NumPy and
        others."""
        return self.data.cast("B", (self.height, self.width, self.channels))


def pixels_of(owner: Owner) -> Pixels:
    """Parses an image. Raises `ValueError` if the bytes aren't one."""
    view = memoryview(owner.data).toreadonly()
    head = bytes(view[:HEADER])
    words = [line.split() for line in head.split(b"\n")]
    numbers = {w[0]: int(w[1]) for w in words if len(w) == 2 and w[1].isdigit()}
    width, height = numbers.get(b"WIDTH", 0), numbers.get(b"HEIGHT", 0)
    mode = MODES.get(numbers.get(b"DEPTH", 0))
    is_whole = head.startswith(b"P7\n") and head.endswith(b"\nENDHDR\n")
    is_sized = 1 <= width <= SIDE_MAX and 1 <= height <= SIDE_MAX
    if not is_whole or not is_sized or mode is None or numbers.get(b"MAXVAL") != 255:
        raise ValueError("invalid PAM header")
    if len(view) != HEADER + width * height * len(mode):
        raise ValueError(f"{len(view)} bytes do not match {width}x{height} pixels of {mode}")
    return Pixels(view[HEADER:], width, height, mode, owner)


def header_of(width: int, height: int, channels: int) -> bytes:
    """The header of such pixels, always `HEADER` bytes long."""
    kinds = {1: "GRAYSCALE", 2: "GRAYSCALE_ALPHA", 3: "RGB", 4: "RGB_ALPHA"}
    start = f"P7\nWIDTH {width}\nHEIGHT {height}\nDEPTH {channels}\nMAXVAL 255\n"
    start += f"TUPLTYPE {kinds[channels]}\n"
    end = "ENDHDR\n"
    comment = "#".ljust(HEADER - len(start) - len(end) - 1)
    return f"{start}{comment}\n{end}".encode()
