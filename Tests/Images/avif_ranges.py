"""AVIF files that readers have misinterpreted.

    avif_ranges.py KIND FILE RAW    write FILE, and its displayed RGBA to RAW; print width and
                                    height. KIND: grey, limited range without chroma; alpha,
                                    limited range of alpha; grid, tiles in another order than in
                                    the file
"""

import os
import subprocess
import sys
import tempfile

from PIL import Image

SIZE = (256, 256)


def encode(image, file, *options):
    """Encodes with little or no loss."""
    with tempfile.TemporaryDirectory() as folder:
        png = os.path.join(folder, "a.png")
        image.save(png)
        subprocess.run(["avifenc", "-s", "8", *options, png, file], check=True,
                       capture_output=True)


def ramp():
    """All shades, each in a column of eight or more pixels."""
    image = Image.new("L", SIZE)
    image.putdata([x // 8 * 8 + y // 128 * 7 for y in range(SIZE[1]) for x in range(SIZE[0])])
    return image


def grey(file):
    shown = ramp()
    encode(shown, file, "-y", "400", "-r", "limited", "--min", "0", "--max", "0")
    return shown.convert("RGBA")


def bits_of(data):
    return [byte >> bit & 1 for byte in data for bit in reversed(range(8))]


def range_place(header):
    """The bit `color_range` in the sequence header of a still picture without chroma (AV1 Bitstream
    & Decoding Process Specification, 5.5), or None."""
    bits = bits_of(header)
    if bits[3:5] != [1, 1]:
        return None
    width, height = (int("".join(map(str, bits[at:at + 4])), 2) + 1 for at in (10, 14))
    # Six tools, the depth; then without chroma, and without a color description.
    place = 18 + width + height + 7
    return place + 2 if bits[place:place + 2] == [1, 0] else None


def alpha(file):
    """avifenc writes full range: its bit is cleared, and the samples stay."""
    stored = ramp()
    image = Image.merge("RGBA", [Image.new("L", SIZE, shade) for shade in (200, 40, 90)] + [stored])
    encode(image, file, "--lossless")
    data = bytearray(open(file, "rb").read())
    places = [at for at in range(len(data) - 3) if data[at:at + 3] == b"\x12\0\x0A"]
    for at in places:
        place = range_place(data[at + 4:at + 4 + data[at + 3]])
        if place is not None:
            data[at + 4 + place // 8] &= ~(0x80 >> place % 8)
            open(file, "wb").write(data)
            shown = stored.point(lambda a: min(255, max(0, round((a - 16) * 255 / 219))))
            image.putalpha(shown)
            return image
    sys.exit("there is no alpha in the file")


def grid(file):
    """Four tiles one below the other, listed in reverse order by the grid."""
    image = Image.merge("RGB", [ramp(), ramp().rotate(90), ramp().rotate(180)])
    encode(image, file, "--lossless", "--grid", "1x4")
    data = bytearray(open(file, "rb").read())
    start = data.index(b"dimg") + 8
    items = [data[start + 2 * index:start + 2 * index + 2] for index in range(4)]
    data[start:start + 8] = b"".join(reversed(items))
    open(file, "wb").write(data)
    shown = Image.new("RGB", SIZE)
    for index in range(4):
        shown.paste(image.crop((0, 64 * index, 256, 64 * index + 64)), (0, 192 - 64 * index))
    return shown.convert("RGBA")


if __name__ == "__main__":
    shown = {"grey": grey, "alpha": alpha, "grid": grid}[sys.argv[1]](sys.argv[2])
    open(sys.argv[3], "wb").write(shown.tobytes())
    print(*shown.size)
