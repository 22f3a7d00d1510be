"""Prints an SVG as large as the photo with a gradient and 200 curves, like a designer's file."""

import random

WIDTH, HEIGHT = 2725, 2225
seeded = random.Random(1)


def colour():
    return f"#{seeded.randrange(1 << 24):06x}"


def point():
    return f"{seeded.randrange(WIDTH)} {seeded.randrange(HEIGHT)}"


print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}">')
print(f'<defs><linearGradient id="g"><stop stop-color="{colour()}"/>'
      f'<stop offset="1" stop-color="{colour()}"/></linearGradient></defs>')
print('<rect width="100%" height="100%" fill="url(#g)"/>')
for _ in range(200):
    curve = f"M{point()}C{point()} {point()} {point()}"
    print(f'<path d="{curve}" fill="none" stroke="{colour()}" stroke-width="9" opacity=".7"/>')
print("</svg>")
