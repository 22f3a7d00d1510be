"""Reads image files with Pillow, which shares no code with Imagebus."""

from __future__ import annotations

import io
import warnings
from pathlib import Path

import pillow_heif
import pillow_jxl  # noqa: F401  (registers JPEG XL)
from PIL import Image, ImageCms, ImageFile, ImageOps
from picture import EXACT, LOSSY, Picture, Refused, eight_bits

ANIMATED = "GIF", "PNG", "WEBP", "AVIF"
#: Compressions of TIFF: uncompressed, Deflate, LZW, PackBits, fax, Zstandard, LZMA.
EXACT_COMPRESSIONS = (
    "raw", "tiff_adobe_deflate", "tiff_deflate", "tiff_lzw", "packbits", "group3", "group4",
    "tiff_ccitt", "zstd", "lzma",
)  # fmt: skip
#: Color spaces of profiles by the image modes that they match.
PROFILE_SPACES = {"RGB": "RGB ", "L": "GRAY", "CMYK": "CMYK", "LAB": "Lab "}
SRGB = ImageCms.createProfile("sRGB")

pillow_heif.register_heif_opener()


def read(path: Path, pixel_limit: int) -> Picture:
    """Reads intact files strictly, and damaged ones like a lenient viewer."""
    Image.MAX_IMAGE_PIXELS = None
    warnings.simplefilter("ignore")
    try:
        return _read(path, pixel_limit)
    except (OSError, SyntaxError, ValueError, EOFError, IndexError) as strict:
        ImageFile.LOAD_TRUNCATED_IMAGES = True
        try:
            picture = _read(path, pixel_limit)
        except Refused:
            raise
        except Exception:
            raise Refused(_name(strict), str(strict)) from None
        return Picture(picture.image, picture.frames, picture.last, is_damaged=True)
    except Refused:
        raise
    except Exception as error:  # decoders raise arbitrary exceptions for unusual files
        raise Refused(_name(error), str(error)) from None


def _name(error: Exception) -> str:
    return type(error).__name__


def _read(path: Path, pixel_limit: int) -> Picture:
    with Image.open(path) as file:
        if file.width * file.height > pixel_limit:
            raise Refused("too large to compare", f"{file.width}x{file.height}")
        tolerance = EXACT if _is_exact(file) else LOSSY
        image = upright(file)
        frames, last = None, None
        if file.format in ANIMATED:
            # Pillow counts a default image of an APNG that isn't a frame.
            default = int(bool(file.info.get("default_image")))
            count = getattr(file, "n_frames", 1)
            frames = count - default
            if frames > 1:
                file.seek(count - 1)
                last = upright(file)
        return Picture(image, frames, last, tolerance)


def _is_exact(file: Image.Image) -> bool:
    if file.info.get("icc_profile") or file.mode in ("CMYK", "YCbCr", "LAB"):
        return False
    if file.format == "TIFF":
        return file.info.get("compression") in EXACT_COMPRESSIONS
    return file.format in ("PNG", "GIF", "BMP", "ICO", "CUR", "DIB")


def upright(file: Image.Image) -> Image.Image:
    """The current frame as displayed: sRGB, with its orientation applied."""
    image = in_srgb(eight_bits(file), file.info.get("icc_profile"))
    turned = file.getexif().get(0x0112, 1)
    if turned in range(2, 9):
        image.getexif()[0x0112] = turned
        image = ImageOps.exif_transpose(image)
    return image.convert("RGBA")


def in_srgb(image: Image.Image, profile: bytes | None) -> Image.Image:
    """Converts with the profile if it matches the image's color space."""
    if image.mode in ("1", "P", "PA", "RGBX", "RGBa", "La", "YCbCr", "HSV"):
        has_alpha = "transparency" in image.info or image.mode in ("PA", "RGBa", "La")
        image = image.convert("RGBA" if has_alpha else "RGB")
    if not profile:
        return image.convert("RGBA")
    alpha = image.getchannel("A") if image.mode in ("RGBA", "LA") else None
    colors = image.convert(image.mode.removesuffix("A")) if alpha else image
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        if source.profile.xcolor_space != PROFILE_SPACES.get(colors.mode):
            return image.convert("RGBA")
        colors = ImageCms.profileToProfile(
            colors, source, SRGB, ImageCms.Intent.RELATIVE_COLORIMETRIC, outputMode="RGB"
        )
    except (ImageCms.PyCMSError, OSError):
        return image.convert("RGBA")  # an unusable profile is ignored
    if alpha:
        colors.putalpha(alpha)
    return colors
