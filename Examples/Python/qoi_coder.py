"""Decodes QOI (https://qoiformat.org), which Imagebus recognizes but doesn't decode itself.

    python qoi_coder.py --runtime-dir /run/imagebus --pool qoi
"""

from __future__ import annotations

import struct

from imagebus_worker import Coder, Header, Report, run

HEAD = struct.Struct(">4sIIBB")
END = bytes(7) + b"\1"
LOOKS = 65_536  # pixels between two checks for a cancel


class QOI(Coder):
    """Decodes images of the Quite OK Image Format."""

    format = "qoi"

    def header(self, data: memoryview) -> Header:
        if len(data) < HEAD.size + len(END):
            raise ValueError("it is too short")
        magic, width, height, channels, space = HEAD.unpack_from(data)
        if magic != b"qoif" or channels not in (3, 4) or space > 1:
            raise ValueError("its header is none of QOI")
        return Header(width, height, channels)

    def pixels(self, data: memoryview, header: Header, report: Report) -> bytearray:
        body = data[HEAD.size : len(data) - len(END)]
        count, bands = header.width * header.height, header.bands
        if count > 62 * len(body):  # one byte encodes a run of at most 62
            raise ValueError("it ends early")
        seen = [(0, 0, 0, 0)] * 64
        pixel = (0, 0, 0, 255)
        made, place = bytearray(), 0
        until = LOOKS * bands
        while len(made) < count * bands:
            if len(made) >= until:
                report.check()
                until += LOOKS * bands
            tag, run_length = body[place], 1
            place += 1
            if tag >= 0xFE:
                length = 3 if tag == 0xFE else 4
                values = tuple(body[place : place + length])
                if len(values) < length:
                    raise ValueError("it ends early")
                pixel = values if length == 4 else (*values, pixel[3])
                place += length
            elif tag < 0x40:
                pixel = seen[tag]
            elif tag < 0x80:
                steps = (tag >> 4 & 3) - 2, (tag >> 2 & 3) - 2, (tag & 3) - 2
                pixel = (*((value + step) & 255 for value, step in zip(pixel, steps)), pixel[3])
            elif tag < 0xC0:
                green, second = (tag & 63) - 32, body[place]
                place += 1
                steps = green - 8 + (second >> 4), green, green - 8 + (second & 15)
                pixel = (*((value + step) & 255 for value, step in zip(pixel, steps)), pixel[3])
            else:
                run_length = (tag & 63) + 1
            red, green, blue, alpha = pixel
            seen[(red * 3 + green * 5 + blue * 7 + alpha * 11) % 64] = pixel
            made += bytes(pixel[:bands]) * run_length
        if len(made) != count * bands:
            raise ValueError("it has too many pixels")
        return made


if __name__ == "__main__":
    run(QOI())
