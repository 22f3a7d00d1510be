"""Compares what two readers made of the same file.

Two correct decoders don't necessarily produce the same bytes. The permitted difference depends on
the file:

- `EXACT`, for PNG, GIF, BMP, ICO and lossless TIFF without a color profile: every sample within 2.
  Readers round 16 bits to 8 differently, and colors with partial alpha are rounded once more.
- `LOSSY`, for all other pixel formats: decoders upsample subsampled chroma differently, and round
  DCT, YCbCr and profiles differently. That changes single pixels at edges a lot, but hardly the
  mean of an area: the means of blocks of 8x8 pixels must be within 8, and the mean absolute
  difference of a channel within 3.
- `DRAWN`, for SVG and PDF: renderers antialias edges and position glyphs differently. Icons of
  16x16 pixels are mostly edges, so the mean must be within 8; blocks must be within 40, which
  glyphs reach and a wrong color exceeds.

Colors are compared premultiplied by alpha: transparent pixels have no color.
"""

from __future__ import annotations

from dataclasses import dataclass

from PIL import Image, ImageChops, ImageStat
from picture import BLOCK, EXACT, Picture, Tolerance

CHANNELS = "red", "green", "blue", "alpha"


@dataclass(frozen=True)
class Difference:
    """`reason` is size, frames, orientation, pixels, alpha, or last frame."""

    reason: str
    detail: str

    def __str__(self) -> str:
        return f"{self.reason}: {self.detail}"


def compare(ours: Picture, reference: Picture) -> Difference | None:
    """The most significant difference, or None if the images agree."""
    found = difference(ours.image, reference.image, reference.tolerance)
    if found:
        return found
    if ours.frames is not None and reference.frames not in (None, ours.frames):
        return Difference("frames", f"{ours.frames} instead of {reference.frames}")
    if ours.last and reference.last:
        last = difference(ours.last, reference.last, reference.tolerance)
        return last and Difference("last frame", str(last))
    return None


def difference(
    ours: Image.Image, reference: Image.Image, tolerance: Tolerance
) -> Difference | None:
    """Compares two images of one frame."""
    if ours.size == reference.size:
        found = sample_difference(ours, reference, tolerance)
    else:
        sizes = "{}x{} instead of {}x{}".format(*ours.size, *reference.size)
        found = Difference("size", sizes)
    if found and (turn := orientation(ours, reference, tolerance)):
        return Difference("orientation", turn)
    return found


def sample_difference(
    ours: Image.Image, reference: Image.Image, tolerance: Tolerance
) -> Difference | None:
    """Compares images of the same size: alpha first, since it affects the colors."""
    pairs = list(zip(CHANNELS, premultiplied(ours), premultiplied(reference)))
    found = {name: excess(mine, other, tolerance) for name, mine, other in pairs}
    wrong = {name: amounts for name, amounts in found.items() if amounts}
    if not wrong:
        return None
    if "alpha" in wrong:
        wrong = {"alpha": wrong["alpha"]}
    mean, worst = (max(amounts) for amounts in zip(*wrong.values()))
    where = "in a sample" if tolerance == EXACT else f"in {BLOCK}x{BLOCK} pixels"
    text = f"{', '.join(wrong)} by {mean:.1f} on average, by up to {worst} {where}"
    return Difference("alpha" if "alpha" in wrong else "pixels", text)


def premultiplied(image: Image.Image) -> list[Image.Image]:
    """Red, green and blue, each multiplied by alpha, and alpha."""
    *colors, alpha = image.split()
    if alpha.getextrema() == (255, 255):
        return [*colors, alpha]
    return [*(ImageChops.multiply(color, alpha) for color in colors), alpha]


def excess(
    ours: Image.Image, reference: Image.Image, tolerance: Tolerance
) -> tuple[float, int] | None:
    """The mean and the largest difference of a channel that exceeds the tolerance, otherwise
    None.
    """
    samples = ImageChops.difference(ours, reference)
    mean, worst = ImageStat.Stat(samples).mean[0], samples.getextrema()[1]
    if worst <= tolerance.sample:
        return None
    if tolerance == EXACT:
        return mean, worst
    block = ImageChops.difference(blocks(ours), blocks(reference)).getextrema()[1]
    is_inside = mean <= tolerance.mean and block <= tolerance.block
    return None if is_inside else (mean, block)


def blocks(image: Image.Image) -> Image.Image:
    """The means of whole blocks; of the whole side if it is shorter than a block."""
    width, height = (side - side % BLOCK or side for side in image.size)
    return image.crop((0, 0, width, height)).reduce(BLOCK)


def orientation(ours: Image.Image, reference: Image.Image, tolerance: Tolerance) -> str | None:
    """The rotation or reflection that turns ours into the reference."""
    if sorted(ours.size) != sorted(reference.size):
        return None
    for turn in Image.Transpose:
        image = ours.transpose(turn)
        if image.size == reference.size and not sample_difference(image, reference, tolerance):
            return f"as the reference after {turn.name.lower()}"
    return None
