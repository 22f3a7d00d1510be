"""A client of Imagebus, written from Proto/PROTOCOL.md.

    from imagebus import Client, resize

    with Client() as client:
        image = client.load(url, resize(256, 256), format="webp", quality=75)

`imagebus.aio` provides the same for asyncio.
"""

from imagebus import aio, errors
from imagebus.aio import new_token
from imagebus.blocking import Client, Operator
from imagebus.errors import ImagebusError
from imagebus.events import Cached, Event, Loaded, Preview, Progress
from imagebus.images import Image
from imagebus.options import Options, Tiers
from imagebus.pixels import Pixels
from imagebus.prefetch import PrefetchReport
from imagebus.steps import Step, crop, custom, flip, resize, rotate

__all__ = [
    "Cached", "Client", "Event", "Image", "ImagebusError", "Loaded", "Operator", "Options",
    "Pixels", "PrefetchReport", "Preview", "Progress", "Step", "Tiers", "aio", "crop", "custom",
    "errors", "flip", "new_token", "resize", "rotate",
]  # fmt: skip
