"""What is asked of Imagebus and what comes back, as values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import imagebus_pb2 as pb

# PROTOCOL §9
RETRYABLE = {3001, 3002, 3008, 3009, 3010, 3011, 3012, 3014, 3022, 3023, 3024, 3026}


class ImagebusError(Exception):
    """How a load failed: number and name of PROTOCOL §9, a sentence, and details by name."""

    domain: str | None = None  # of a foreign failure: whose number `number` is
    number: int | None = None

    def __init__(self, code: int, message: str, details: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.details = code, message, dict(details or {})
        known = pb.ErrorCode.Name(code) if code in pb.ErrorCode.values() else "UNKNOWN"
        first, *rest = known.removeprefix("ERROR_CODE_").split("_")
        self.name = first.lower() + "".join(w if w == "URL" else w.capitalize() for w in rest)
        status = int(self.details.get("httpStatus", 0))
        self.retryable = code in RETRYABLE or (code == 2001 and (status == 429 or status >= 500))

    def __str__(self) -> str:
        if self.domain is not None:
            return f"{self.domain} ({self.number}): {self.message}"
        return f"{self.name} ({self.code}): {self.message}"


@dataclass(eq=False)
class Image:
    """A picture, or facts about one. `data` of 1 MiB and more is a view of shared memory: it is
    given back by `release()`, by the end of a `with`, or when nobody holds the image any more."""

    token: bytes
    data: bytes | memoryview
    format: str
    width: int
    height: int
    pages: int
    has_alpha: bool
    cache_type: int  # the tier that had it: 0 none, 1 disk, 2 memory
    key: str
    timings: dict[str, float]  # milliseconds by stage
    give_back: Callable[[], object] = lambda: None

    def release(self) -> None:
        self.data = b""
        self.give_back()

    def __enter__(self) -> Image:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def resize(width: int, height: int, mode: str = "fit") -> pb.Step:
    """Into a box of pixels; `mode` is stretch, letterbox, fill, fit, cover, auto, fit_turned,
    cover_turned or reshape."""
    box = pb.Size(width=width, height=height)
    return pb.Step(resize=pb.Resize(box=box, mode=f"RESIZE_MODE_{mode.upper()}"))


def crop(x: int, y: int, width: int, height: int) -> pb.Step:
    return pb.Step(crop=pb.Rect(x=x, y=y, size=pb.Size(width=width, height=height)))


def rotate(degrees: float, fits_size: bool = True) -> pb.Step:
    """Counter-clockwise; `fits_size` makes room for the corners."""
    return pb.Step(rotate=pb.Rotate(radians=math.radians(degrees), fits_size=fits_size))


def flip(horizontal: bool = False, vertical: bool = False) -> pb.Step:
    return pb.Step(flip=pb.Flip(horizontal=horizontal, vertical=vertical))


def request_for(
    steps: tuple[pb.Step, ...], format: str | None, quality: int | None, info_only: bool
) -> pb.ImageRequest:
    image = pb.ImageRequest(steps=steps, info_only=info_only)
    if format is not None:
        image.output.format = pb.ImageFormat.Value(f"IMAGE_FORMAT_{format.upper()}")
    if quality is not None:
        image.output.quality = quality
    return image


def error_from(error: pb.Error) -> ImagebusError:
    details = {detail.name: detail.value for detail in error.details}
    failure = ImagebusError(error.code, error.message, details)
    if error.code == pb.ERROR_CODE_FOREIGN_FAILURE and error.HasField("foreign"):
        failure.domain, failure.number = error.foreign.domain, error.foreign.code
    return failure


def image_from(reply: pb.Reply, data: bytes | memoryview) -> Image:
    """Raises `ValueError` for a format without a name."""
    delivered, info = reply.image, reply.image.info
    return Image(
        token=reply.token,
        data=data,
        format=pb.ImageFormat.Name(info.format).removeprefix("IMAGE_FORMAT_").lower(),
        width=info.width,
        height=info.height,
        pages=info.pages,
        has_alpha=info.has_alpha,
        cache_type=delivered.cache_type,
        key=delivered.key,
        timings={stage.name: value for stage, value in reply.timings.ListFields()},
    )
