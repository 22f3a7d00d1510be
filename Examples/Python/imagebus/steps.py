"""Processing of a picture: steps, in the order in which they run, and the output format."""

from __future__ import annotations

import math
from collections.abc import Mapping

import imagebus_pb2 as pb
from imagebus.options import Options, Tiers

Step = pb.Step  # at most 32 in a request


def resize(width: int, height: int, mode: str = "fit") -> Step:
    """Resizes to a box of pixels; `mode` is stretch, letterbox, fill, fit, cover, auto, fit_turned,
    cover_turned or reshape."""
    box = pb.Size(width=width, height=height)
    return pb.Step(resize=pb.Resize(box=box, mode=f"RESIZE_MODE_{mode.upper()}"))


def crop(x: int, y: int, width: int, height: int) -> Step:
    """Crops to `width` × `height` pixels with the upper left corner at (`x`, `y`)."""
    return pb.Step(crop=pb.Rect(x=x, y=y, size=pb.Size(width=width, height=height)))


def rotate(degrees: float, fits_size: bool = True) -> Step:
    """Rotates counterclockwise; `fits_size` enlarges the canvas to include the corners."""
    return pb.Step(rotate=pb.Rotate(radians=math.radians(degrees), fits_size=fits_size))


def flip(horizontal: bool = False, vertical: bool = False) -> Step:
    """Flips left to right, top to bottom, or both."""
    return pb.Step(flip=pb.Flip(horizontal=horizontal, vertical=vertical))


def custom(name: str, **parameters: str) -> Step:
    """A step implemented by a plug-in of the operator: `VENDOR.STEP`, with its parameters."""
    details = [pb.Detail(name=key, value=value) for key, value in parameters.items()]
    return pb.Step(named=pb.NamedStep(name=name, parameters=details))


def request_for(
    steps: tuple[Step, ...],
    format: str | None,
    quality: int | None,
    info_only: bool,
    headers: Mapping[str, str] | None = None,
    options: Options = Options(0),
    query: Tiers | None = None,
    store: Tiers | None = None,
) -> pb.ImageRequest:
    """Builds a request. Raises `ValueError` for an unknown format."""
    image = pb.ImageRequest(steps=steps, info_only=info_only, options=options)
    if query is not None:
        image.query_cache_types = image.original_query_cache_types = query
    if store is not None:
        image.store_cache_types = image.original_store_cache_types = store
    if format is not None:
        image.output.format = pb.ImageFormat.Value(f"IMAGE_FORMAT_{format.upper()}")
    if quality is not None:
        image.output.quality = quality
    image.headers.extend(pb.Header(name=n, value=v) for n, v in (headers or {}).items())
    return image
