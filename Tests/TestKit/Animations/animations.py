"""Animated files with difficult frames, and the results of other readers for them.

    animations.py make NAME FILE       writes one of FILES
    animations.py frames FILE RAW      the frames as another reader composes them, RGBA, to RAW;
                                       prints width, height, count, plays and milliseconds
"""

import io
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

from PIL import Image, ImageOps

KEEP, CLEAR, RESTORE = 0, 1, 2
REPLACE, OVER = 0, 1
SIZE = (37, 29)
WHOLE = (0, 0) + SIZE


def pixels(seed, area, alphas=(255,)):
    """RGBA with blocks of colors, so that every encoder preserves them."""
    chance = random.Random(seed)
    image = Image.new("RGBA", area[2:])
    for y in range(0, area[3], 4):
        for x in range(0, area[2], 5):
            colour = tuple(chance.randrange(256) for _ in range(3)) + (chance.choice(alphas),)
            image.paste(colour, (x, y, x + 5, y + 4))
    return image


def steps(seed, count, disposals, blends, alphas, even=False):
    """Frames with arbitrary areas: the first one covers the whole canvas, later ones sometimes."""
    chance = random.Random(seed)
    made = []
    for index in range(count):
        area = WHOLE
        if index % 5:
            x, y = chance.randrange(SIZE[0] - 6), chance.randrange(SIZE[1] - 6)
            if even:
                x, y = x // 2 * 2, y // 2 * 2
            width, height = SIZE[0] - x, SIZE[1] - y
            area = (x, y, chance.randrange(1, width + 1), chance.randrange(1, height + 1))
        made.append((area, chance.choice(disposals), chance.choice(blends),
                     chance.choice((0, 10, 20, 40, 70, 1000)),
                     pixels(seed * 100 + index, area, alphas)))
    return made


# GIF

def lzw(indices, bits):
    """Codes of one width: a clear code is emitted before the width would grow."""
    clear, codes = 1 << bits, []
    for start in range(0, len(indices), clear - 2):
        codes += [clear] + list(indices[start:start + clear - 2])
    codes.append(clear + 1)
    value = length = 0
    packed = bytearray()
    for code in codes:
        value |= code << length
        length += bits + 1
        while length >= 8:
            packed.append(value & 255)
            value, length = value >> 8, length - 8
    packed.append(value)
    blocks = b"".join(bytes([len(packed[at:at + 255])]) + packed[at:at + 255]
                      for at in range(0, len(packed), 255))
    return bytes([bits]) + blocks + b"\0"


def gif(frames, loops=None, interlaced=False, shared=False, size=SIZE):
    """`loops` None: no loop extension. Index 0 is transparent."""
    table = bytes(range(256)) * 3
    out = b"GIF89a" + struct.pack("<HHBBB", *size, 0xF7 if shared else 0x70, 0, 0)
    if shared:
        out += table
    if loops is not None:
        out += b"!\xFF\x0BNETSCAPE2.0\x03\x01" + struct.pack("<H", loops) + b"\0"
    for area, disposal, _, milliseconds, image in frames:
        samples = list(image.getdata())
        colours = sorted({p[:3] for p in samples if p[3]})
        index = {c: i + 1 for i, c in enumerate(colours)}
        local = b"\0\0\0" + b"".join(bytes(c) for c in colours)
        local += b"\0" * (768 - len(local))
        number = (lambda c: 1 + sum(c) % 255) if shared else index.__getitem__
        seen = [number(p[:3]) if p[3] else 0 for p in samples]
        if interlaced:
            rows = [seen[y * area[2]:(y + 1) * area[2]] for y in range(area[3])]
            order = [y for start, step in ((0, 8), (4, 8), (2, 4), (1, 2))
                     for y in range(start, area[3], step)]
            seen = [value for y in order for value in rows[y]]
        hole = any(p[3] == 0 for p in samples)
        flags = (disposal + 1) << 2 | hole
        out += b"!\xF9\x04" + struct.pack("<BHBB", flags, milliseconds // 10, 0, 0)
        flags = (0 if shared else 0x87) | (0x40 if interlaced else 0)
        out += b"," + struct.pack("<HHHHB", *area, flags)
        out += (b"" if shared else local) + lzw(seen, 8)
    return out + b";"


# APNG

def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png_parts(image):
    """The header, the chunks before the pixels, and the pixels of a still PNG written by Pillow."""
    file = io.BytesIO()
    image.save(file, "PNG")
    data, at, before, body = file.getvalue(), 8, b"", b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        content = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            header = content
        elif kind == b"IDAT":
            body += content
        elif kind != b"IEND":
            before += data[at:at + 12 + length]
        at += 12 + length
    return header, before, body


def apng(frames, loops=0, hidden=None):
    """`hidden`: a default image that isn't a frame."""
    header, before, _ = png_parts(frames[0][4])
    header = struct.pack(">II", *SIZE) + header[8:]
    out = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
    out += chunk(b"acTL", struct.pack(">II", len(frames), loops)) + before
    number = 0
    if hidden:
        out += chunk(b"IDAT", png_parts(hidden)[2])
    for index, (area, disposal, blend, milliseconds, image) in enumerate(frames):
        x, y, width, height = area
        out += chunk(b"fcTL", struct.pack(
            ">IIIIIHHBB", number, width, height, x, y, milliseconds, 1000, disposal, blend))
        number += 1
        body = png_parts(image)[2]
        if index == 0 and not hidden:
            out += chunk(b"IDAT", body[:20]) + chunk(b"IDAT", body[20:])
            continue
        for at in range(0, len(body), 50):
            out += chunk(b"fdAT", struct.pack(">I", number) + body[at:at + 50])
            number += 1
    return out + chunk(b"IEND", b"")


# WebP

def webp(frames, loops=0, **options):
    body = b"VP8X" + struct.pack("<IB3x", 10, 0x12) + le3(SIZE[0] - 1) + le3(SIZE[1] - 1)
    body += b"ANIM" + struct.pack("<IIH", 6, 0xFF8040C0, loops)
    for area, disposal, blend, milliseconds, image in frames:
        file = io.BytesIO()
        image.save(file, "WEBP", **options)
        data = file.getvalue()[12:]
        if data[:4] == b"VP8X":
            data = data[18:]
        x, y, width, height = area
        frame = le3(x // 2) + le3(y // 2) + le3(width - 1) + le3(height - 1) + le3(milliseconds)
        frame += bytes([(disposal == CLEAR) | (2 if blend == REPLACE else 0)]) + data
        body += b"ANMF" + struct.pack("<I", len(frame)) + frame + b"\0" * (len(frame) % 2)
    return b"RIFF" + struct.pack("<I", len(body) + 4) + b"WEBP" + body


def le3(number):
    return struct.pack("<I", number)[:3]


# AVIF

def avif(seed, count, words, mode="RGB", alphas=(255,), size=SIZE, times=(1, 2, 4, 7, 100)):
    """Frames encoded by avifenc, each shown for some hundredths of a second."""
    with tempfile.TemporaryDirectory() as folder:
        inputs = []
        for index in range(count):
            path = os.path.join(folder, f"{index}.png")
            pixels(seed * 100 + index, (0, 0) + size, alphas).convert(mode).save(path)
            inputs += ["--duration", str(times[index % len(times)]), path]
        made = os.path.join(folder, "made.avif")
        subprocess.run(["avifenc", "-s", "6", "--timescale", "100", *words, *inputs, made],
                       check=True, capture_output=True)
        with open(made, "rb") as file:
            return file.read()


ALL = (KEEP, CLEAR, RESTORE)
BOTH = (REPLACE, OVER)
HOLES = (0, 255, 255)
CLEAN = (255,)

FILES = {
    "kept.gif": lambda: gif(steps(1, 14, (KEEP,), (OVER,), HOLES), loops=0),
    "cleared.gif": lambda: gif(steps(2, 14, (CLEAR,), (OVER,), HOLES), loops=7),
    "restored.gif": lambda: gif(steps(3, 14, (KEEP, RESTORE), (OVER,), HOLES)),
    "mixed-interlaced.gif": lambda: gif(steps(4, 21, ALL, (OVER,), HOLES), 1, interlaced=True),
    # Without transparency ImageMagick clears to a color, unlike browsers.
    "opaque-shared.gif": lambda: gif(
        [(WHOLE, KEEP, OVER, 40, pixels(5, WHOLE))]
        + steps(5, 14, (KEEP, RESTORE), (OVER,), CLEAN)[1:], 65535, shared=True),
    # The first frame covers a part of the screen; that of wide.gif is rejected by libnsgif.
    "bare.gif": lambda: gif(steps(17, 15, ALL, (OVER,), HOLES)[1:], 4),
    "wide.gif": lambda: gif(steps(18, 15, ALL, (OVER,), HOLES)[1:], 4, size=(3000, 40)),
    "mixed.apng": lambda: apng(steps(6, 24, ALL, BOTH, HOLES), 3),
    "half.apng": lambda: apng(steps(7, 24, ALL, (REPLACE,), (0, 60, 128, 255))),
    "half-over-clean.apng": lambda: apng(
        [(WHOLE, KEEP, REPLACE, 30, pixels(8, WHOLE))]
        + steps(8, 12, (KEEP, RESTORE), (OVER,), (0, 60, 128, 255))),
    "hidden-default.apng": lambda: apng(
        steps(9, 8, ALL, BOTH, HOLES), hidden=pixels(10, WHOLE)),
    # Simple frames, as in the encoding test of SDWebImage.
    "five.apng": lambda: apng(
        [(WHOLE, KEEP, REPLACE, 100, pixels(20 + index, WHOLE)) for index in range(5)]),
    "palette.apng": lambda: apng(
        [(area, disposal, blend, time, image.convert("RGB").convert("P", palette=Image.WEB))
         for area, disposal, blend, time, image in steps(11, 12, ALL, BOTH, CLEAN)]),
    "mixed.webp": lambda: webp(
        steps(12, 20, (KEEP, CLEAR), BOTH, HOLES, even=True), 5, lossless=True, exact=True),
    "half-replaced.webp": lambda: webp(
        steps(13, 20, (KEEP, CLEAR), (REPLACE,), (0, 90, 255), even=True), lossless=True,
        exact=True),
    "half-over-clean.webp": lambda: webp(
        [(WHOLE, KEEP, REPLACE, 30, pixels(14, WHOLE))]
        + steps(14, 12, (KEEP,), (OVER,), (0, 60, 128, 255), even=True), lossless=True,
        exact=True),
    "hundred.webp": lambda: webp(
        steps(16, 100, (KEEP, CLEAR), BOTH, HOLES, even=True), lossless=True, exact=True),
    "lossy.webp": lambda: webp(
        steps(15, 10, (KEEP, CLEAR), (REPLACE,), CLEAN, even=True), quality=80),
    # One independent frame, and two of three.
    "lossless.avif": lambda: avif(31, 12, ("--lossless",)),
    "alpha.avif": lambda: avif(32, 12, ("--lossless", "-k", "3"), "RGBA", (0, 60, 128, 255)),
    "lossy.avif": lambda: avif(
        33, 12, ("-y", "420", "-r", "limited", "--cicp", "1/13/1", "--min", "10", "--max", "20")),
    "grey.avif": lambda: avif(34, 12, ("-y", "400"), "L"),
    "deep.avif": lambda: avif(35, 12, ("-d", "10", "-y", "422", "-k", "5"), "RGBA", (90, 255)),
    "turned.avif": lambda: avif(36, 12, ("--lossless", "--irot", "1", "--imir", "0")),
    "cut-turned.avif": lambda: avif(
        37, 12, ("--lossless", "--crop", "2,4,20,16", "--irot", "3", "--imir", "1")),
    # For limits and durations: a hundred frames, each of which depends on the one before.
    "hundred.avif": lambda: avif(38, 100, ("-y", "420"), times=(4,)),
    "two.avif": lambda: avif(39, 2, ("--lossless",), times=(4,)),
}


def gif_frames(path):
    """With ImageMagick: Pillow fills cleared areas with a color."""
    image = Image.open(path)
    times = []
    for index in range(image.n_frames):
        image.seek(index)
        times.append(image.info.get("duration", 0))
    raw = subprocess.run(
        ["convert", path, "-coalesce", "-depth", "8", "rgba:-"], check=True,
        capture_output=True).stdout
    # Pillow returns the number in the file, to which browsers add one; 0 means forever.
    loop = image.info.get("loop")
    plays = 1 if loop is None else loop + 1 if loop else 0
    return image.size, plays, times, raw


def apng_frames(path):
    """With apngdis: Pillow's alpha blending differs from the specification."""
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "f.png")
        shutil.copy(path, name)
        subprocess.run(["apngdis", name, "made"], check=True, capture_output=True)
        files = [file[:-4] for file in os.listdir(folder) if file.startswith("made")]
        made = {int(file[4:]): file for file in files}
        times, raw = [], b""
        # 0 is a default image that isn't a frame.
        for number in sorted(set(made) - {0}):
            raw += Image.open(os.path.join(folder, made[number] + ".png")).convert("RGBA").tobytes()
            said = open(os.path.join(folder, made[number] + ".txt")).read().strip()
            part, whole = said.removeprefix("delay=").split("/")
            times.append(1000 * int(part) / int(whole))
    image = Image.open(path)
    return image.size, image.info.get("loop", 0), times, raw


def webp_frames(path):
    """With libwebp's own composition."""
    image = Image.open(path)
    times, raw = [], b""
    for index in range(image.n_frames):
        image.seek(index)
        raw += image.convert("RGBA").tobytes()
        times.append(image.info["duration"])
    return image.size, image.info.get("loop", 0), times, raw


def seen(image, said):
    """The displayed image: cropped, rotated, then mirrored."""
    part = re.search(r"crop rect: X: (\d+), Y: (\d+), W: (\d+), H: (\d+)", said)
    if part:
        x, y, width, height = (int(number) for number in part.groups())
        image = image.crop((x, y, x + width, y + height))
    turns = re.search(r"irot \(Rotation\)\s*: (\d)", said)
    if turns:
        image = image.rotate(90 * int(turns.group(1)), expand=True)
    mirror = re.search(r"imir \(Mirror\)\s*: Mode (\d)", said)
    if mirror:
        image = ImageOps.flip(image) if mirror.group(1) == "0" else ImageOps.mirror(image)
    return image


def avif_frames(path):
    """With avifdec, each from the first one on; libavif 0.11 doesn't support loop counts."""
    said = subprocess.run(["avifdec", "--info", path], check=True, capture_output=True).stdout
    said = said.decode()
    scale = int(re.search(r"(\d+) timescales per second", said).group(1))
    times = [1000 * int(time) / scale
             for time in re.findall(r"\[duration [\d.]+ \((\d+) timescales\)\]", said)]
    raw = b""
    # Pillow truncates 16 bits to 8. libyuv, which outputs 8 bits, rounds color coefficients.
    is_exact = re.search(r"Bit Depth\s*: 8\n", said) and not re.search(r"Format\s*: YUV42", said)
    depth = "8" if is_exact else "16"
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "made.png")
        for index in range(len(times)):
            subprocess.run(["avifdec", "-d", depth, "--index", str(index), path, made], check=True,
                           capture_output=True)
            image = seen(Image.open(made).convert("RGBA"), said)
            raw += image.tobytes()
    return image.size, 0, times, raw


def frames(path):
    kind = path.rsplit(".", 1)[1]
    readers = {"gif": gif_frames, "webp": webp_frames, "avif": avif_frames}
    return readers.get(kind, apng_frames)(path)


if __name__ == "__main__":
    if sys.argv[1] == "make":
        open(sys.argv[3], "wb").write(FILES[sys.argv[2]]())
    else:
        size, plays, times, raw = frames(sys.argv[2])
        open(sys.argv[3], "wb").write(raw)
        print(*size, len(times), plays, *[round(time * 1000) for time in times])
