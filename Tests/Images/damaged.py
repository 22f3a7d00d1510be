"""Slightly damaged files, and what Pillow reads from them.

    damaged.py KIND FILE RAW    write FILE, and the RGB of the whole picture to RAW; print its
                                width, height, and the number of rows that Pillow reads from FILE
                                as they were. KIND: jpeg and png, cut off; png-sum, with a wrong
                                checksum of the pixels; jpeg-end and gif-end, without the end marker
"""

import io
import random
import sys

from PIL import Image, ImageFile

SIZE = (160, 128)


def picture():
    """Blocks of colors with a texture, so that each row takes some bytes."""
    chance = random.Random(11)
    image = Image.new("RGB", SIZE)
    for y in range(0, SIZE[1], 8):
        for x in range(0, SIZE[0], 8):
            image.paste(tuple(chance.randrange(240) for _ in range(3)), (x, y, x + 8, y + 8))
    image.putdata([tuple(band + chance.randrange(16) for band in pixel)
                   for pixel in image.getdata()])
    return image


def encoded(image, form, **options):
    file = io.BytesIO()
    image.save(file, form, **options)
    return bytearray(file.getvalue())


def with_wrong_sum(png):
    """Changes the checksum of the only IDAT chunk."""
    name = png.index(b"IDAT")
    png[name + 4 + int.from_bytes(png[name - 4:name], "big")] ^= 1
    return png


def files(kind):
    """The whole file and the damaged one."""
    form = kind.split("-")[0]
    # Chroma isn't subsampled, since readers upsample it differently.
    options = {"jpeg": {"quality": 95, "subsampling": 0}}.get(form, {})
    image = picture().quantize(64, dither=0) if form == "gif" else picture()
    whole = encoded(image, form, **options)
    if kind == "png-sum":
        return whole, with_wrong_sum(bytearray(whole))
    return whole, whole[:{"jpeg-end": -2, "gif-end": -1}.get(kind, len(whole) * 6 // 10)]


def rows(data):
    """The rows that Pillow reads, each as RGB."""
    image = Image.open(io.BytesIO(data)).convert("RGB")
    raw = image.tobytes()
    return [raw[start:start + 3 * SIZE[0]] for start in range(0, len(raw), 3 * SIZE[0])]


if __name__ == "__main__":
    ImageFile.LOAD_TRUNCATED_IMAGES = True
    whole, damaged = files(sys.argv[1])
    wanted, found = rows(whole), rows(damaged)
    same = next((row for row in range(SIZE[1]) if wanted[row] != found[row]), SIZE[1])
    with open(sys.argv[2], "wb") as file:
        file.write(damaged)
    with open(sys.argv[3], "wb") as file:
        file.write(b"".join(wanted))
    print(*SIZE, same)
