"""Hostile animated files: their headers state impossible properties.

    hostile.py NAME FILE      writes one of FILES
    hostile.py                prints their names
"""

import io
import struct
import sys
import zlib

from PIL import Image, ImageCms

sys.dont_write_bytecode = True
from animations import FILES as MADE
from animations import SIZE, apng, chunk, gif, le3, pixels, webp

WHOLE = (0, 0) + SIZE
MANY = 100_000


def still(seed, area=WHOLE, milliseconds=40):
    return (area, 0, 0, milliseconds, pixels(seed, area))


def tiny_gif(count, size=(1, 1), tail=b";"):
    """`count` frames of one pixel: 24 bytes each."""
    frame = b"!\xF9\x04\x04\x00\x00\x00\x00" + b",\0\0\0\0\1\0\1\0\0" + b"\x02\x02\x44\x01\0"
    head = b"GIF89a" + struct.pack("<HHBBB", *size, 0xF0, 0, 0) + b"\0\0\0\xFF\xFF\xFF"
    return head + frame * count + tail


def large_profile():
    """4 MiB that define sRGB."""
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    return struct.pack(">I", 4 << 20) + profile[4:].ljust((4 << 20) - 4, b"\0")


def tiny_apng(count, said=None, size=(1, 1), plays=0, profile=b""):
    body = zlib.compress(b"\0\0\0\0\xFF")
    first = zlib.compress((b"\0" + b"\0\0\0\xFF" * size[0]) * size[1]) if size[0] < 999 else body
    out = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", *size, 8, 6, 0, 0, 0))
    if profile:
        out += chunk(b"iCCP", b"large\0\0" + zlib.compress(profile))
    out += chunk(b"acTL", struct.pack(">II", count if said is None else said, plays))
    number, parts = 0, []
    for index in range(count):
        parts.append(chunk(b"fcTL", struct.pack(
            ">IIIIIHHBB", number, *(size if index == 0 else (1, 1)), 0, 0, 0, 100, 0, 0)))
        number += 1
        if index == 0:
            parts.append(chunk(b"IDAT", first))
            continue
        parts.append(chunk(b"fdAT", struct.pack(">I", number) + body))
        number += 1
    return out + b"".join(parts) + chunk(b"IEND", b"")


def tiny_webp(count, size=(1, 1), length=None, area=(0, 0, 1, 1), profile=b""):
    file = io.BytesIO()
    Image.new("RGBA", area[2:], (9, 9, 9, 255)).save(file, "WEBP", lossless=True)
    data = file.getvalue()[12:]
    x, y, width, height = area
    frame = le3(x // 2) + le3(y // 2) + le3(width - 1) + le3(height - 1) + le3(0) + b"\0" + data
    frame = b"ANMF" + struct.pack("<I", len(frame) if length is None else length) + frame
    flags = 0x32 if profile else 0x12
    body = b"VP8X" + struct.pack("<IB3x", 10, flags) + le3(size[0] - 1) + le3(size[1] - 1)
    if profile:
        body += b"ICCP" + struct.pack("<I", len(profile)) + profile
    body += b"ANIM" + struct.pack("<IIH", 6, 0, 0xFFFF) + frame * count
    return b"RIFF" + struct.pack("<I", len(body) + 4) + b"WEBP" + body


def outside(area):
    return [still(1), (area, 0, 0, 40, pixels(2, area))]


def sequence_apng():
    """The sequence numbers of its chunks decrease."""
    file = apng([still(1), still(2), still(3)])
    at = file.rindex(b"fcTL") + 4
    broken = struct.pack(">I", 0) + file[at + 4:at + 26]
    return file[:at] + broken + struct.pack(">I", zlib.crc32(b"fcTL" + broken)) + file[at + 30:]


def avif(*patches):
    """Two frames with changed boxes: (type, bytes after it, new bytes)."""
    file = bytearray(MADE["two.avif"]())
    for kind, place, new in patches:
        at = file.index(kind) + 4 + place
        file[at:at + len(new)] = new
    return bytes(file)


def be(*numbers):
    return struct.pack(f">{len(numbers)}I", *numbers)


def same_sample(count):
    """`count` frames, all with the same bytes except for the first."""
    return [(b"stsz", 4, be(1, count)), (b"stsc", 12, be(count))]


FILES = {
    "many.avif": lambda: avif(*same_sample(MANY)),
    "claims.avif": lambda: avif(*same_sample(0xFFFFFFFF)),
    "table.avif": lambda: avif((b"stsz", 8, be(MANY))),
    "timescale.avif": lambda: avif((b"mdhd", 20, be(0))),
    "durations.avif": lambda: avif((b"stts", 12, be(0xFFFFFFFF)), (b"mdhd", 20, be(1))),
    "moov.avif": lambda: avif((b"moov", -8, be(1)), (b"moov", 0, be(0xFFFFFFFF, 0xFFFFFFFF))),
    "trak.avif": lambda: avif((b"trak", -8, be(1)), (b"trak", 0, be(0xFFFFFFFF, 0xFFFFFFFF))),
    "offset.avif": lambda: avif((b"stco", 8, be(0xFFFFFFF0))),
    "large.avif": lambda: avif((b"av01\0\0\0\0\0\0\0\1", 24, b"\xFF\xFF\xFF\xFF")),
    "payload.avif": lambda: avif((b"mdat", 40, b"\xFF" * 200)),
    # The maximum loop count of their formats.
    "loops.gif": lambda: gif([still(1), still(2)], 65535),
    "loops.apng": lambda: apng([still(1), still(2)], 0xFFFFFFFF),
    "loops.webp": lambda: webp([still(1), still(2)], 65535, lossless=True),
    "many.gif": lambda: tiny_gif(MANY),
    "many.apng": lambda: tiny_apng(MANY),
    "many.webp": lambda: tiny_webp(MANY),
    # Fewer frames on a canvas that makes each of them expensive.
    "dear.gif": lambda: tiny_gif(900, (4000, 4000)),
    "dear.webp": lambda: tiny_webp(900, (4000, 4000)),
    # Each frame needs shared data.
    "profile.apng": lambda: tiny_apng(70, profile=large_profile()),
    "profile.webp": lambda: tiny_webp(70, profile=large_profile()),
    "outside.gif": lambda: gif(outside((SIZE[0] - 3, SIZE[1] - 3, 9, 9))),
    "beyond.gif": lambda: gif(outside((60_000, 60_000, 9, 9))),
    "outside.apng": lambda: apng(outside((SIZE[0] - 3, SIZE[1] - 3, 9, 9))),
    "outside.webp": lambda: webp(outside((SIZE[0] // 2 * 2, SIZE[1] // 2 * 2, 9, 9))),
    "beyond.webp": lambda: tiny_webp(2, (1, 1), area=(0xFFFFFE, 0xFFFFFE, 5, 5)),
    # Within the pixel limit when reduced, but not as full frames.
    "wide.webp": lambda: tiny_webp(1, (14_000, 14_000), area=(0, 0, 8, 8)),
    "wide-moving.webp": lambda: tiny_webp(2, (14_000, 14_000), area=(0, 0, 8, 8)),
    # Identical frames, which encoders merge into one.
    "equal.gif": lambda: tiny_gif(2, (8, 8)),
    "equal.webp": lambda: tiny_webp(2, (8, 8), area=(0, 0, 4, 4)),
    "huge.gif": lambda: tiny_gif(2, (30_000, 30_000)),
    "huge.apng": lambda: tiny_apng(2, size=(30_000, 30_000)),
    "huge.webp": lambda: tiny_webp(2, (30_000, 30_000)),
    # The stated frames differ from the actual ones.
    "claims.apng": lambda: tiny_apng(2, said=0xFFFFFFFF),
    "none.apng": lambda: tiny_apng(2, said=0),
    "sequence.apng": sequence_apng,
    "empty.gif": lambda: tiny_gif(1, tail=b",\0\0\0\0\0\0\0\0\0\x02\x02\x44\x01\0;"),
    "length.webp": lambda: tiny_webp(2, length=0xFFFFFFFE),
    "endless.gif": lambda: tiny_gif(3, tail=b"!\xFF\x0BNETSCAPE2.0" + b"\xFF" * 5_000),
}

if __name__ == "__main__":
    if len(sys.argv) == 1:
        print(*FILES)
    else:
        open(sys.argv[2], "wb").write(FILES[sys.argv[1]]())
