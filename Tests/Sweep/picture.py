"""The result of a reader for an image file."""

from __future__ import annotations

from dataclasses import dataclass

from PIL import Image


class Refused(Exception):
    """A reader shows nothing of a file. `reason` is short and names the error."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason, detail)
        self.reason, self.detail = reason, detail


@dataclass(frozen=True)
class Tolerance:
    """The permitted difference between channels of two correct images: in any sample; or on average
    and in the means of whole blocks of `BLOCK`x`BLOCK` pixels. `compare.py` gives the reasons.
    """

    sample: int
    mean: float = 0
    block: int = 0


BLOCK = 8
EXACT = Tolerance(2)
LOSSY = Tolerance(2, mean=3, block=8)
DRAWN = Tolerance(2, mean=8, block=40)


@dataclass(frozen=True)
class Picture:
    """The first image of a file: RGBA with straight alpha, sRGB, as displayed."""

    image: Image.Image
    #: The number of frames of an animation, 1 for a still; None if the reader doesn't count them.
    frames: int | None = None
    #: The last frame of an animation.
    last: Image.Image | None = None
    tolerance: Tolerance = LOSSY
    #: Whether the reader complained and showed as much as it could.
    is_damaged: bool = False

    def describe(self) -> str:
        """The size, the mean of each channel, and the pixels at 10, 30 and 80 % of both sides."""
        width, height = self.image.size
        means = []
        for band in self.image.split():
            histogram = band.histogram()
            total = sum(value * count for value, count in enumerate(histogram))
            means.append(f"{total / (width * height) + 1e-6:.1f}")  # half is rounded up
        pixels = [
            self.image.getpixel((width * part // 10, height * part // 10)) for part in (1, 3, 8)
        ]
        samples = "".join(f"[{' '.join(map(str, pixel))}]" for pixel in pixels)
        return f"{width}x{height} {','.join(means)} {samples}"


def read_pam(data: bytes) -> Image.Image:
    """Parses Netpbm's PAM with 8 bits per sample."""
    end = data.index(b"ENDHDR\n")
    lines = [line.split() for line in data[:end].splitlines()]
    fields = {words[0]: words[1] for words in lines if len(words) == 2}
    size = int(fields[b"WIDTH"]), int(fields[b"HEIGHT"])
    mode = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}[int(fields[b"DEPTH"])]
    return Image.frombytes(mode, size, data[end + 7 :]).convert("RGBA")


def eight_bits(image: Image.Image) -> Image.Image:
    """Converts 16-bit gray to 8 bits; other images are unchanged."""
    if image.mode.startswith("I"):
        return image.convert("I").point(lambda value: value * (1 / 257) + 0.5).convert("L")
    return image
