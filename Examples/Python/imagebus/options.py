"""Further options of a load: SDWebImage's options, and the tiers of the cache."""

from __future__ import annotations

from enum import IntFlag


class Tiers(IntFlag):
    """Where a cache keeps images."""

    NONE = 0
    DISK = 1
    MEMORY = 2
    ALL = 3


class Options(IntFlag):
    """Options that change the behavior of a load, with SDWebImage's numbers (PROTOCOL §8.5)."""

    RETRY_FAILED = 1 << 0  # query the origin although this URL failed before
    LOW_PRIORITY = 1 << 1
    PROGRESSIVE_LOAD = 1 << 2  # set by `events(…)` if previews are requested
    REFRESH_CACHED = 1 << 3  # ask the origin whether the cached image is still valid
    CONTINUE_IN_BACKGROUND = 1 << 4  # continue and store the result after a disconnect
    HIGH_PRIORITY = 1 << 7
    TRANSFORM_ANIMATED_IMAGE = 1 << 9  # all frames of an animation
    SCALE_DOWN_LARGE_IMAGES = 1 << 11
    FROM_CACHE_ONLY = 1 << 15  # `CacheMiss` if no cache has it
    FROM_LOADER_ONLY = 1 << 16  # query no cache; the result is stored all the same
    DECODE_FIRST_FRAME_ONLY = 1 << 19
    MATCH_ANIMATED_IMAGE_CLASS = 1 << 21  # `BadImageData` if the image isn't animated
    WAIT_STORE_CACHE = 1 << 22  # finish when the caches have it
    RESPECT_CACHE_CONTROL = 1 << 31  # honor the freshness stated by the origin
