"""Draws text on pictures: the step examples.watermark, with the parameters text (letters, digits
and some punctuation), opacity (0 to 1, default 0.5) and size (the letter height as a fraction of
the picture's height, default 0.1).

    python watermark_transformer.py --runtime-dir /run/imagebus --pool watermark

Requires Pillow.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import PIL.Image
import PIL.ImageDraw
import PIL.ImageFont

from imagebus import Pixels
from imagebus_worker import Report, Transformer, run

WHITE = (255, 255, 255)
LETTERS_MAX = 512  # maximum letter height in pixels
WIDTH_MAX = 4096  # maximum text width in pixels: the rest is cut off


class Watermark(Transformer):
    """Draws text on pictures, at the bottom right."""

    steps = ("examples.watermark",)

    def transform(
        self, step: str, parameters: Mapping[str, str], pixels: Pixels, report: Report
    ) -> bytes:
        text = parameters.get("text", "draft")
        opacity = number(parameters, "opacity", 0.5)
        letters = min(LETTERS_MAX, round(pixels.height * number(parameters, "size", 0.1)))
        if unknown := parameters.keys() - {"text", "opacity", "size"}:
            raise ValueError(f"there is no parameter {min(unknown)!r}")
        mode = pixels.mode
        picture = PIL.Image.frombuffer(mode, pixels.size, pixels.data, "raw", mode, 0, 1)
        if letters < 1:
            return picture.tobytes()
        report.check()
        mask = mask_of(text, letters, opacity)
        edge = letters // 2
        corner = (picture.width - mask.width - edge, picture.height - mask.height - edge)
        colour = WHITE if "RGB" in mode else 255
        bands = picture.convert("RGB" if "RGB" in mode else "L")
        bands.paste(colour, corner, mask)
        if mode.endswith("A"):
            # Pixels covered by the text become visible, as far as the text is.
            alpha = picture.getchannel("A")
            alpha.paste(255, corner, mask)
            bands.putalpha(alpha)
        return bands.tobytes()


def number(parameters: Mapping[str, str], name: str, usual: float) -> float:
    value = float(parameters.get(name, usual))
    if not 0 <= value <= 1:
        raise ValueError(f"{name} is a number from 0 to 1")
    return value


@lru_cache(maxsize=8)
def mask_of(text: str, height: int, opacity: float) -> PIL.Image.Image:
    """The coverage of each pixel by the text."""
    font = PIL.ImageFont.load_default()
    left, top, right, bottom = font.getbbox(text)
    lines = max(1, bottom - top)
    mask = PIL.Image.new("L", (max(1, min(right - left, WIDTH_MAX * lines // height)), lines))
    PIL.ImageDraw.Draw(mask).text((-left, -top), text, fill=round(255 * opacity), font=font)
    width = max(1, mask.width * height // mask.height)
    return mask.resize((width, height), PIL.Image.Resampling.BILINEAR)


if __name__ == "__main__":
    run(Watermark())
