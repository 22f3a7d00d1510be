"""Images whose colors are stored premultiplied by alpha.

    premultiplied.py FILE RAW    write FILE, an .avif or a .jxl, and its displayed RGBA with
                                 straight alpha to RAW; print width and height
"""

import os
import random
import subprocess
import sys
import tempfile

from PIL import Image

SIZE = (48, 32)


def pixels():
    """Blocks of colors, none so transparent that little of the color is left."""
    chance = random.Random(7)
    image = Image.new("RGBA", SIZE)
    for y in range(0, SIZE[1], 8):
        for x in range(0, SIZE[0], 8):
            colour = tuple(chance.randrange(256) for _ in range(3))
            image.paste(colour + (chance.choice((100, 180, 255)),), (x, y, x + 8, y + 8))
    return image


def run(*line):
    return subprocess.run(line, check=True, capture_output=True).stdout.decode()


def avif(image, png, file):
    """Encoded by avifenc, which premultiplies."""
    image.save(png)
    run("avifenc", "-s", "8", "-y", "444", "--min", "0", "--max", "1", "--premultiply", png, file)


def jxl(image, png, file):
    """Encoded by cjxl from premultiplied colors, with a patched header: cjxl 0.7 never
    premultiplies."""
    multiplied = [tuple((band * p[3] + 127) // 255 for band in p[:3]) + p[3:]
                  for p in image.getdata()]
    image = image.copy()
    image.putdata(multiplied)
    image.save(png)
    run("cjxl", "-d", "0", png, file)
    data = open(file, "rb").read()
    for start, end in ((start, end) for start in range(5, 12) for end in (1, 2)):
        made = with_premultiplied_alpha(data, start, start + end)
        if made:
            open(file, "wb").write(made)
            if "alpha_premultiplied: 1" in subprocess.run(
                    ("jxlinfo", "-v", file), capture_output=True).stdout.decode():
                return
    sys.exit("the header of the JPEG XL is another one")


def with_premultiplied_alpha(data, header, longer):
    """The file with the bit `d_alpha` replaced by its expanded form (ISO/IEC 18181-1, D.3.6), if
    the header is `header` bytes long, and then `longer` bytes; else None or an invalid file."""
    bits = [byte >> bit & 1 for byte in data[:header] for bit in range(8)]
    # The signature; 1, five bits of the height, and a ratio; two flags; 8 bits a sample; buffers of
    # 16 bits; one channel.
    place = 16 + 1 + 5 + 3 + 2 + 3 + 1 + 2
    if bits[16] != 1 or bits[22:25] == [0, 0, 0] or bits[25:30] != [0] * 5 or bits[place] != 1:
        sys.exit("the header of the JPEG XL is another one")
    bits[place:place + 1] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    if any(bits[8 * longer:]):
        return None
    bits += [0] * (8 * longer - len(bits))
    made = bytes(sum(bits[8 * i + k] << k for k in range(8)) for i in range(longer))
    return made + data[header:]


if __name__ == "__main__":
    shown = pixels()
    with tempfile.TemporaryDirectory() as folder:
        make = avif if sys.argv[1].endswith(".avif") else jxl
        make(shown, os.path.join(folder, "a.png"), sys.argv[1])
    open(sys.argv[2], "wb").write(shown.tobytes())
    print(*SIZE)
