"""Creates animations for scripts/bench and inspects its results.

    animation.py make FILE FRAMES WIDTH HEIGHT PHOTO   create a GIF or WebP that pans over PHOTO
    animation.py tell FILE ORIGINAL                    print a JSON object: bytes, frames, and
                                                       whether durations and loops equal ORIGINAL's
"""

import json
import os
import sys

from PIL import Image

# Uneven, so that a reader that makes them uniform is detected.
DURATIONS = (40, 50, 60, 80, 120)
LOOPS = 3


def make(path, count, width, height, photo):
    wide = Image.open(photo).convert("RGB").resize((width + 2 * count, height + count))
    frames = [wide.crop((2 * index, index, 2 * index + width, index + height))
              for index in range(count)]
    durations = [DURATIONS[index % len(DURATIONS)] for index in range(count)]
    told = {"save_all": True, "append_images": frames[1:], "duration": durations, "loop": LOOPS}
    if path.endswith(".webp"):
        told |= {"quality": 80, "method": 2}
    else:
        frames = [frame.quantize(255, dither=Image.Dither.NONE) for frame in frames]
        told["append_images"] = frames[1:]
    frames[0].save(path, **told)


def facts(path):
    image = Image.open(path)
    durations = []
    for index in range(getattr(image, "n_frames", 1)):
        image.seek(index)
        image.load()
        durations.append(image.info.get("duration", 0))
    return durations, image.info.get("loop"), image.format, image.size


def tell(path, original):
    (durations, loops, kind, size), (wanted, wanted_loops, _, _) = facts(path), facts(original)
    print(json.dumps({
        "bytes": os.path.getsize(path), "format": kind, "size": "%dx%d" % size,
        "frames": len(durations), "durations_kept": durations == wanted,
        "loops_kept": loops == wanted_loops, "seconds": sum(durations) / 1e3}))


if sys.argv[1] == "make":
    make(sys.argv[2], *map(int, sys.argv[3:6]), sys.argv[6])
else:
    tell(*sys.argv[2:4])
