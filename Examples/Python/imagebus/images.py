"""Pictures returned by loads."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import imagebus_pb2 as pb
from imagebus.options import Tiers
from imagebus.pixels import Pixels, pixels_of

if TYPE_CHECKING:
    import PIL.Image


@dataclass(eq=False)
class Image:
    """A picture, or its properties. `data` of 1 MiB and more is a view of shared memory: it is
    released by `release()`, at the end of a `with`, or when the image is garbage collected.
    Afterwards, other bytes may appear in views of it."""

    token: bytes  # identifies the load
    data: bytes | memoryview  # the file; empty if only properties were requested
    format: str  # its name in lower case, for example "webp"
    width: int  # pixels
    height: int  # pixels
    pages: int  # or frames; at least 1
    has_alpha: bool
    cache_type: Tiers  # the tier that had it, or the original; `NONE`: it was fetched
    key: str  # of the cache
    timings: dict[str, float]  # milliseconds by stage
    stored: Tiers = Tiers.NONE  # with `Options.WAIT_STORE_CACHE`: the tiers that have it
    give_back: Callable[[], object] = lambda: None

    def release(self) -> None:
        """Releases shared memory; `data` is empty afterwards. May be called from any thread."""
        self.data = b""
        self.give_back()

    def __enter__(self) -> Image:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    @property
    def pixels(self) -> Pixels:
        """The samples of an image in the format "pam", requested by `format="pam"`, without
        copying. Raises `ValueError` for other formats, and after `release()`."""
        if self.format != "pam":
            raise ValueError(f'pixels require format "pam", not {self.format!r}')
        return pixels_of(self)

    def pillow(self) -> PIL.Image.Image:
        """The image as a Pillow image with its own memory, including all frames of an animation.

        Raises `ImportError` if Pillow isn't installed (`pip install 'imagebus[pillow]'`),
        `PIL.UnidentifiedImageError` for a format that this Pillow doesn't read, and `ValueError` if
        there are no bytes."""
        import PIL.Image

        if not self.data:
            raise ValueError("no image data: only facts were requested, or the image was released")
        if self.format == "pam":
            pixels = self.pixels
            return PIL.Image.frombytes(pixels.mode, pixels.size, pixels.data)
        return PIL.Image.open(io.BytesIO(self.data))


def image_from(reply: pb.Reply, data: bytes | memoryview) -> Image:
    """Converts a message. Raises `ValueError` for an unknown format."""
    delivered, info = reply.image, reply.image.info
    return Image(
        token=reply.token,
        data=data,
        format=pb.ImageFormat.Name(info.format).removeprefix("IMAGE_FORMAT_").lower(),
        width=info.width,
        height=info.height,
        pages=info.pages,
        has_alpha=info.has_alpha,
        cache_type=Tiers(delivered.cache_type),
        key=delivered.key,
        timings={stage.name: value for stage, value in reply.timings.ListFields()},
        stored=Tiers(delivered.stored_tiers),
    )
