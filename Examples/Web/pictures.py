"""Draws the pictures of the gallery: landscapes by chance, from fixed seeds.

    python3 pictures.py DIRECTORY
"""

from __future__ import annotations

import math
import random
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from PIL import Image, ImageChops, ImageDraw, ImageFilter

Colour = tuple[int, int, int]
SIZE = (1440, 960)
SMALL = (600, 400)

# Title, what is seen, kind, seed, sky above and below, light, and what is near.
STILLS = [
    ("First light", "Ridges in mist below a low sun", "ridges", 3, "#f3b58a", "#fde6c8",
     "#fff3d6", "#3b2c4a"),
    ("Blue hour", "Mountains after sunset under a thin moon", "ridges", 11, "#172a54", "#7f8fc7",
     "#f4f0e0", "#0b1430"),
    ("Low tide", "The sun over a calm sea", "sea", 5, "#f08a5d", "#f9d29d", "#fff1cf", "#23395b"),
    ("Dune field", "Dunes with hard shadows", "dunes", 8, "#8fb8d8", "#f2dcc0", "#fff6e0",
     "#a4572f"),
    ("Polar night", "Green light over snowy hills", "aurora", 21, "#061226", "#123a4a", "#7dffb3",
     "#0a1a26"),
    ("Pine valley", "Green hills, one behind the other", "ridges", 34, "#b9d7d2", "#eef3df",
     "#fffbe8", "#173a33"),
    ("Harvest moon", "A large moon over dark water", "sea", 13, "#141b3c", "#5a4a78", "#ffd9a0",
     "#080c20"),
    ("Salt flat", "Pale dunes at noon", "dunes", 55, "#6fa8d6", "#e8f0f2", "#ffffff", "#b9a8a0"),
    ("Ember ridge", "Red mountains at the end of a day", "ridges", 89, "#5b1f3a", "#f26b3a",
     "#ffd07a", "#1c0b1a"),
    ("Quiet bay", "A pale sun over a green sea", "sea", 2, "#9cc9c1", "#f3ecd2", "#fffdf0",
     "#1f4f55"),
    ("Northern arch", "Violet light in a clear night", "aurora", 42, "#0a0a20", "#2a1d4d",
     "#c08bff", "#0b0a18"),
    ("Red desert", "Dunes in evening light", "dunes", 17, "#d9735a", "#f6c48f", "#fff0c8",
     "#7a2f25"),
    ("Morning fog", "Grey hills that fade away", "ridges", 61, "#c4cbd4", "#eceff1", "#ffffff",
     "#3a4652"),
    ("Storm light", "A bright gap above a dark sea", "sea", 77, "#39424e", "#b9b39a", "#fff7d0",
     "#141a20"),
]  # fmt: skip
ANIMATIONS = [
    ("Lighthouse", "The beam of a lighthouse turns over the sea", "lighthouse"),
    ("Swell", "Waves under a low sun, for ever", "swell"),
]


def colour(text: str) -> Colour:
    return tuple(int(text[place : place + 2], 16) for place in (1, 3, 5))


def mix(a: Colour, b: Colour, part: float) -> Colour:
    return tuple(round(x + (y - x) * part) for x, y in zip(a, b))


def gradient(size: tuple[int, int], top: Colour, bottom: Colour) -> Image.Image:
    mask = Image.linear_gradient("L").resize(size, Image.Resampling.BICUBIC)
    return Image.composite(Image.new("RGB", size, bottom), Image.new("RGB", size, top), mask)


def glow(image: Image.Image, centre: tuple[float, float], radius: float, light: Colour,
         strength: float) -> Image.Image:  # fmt: skip
    """Adds light around a point."""
    # Pillow's gradient is dark in its corners only: it ends where the sides are.
    ends = 255 / math.sqrt(2)
    disc = Image.radial_gradient("L").point(
        lambda v: max(0, 1 - v / ends) ** 2.2 * 255 * strength)
    side = max(1, round(radius * 2))
    mask = Image.new("L", image.size)
    place = (round(centre[0] - radius), round(centre[1] - radius))
    mask.paste(disc.resize((side, side)), place)
    return Image.composite(ImageChops.screen(image, Image.new("RGB", image.size, light)),
                           image, mask)  # fmt: skip


def ridge(chance: random.Random, width: int, base: float, height: float, rough: float) -> list:
    """The upper edge of a range of hills."""
    waves = [
        (rough**octave, chance.uniform(0, math.tau), 2**octave * chance.uniform(0.8, 1.3))
        for octave in range(7)
    ]
    total = sum(weight for weight, _, _ in waves)
    return [
        (x, base - height * sum(
            weight * math.sin(phase + speed * math.tau * x / width)
            for weight, phase, speed in waves
        ) / total)
        for x in range(0, width + 4, 4)
    ]  # fmt: skip


def ridges(image, chance, sky, light, near):
    width, height = image.size
    sun = (width * chance.uniform(0.25, 0.75), height * chance.uniform(0.26, 0.4))
    image = glow(image, sun, height * 1.0, light, 0.85)
    radius = height * 0.045
    ImageDraw.Draw(image).ellipse([sun[0] - radius, sun[1] - radius, sun[0] + radius,
                                   sun[1] + radius], fill=light)  # fmt: skip
    count = 6
    for number in range(count):
        part = number / (count - 1)
        edge = ridge(chance, width, height * (0.5 + 0.42 * part), height * (0.16 - 0.04 * part),
                     0.52 if number else 0.6)  # fmt: skip
        top = mix(sky, near, 0.22 + 0.78 * part)
        mask = Image.new("L", image.size)
        ImageDraw.Draw(mask).polygon([*edge, (width, height), (0, height)], fill=255)
        # Mist lies in the valleys.
        image.paste(gradient(image.size, top, mix(top, sky, 0.75 * (1 - part) + 0.12)), (0, 0),
                    mask)  # fmt: skip
    return image


def sea(image, chance, sky, light, near, phase=0.0):
    width, height = image.size
    horizon = height * 0.56
    sun = (width * chance.uniform(0.35, 0.65), horizon - height * chance.uniform(0.08, 0.2))
    image = glow(image, sun, height * 1.0, light, 0.9)
    radius = height * 0.06
    draw = ImageDraw.Draw(image)
    draw.ellipse([sun[0] - radius, sun[1] - radius, sun[0] + radius, sun[1] + radius], fill=light)
    water = gradient((width, round(height - horizon)), mix(sky, near, 0.35), near)
    image.paste(water, (0, round(horizon)))
    draw = ImageDraw.Draw(image)
    y = horizon + 2
    while y < height:
        depth = (y - horizon) / (height - horizon)
        for _ in range(9):
            spread = radius * (0.7 + 3 * depth)
            offset = chance.gauss(0, 0.5) * spread
            sway = math.sin(phase + chance.uniform(0, math.tau)) * spread * 0.25
            length = chance.uniform(4, 10) + 90 * depth * chance.random()
            strength = math.exp(-((offset / spread) ** 2)) * (0.95 - 0.45 * depth)
            at = (sun[0] + offset + sway, y)
            draw.line([(at[0] - length, y), (at[0] + length, y)],
                      fill=mix(mix(sky, near, 0.35 + 0.6 * depth), light, max(0, strength)),
                      width=max(1, round(1 + 5 * depth)))  # fmt: skip
        y += 3 + 12 * depth
    return image


def dunes(image, chance, sky, light, near):
    width, height = image.size
    image = glow(image, (width * 0.2, height * 0.12), height * 0.8, light, 0.6)
    count = 5
    for number in range(count):
        part = number / (count - 1)
        base = height * (0.46 + 0.4 * part)
        edge = ridge(chance, width, base, height * 0.12, 0.3)
        lit = mix(sky, mix(near, light, 0.45), 0.35 + 0.65 * part)
        shadow = mix(sky, near, 0.3 + 0.7 * part)
        mask = Image.new("L", image.size)
        ImageDraw.Draw(mask).polygon([*edge, (width, height), (0, height)], fill=255)
        image.paste(gradient(image.size, lit, mix(lit, light, 0.25)), (0, 0), mask)
        # The side that is turned away from the sun.
        lee = Image.new("L", image.size)
        peak = min(edge[len(edge) // 8 : -len(edge) // 8], key=lambda point: point[1])
        below = [(peak[0] + 0.5 * height * t - 40 * math.sin(6 * t) * (1 - t),
                  peak[1] + height * 0.75 * t) for t in (n / 20 for n in range(21))]  # fmt: skip
        right = [point for point in edge if point[0] >= peak[0]]
        ImageDraw.Draw(lee).polygon([*right, (width, height), *reversed(below)], fill=210)
        lee = ImageChops.darker(lee.filter(ImageFilter.GaussianBlur(3)), mask)
        image.paste(gradient(image.size, shadow, mix(shadow, lit, 0.5)), (0, 0), lee)
    return image


def aurora(image, chance, sky, light, near):
    width, height = image.size
    draw = ImageDraw.Draw(image)
    for _ in range(500):
        x, y = chance.uniform(0, width), chance.uniform(0, height * 0.75)
        size = chance.choice([1, 1, 1, 2, 2, 3])
        draw.ellipse([x, y, x + size, y + size], fill=mix(sky, (255, 255, 255), chance.random()))
    curtain = Image.new("RGB", image.size)
    draw = ImageDraw.Draw(curtain)
    for band in range(3):
        phase, bend = chance.uniform(0, math.tau), chance.uniform(0.6, 1.4)
        for x in range(0, width, 3):
            t = x / width
            foot = height * (0.36 + 0.11 * band + 0.1 * math.sin(phase + bend * math.tau * t))
            tall = height * (0.22 + 0.1 * math.sin(3 * phase + 17 * t) + 0.05 * chance.random())
            for step in range(12):
                part = step / 11
                strength = (1 - part) ** 1.5 * (0.5 + 0.4 * math.sin(phase + 9 * t))
                draw.line([(x, foot - tall * part), (x, foot - tall * (part + 0.1))],
                          fill=mix((0, 0, 0), light, max(0, strength)), width=3)  # fmt: skip
    image = ImageChops.screen(image, curtain.filter(ImageFilter.GaussianBlur(9)))
    for number in range(3):
        edge = ridge(chance, width, height * (0.74 + 0.1 * number), height * 0.08, 0.5)
        mask = Image.new("L", image.size)
        ImageDraw.Draw(mask).polygon([*edge, (width, height), (0, height)], fill=255)
        tone = mix(mix(sky, light, 0.18), near, number / 2)
        image.paste(gradient(image.size, tone, near), (0, 0), mask)
    return image


PAINTERS = {"ridges": ridges, "sea": sea, "dunes": dunes, "aurora": aurora}


def still(folder: Path, number: int) -> None:
    _, _, kind, seed, above, below, light, near = STILLS[number]
    chance = random.Random(seed)
    sky = colour(below)
    # Twice as large: edges become smooth.
    double = (SIZE[0] * 2, SIZE[1] * 2)
    image = gradient(double, colour(above), sky)
    image = PAINTERS[kind](image, chance, sky, colour(light), colour(near))
    image = image.resize(SIZE, Image.Resampling.BOX)
    grain = Image.effect_noise(SIZE, 26).convert("RGB")
    image = Image.blend(image, ImageChops.overlay(image, grain), 0.35)
    image.save(folder / f"{number:02}.jpg", quality=90)


def animation(folder: Path, number: int) -> None:
    kind = ANIMATIONS[number][2]
    count = 32
    frames = [frame(kind, index / count) for index in range(count)]
    frames[0].save(folder / f"a{number}.webp", save_all=True, append_images=frames[1:],
                   duration=70, loop=0, quality=70, method=2)  # fmt: skip


def frame(kind: str, time: float) -> Image.Image:
    chance = random.Random(9)
    if kind == "swell":
        image = gradient(SMALL, colour("#e8825a"), colour("#ffd9a8"))
        return sea(image, chance, colour("#ffd9a8"), colour("#fff3d0"), colour("#213a5e"),
                   phase=time * math.tau)  # fmt: skip
    image = gradient(SMALL, colour("#0d1733"), colour("#46528a"))
    image = sea(image, chance, colour("#46528a"), colour("#ffe9b8"), colour("#0a1024"),
                phase=time * math.tau)  # fmt: skip
    width, height = SMALL
    lamp = (width * 0.78, height * 0.3)
    beam = Image.new("L", SMALL)
    turn = time * math.tau
    reach, side = width * 1.4 * math.cos(turn), height * 0.10
    ImageDraw.Draw(beam).polygon(
        [lamp, (lamp[0] + reach, lamp[1] + height * 0.06 * math.sin(turn) - side),
         (lamp[0] + reach, lamp[1] + height * 0.06 * math.sin(turn) + side)], fill=150)
    image.paste(Image.new("RGB", SMALL, colour("#fff2c4")), (0, 0),
                beam.filter(ImageFilter.GaussianBlur(6)))  # fmt: skip
    draw = ImageDraw.Draw(image)
    rock = colour("#060a18")
    draw.polygon([(width * 0.6, height * 0.62), (width * 0.7, height * 0.53),
                  (width * 0.9, height * 0.52), (width, height * 0.6), (width, height * 0.66),
                  (width * 0.6, height * 0.66)], fill=rock)  # fmt: skip
    draw.polygon([(lamp[0] - 11, height * 0.54), (lamp[0] - 6, lamp[1] + 8),
                  (lamp[0] + 6, lamp[1] + 8), (lamp[0] + 11, height * 0.54)], fill=rock)
    draw.rectangle([lamp[0] - 8, lamp[1] - 12, lamp[0] + 8, lamp[1] - 8], fill=rock)
    draw.rectangle([lamp[0] - 5, lamp[1] - 8, lamp[0] + 5, lamp[1] + 8], fill=colour("#ffe9a8"))
    return glow(image, lamp, 70 + 50 * max(0, math.sin(turn)), colour("#fff2c4"), 0.8)


def draw(folder: Path) -> None:
    with ProcessPoolExecutor() as pool:
        work = [pool.submit(animation, folder, number) for number in range(len(ANIMATIONS))]
        work += [pool.submit(still, folder, number) for number in range(len(STILLS))]
        for one in work:
            one.result()


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
