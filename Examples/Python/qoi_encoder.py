"""Encodes QOI (https://qoiformat.org), which Imagebus recognizes but doesn't encode itself.

    python qoi_encoder.py --runtime-dir /run/imagebus --pool qoi-out
"""

from __future__ import annotations

import struct

from imagebus import Pixels
from imagebus_worker import Encoder, Report, run

HEAD = struct.Struct(">4sIIBB")
END = bytes(7) + b"\1"
LOOKS = 65_536  # pixels between two checks for a cancel
RUN_MAX = 62
OPAQUE = (0, 0, 0, 255)


class QOI(Encoder):
    """Encodes images as QOI, which is lossless, so the quality has no effect."""

    format = "qoi"

    def encode(self, pixels: Pixels, quality: int | None, report: Report) -> bytearray:
        channels = 4 if pixels.channels in (2, 4) else 3
        made = bytearray(HEAD.pack(b"qoif", pixels.width, pixels.height, channels, 0))
        seen: list[tuple[int, ...]] = [(0, 0, 0, 0)] * 64
        before, repeats = OPAQUE, 0
        for number, pixel in enumerate(quadruples(pixels)):
            if number % LOOKS == 0:
                report.check()
            if pixel == before:
                repeats += 1
                if repeats == RUN_MAX:
                    made.append(0xC0 | RUN_MAX - 1)
                    repeats = 0
                continue
            if repeats:
                made.append(0xC0 | repeats - 1)
                repeats = 0
            made += chunk(pixel, before, seen)
            before = pixel
        if repeats:
            made.append(0xC0 | repeats - 1)
        return made + END


def quadruples(pixels: Pixels):
    """Red, green, blue and alpha of each pixel."""
    data, channels = pixels.data, pixels.channels
    planes = [data[place::channels] for place in range(channels)]
    opaque = b"\xff" * len(planes[0])
    match channels:
        case 1:
            return zip(planes[0], planes[0], planes[0], opaque)
        case 2:
            return zip(planes[0], planes[0], planes[0], planes[1])
        case 3:
            return zip(*planes, opaque)
        case _:
            return zip(*planes)


def chunk(pixel: tuple[int, ...], before: tuple[int, ...], seen: list[tuple[int, ...]]) -> bytes:
    """A pixel that differs from the previous one."""
    red, green, blue, alpha = pixel
    place = (red * 3 + green * 5 + blue * 7 + alpha * 11) % 64
    if seen[place] == pixel:
        return bytes([place])
    seen[place] = pixel
    if alpha != before[3]:
        return bytes([0xFF, *pixel])
    # Differences wrap around.
    steps = [(new - old + 128) % 256 - 128 for new, old in zip(pixel[:3], before[:3])]
    if all(-2 <= step <= 1 for step in steps):
        return bytes([0x40 | steps[0] + 2 << 4 | steps[1] + 2 << 2 | steps[2] + 2])
    from_green = [step - steps[1] for step in (steps[0], steps[2])]
    if -32 <= steps[1] <= 31 and all(-8 <= step <= 7 for step in from_green):
        return bytes([0x80 | steps[1] + 32, from_green[0] + 8 << 4 | from_green[1] + 8])
    return bytes([0xFE, red, green, blue])


if __name__ == "__main__":
    run(QOI())
