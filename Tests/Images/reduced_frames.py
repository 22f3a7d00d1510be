"""Frames reduced by Pillow, an independent scaler.

    reduced_frames.py RAW WIDTH HEIGHT TO_WIDTH TO_HEIGHT    read the frames in RAW, RGBA with
                                                             straight alpha, and write them to
                                                             standard output, each resampled with
                                                             Lanczos 3 and premultiplied colors
"""

import sys

from PIL import Image


def frames(raw, size):
    count = 4 * size[0] * size[1]
    for start in range(0, len(raw), count):
        yield Image.frombytes("RGBA", size, raw[start:start + count])


if __name__ == "__main__":
    width, height, to_width, to_height = map(int, sys.argv[2:])
    with open(sys.argv[1], "rb") as file:
        raw = file.read()
    for frame in frames(raw, (width, height)):
        reduced = frame.convert("RGBa").resize((to_width, to_height), Image.Resampling.LANCZOS)
        sys.stdout.buffer.write(reduced.convert("RGBA").tobytes())
