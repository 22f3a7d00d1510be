"""Prints a table of Imagebus' results for the files of public bug reports, point by point, beside
the results of Chromium, Pillow, avifdec or the properties of the file's format.

    reports.py [--save FILE] [--before FILE] [FOLDER]

FOLDER defaults to $IMAGEBUS_FIXTURES/reports. --save stores the results for --before of a later
run, which shows both. Exit status 1 if a row is wrong.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import signal
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import avifdec_reader
import pillow_reader
from chromium_reader import Chromium
from compare import compare
from imagebus_reader import Imagebus
from picture import DRAWN, LOSSY, Picture, Refused, Tolerance, read_pam
from PIL import Image, ImageOps

PIXEL_LIMIT = 100_000_000
RETRY = "--option", "retry-failed"
#: For two resamplers whose kernels and rounding of the crop differ.
RESAMPLED = Tolerance(2, mean=8, block=24)


@dataclass(frozen=True)
class Cell:
    """The result of Imagebus, the right result, its reference, and whether they agree."""

    ours: str
    right: str
    reference: str
    is_right: bool


class Bench:
    """The stack, the browser and the folder of the files."""

    def __init__(self, folder: Path, imagebus: Imagebus, chromium: Chromium) -> None:
        self.folder, self.imagebus, self.chromium = folder, imagebus, chromium

    def get(self, name: str, *options: str) -> tuple[dict, bytes]:
        # Only the rows of point 2 test the effects of an earlier failure.
        retry = () if name == "cut60.gif" else RETRY
        return self.imagebus.get(self.folder / name, *retry, *options)

    def web(self, name: str, options: str) -> tuple[int, dict[str, str], bytes]:
        """The status, fields in lowercase and body of a gateway response."""
        url = f"{self.imagebus.gateway}/unsafe/{options}/plain/"
        url += self.imagebus.url(self.folder / name)
        try:
            answer = urllib.request.urlopen(url, timeout=60)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            fields = {name.lower(): value for name, value in answer.headers.items()}
            return answer.status, fields, answer.read()

    def reference(self, name: str, reader: str) -> Picture:
        path = self.folder / name
        if reader == "Chromium":
            return self.chromium.read(path, PIXEL_LIMIT)
        if reader == "avifdec":
            return avifdec_reader.read(path)
        return pillow_reader.read(path, PIXEL_LIMIT)

    def last_frame(self, name: str, reader: str) -> Picture:
        path = self.folder / name
        if reader == "avifdec":
            return avifdec_reader.read_last(path)
        return self.chromium.read_last(path)


Check = Callable[[Bench, str], Cell]


@dataclass(frozen=True)
class Right:
    """The right result for a file: a reader's picture, of another file if `like` isn't empty, or
    an error with a part of its message.
    """

    reader: str
    like: str
    error: str
    message: str
    #: None if the file ends before its last frame, and for an error.
    frames: int | None
    is_damaged: bool


def read_right(path: Path) -> dict[str, Right]:
    """The results in the table by file name; the table describes its columns."""
    results = {}
    for line in path.read_text().replace("\n    ", " ").splitlines():
        if line.startswith("#"):
            continue
        name, right, frames, pixels, _ = line.split(" | ")
        reader, _, like = right.partition(" of ")
        error, _, message = right.partition(": ")
        is_drawn = reader in READERS
        results[name] = Right(
            reader if is_drawn else "",
            like if is_drawn else "",
            "" if is_drawn else error,
            "" if is_drawn else message,
            None if frames == "-" else int(frames),
            pixels == "damaged",
        )
    return results


READERS = "Chromium", "Pillow", "avifdec"
RIGHT = read_right(Path(__file__).with_name("reports.txt"))


def draws(reader: str, like: str = "") -> Check:
    """The image equals that of a reader, for the file itself or for another one that looks the
    same.
    """

    def check(bench: Bench, name: str) -> Cell:
        reference = bench.reference(like or name, reader)
        reference = Picture(reference.image, tolerance=reference.tolerance)
        source = f"{reader}, {like}" if like else reader
        right = reference.describe()
        try:
            ours = bench.imagebus.read(bench.folder / name)
        except Refused as refused:
            return Cell(refused.reason, right, source, False)
        found = compare(ours, reference)
        text = ours.describe() + (f" ({found})" if found else "")
        return Cell(text, right, source, found is None)

    return check


def draws_last_frame(bench: Bench, name: str) -> Cell:
    reader = RIGHT[name].reader
    reference = bench.last_frame(name, reader)
    right = f"{reference.frames} frames, {reference.describe()}"
    try:
        ours = bench.imagebus.read(bench.folder / name)
    except Refused as refused:
        return Cell(refused.reason, right, reader, False)
    last = Picture(ours.last or ours.image, ours.frames)
    found = compare(last, reference)
    text = f"{ours.frames} frames, {last.describe()}" + (f" ({found})" if found else "")
    return Cell(text, right, reader, found is None)


def draws_without_variables(bench: Bench, name: str) -> Cell:
    """As Chromium, but a fill with `var()` is black (SEMANTICS 11.19): the part without red."""
    image = bench.reference(name, "Chromium").image
    is_filled = image.getchannel("R").point(lambda value: 255 * (value == 0))
    black = Image.new("RGBA", image.size, "black")
    reference = Picture(Image.composite(black, image, is_filled), tolerance=DRAWN)
    right = f"{reference.describe()}, the documented limit"
    try:
        ours = bench.imagebus.read(bench.folder / name)
    except Refused as refused:
        return Cell(refused.reason, right, "Chromium, SEMANTICS", False)
    found = compare(ours, reference)
    text = ours.describe() + (f" ({found})" if found else "")
    return Cell(text, right, "Chromium, SEMANTICS", found is None)


def is_refused(error: str, message: str) -> Check:
    """The file ends with this error, and with this part of its message."""

    def check(bench: Bench, name: str) -> Cell:
        right = f"{error}: {message}" if message else error
        try:
            text = bench.imagebus.read(bench.folder / name).describe()
        except Refused as refused:
            text = f"{refused.reason}: {refused.detail}" if message else refused.reason
        is_right = text.split(":")[0] == error and message in text
        return Cell(text, right, "reports.txt", is_right)

    return check


def as_stated(bench: Bench, name: str) -> Cell:
    """The picture or the error that the table of right results states."""
    right = RIGHT[name]
    if right.error:
        return is_refused(right.error, right.message)(bench, name)
    return draws(right.reader, right.like)(bench, name)


def shows(is_damaged: bool) -> Check:
    """The gateway shows what has arrived. If pixels are missing, it marks that and limits caching;
    what is missing behind the last pixel is not damage (SEMANTICS §11.38)."""

    def check(bench: Bench, name: str) -> Cell:
        reference = bench.reference(name, "Chromium")
        right = f"arrived pixels of {reference.describe()}, " + (
            "X-Imagebus-Damaged, max-age up to 60" if is_damaged else "not marked")
        status, fields, body = bench.web(name, "f:png")
        if status != 200:
            return Cell(f"{status} {fields.get('x-imagebus-error')}", right, "Chromium", False)
        image = Image.open(io.BytesIO(body)).convert("RGBA")
        difference = arrived_difference(image, reference)
        control = fields.get("cache-control", "")
        age = re.search(r"max-age=(\d+)", control)
        is_short = age is not None and int(age[1]) <= 60 and "immutable" not in control
        is_marked = "x-imagebus-damaged" in fields
        text = Picture(image).describe() + (f" ({difference})" if difference else "")
        text += f", {'marked' if is_marked else 'not marked'}, {control}"
        is_right = is_marked == is_damaged and (is_short or not is_damaged)
        return Cell(text, right, "Chromium", not difference and is_right)

    return check


def arrived_difference(image: Image.Image, reference: Picture) -> object:
    """Compares the pixels that the reference shows; None if they agree."""
    nothing = Image.new("RGBA", reference.image.size)
    if image.size != nothing.size:
        return "size"
    arrived = reference.image.getchannel("A").point(lambda value: 255 * (value == 255))
    pictures = (
        Picture(Image.composite(one, nothing, arrived), tolerance=LOSSY)
        for one in (image, reference.image)
    )
    return compare(*pictures)


def passes(*options: str) -> Check:
    """The source's own bytes, or its properties, are returned without decoding."""

    def check(bench: Bench, name: str) -> Cell:
        width, height = bench.reference(name, "Chromium").image.size
        try:
            reply, data = bench.get(name, *options)
        except Refused as refused:
            return Cell(refused.reason, f"{width}x{height}", "Chromium", False)
        same = not data or data == (bench.folder / name).read_bytes()
        text = f"{reply['width']}x{reply['height']}" + ("" if same else ", other bytes")
        return Cell(text, f"{width}x{height}", "Chromium", text == f"{width}x{height}")

    return check


def passes_raw(bench: Bench, name: str) -> Cell:
    status, fields, body = bench.web(name, "raw:1")
    is_same = body == (bench.folder / name).read_bytes()
    text = "the file" if is_same else f"{status} {fields.get('x-imagebus-error', '')}".strip()
    return Cell(text, "the file", "its bytes", is_same)


def answers(right: str, reference: str, *options: str, info: str = "") -> Check:
    """The size and frames, or the value `info` that Pillow finds in the file, or an error's
    name.
    """

    def check(bench: Bench, name: str) -> Cell:
        try:
            reply, data = bench.get(name, *options)
            text = f"{reply['width']}x{reply['height']}, {reply['pages']} frames"
            if data and "pam" not in options:
                with Image.open(io.BytesIO(data)) as file:
                    text = f"{file.width}x{file.height}, {getattr(file, 'n_frames', 1)} frames"
                    text = f"{info} {file.info.get(info)}" if info else text
        except Refused as refused:
            text = refused.reason
        return Cell(text, right, reference, re.fullmatch(right, text) is not None)

    return check


def plays(bench: Bench, name: str) -> Cell:
    """`--info` counts plays: one more than the NETSCAPE extension's value, as many as in an
    APNG.
    """
    with Image.open(bench.folder / name) as file:
        right = f"{file.info['loop'] + (file.format == 'GIF')} plays"
    reply, _ = bench.get(name, "--info", "--properties", "animation")
    animation = reply["facts"]["animation"]
    text = f"{animation.get('plays', animation.get('loops'))} plays"
    return Cell(text, right, "Pillow", text == right)


def fills(bench: Bench, name: str) -> Cell:
    with Image.open(bench.folder / name) as file:
        whole = file.convert("RGBA")
    image = ImageOps.fit(whole, (1000, 1000), Image.Resampling.LANCZOS)
    reference = Picture(image, tolerance=RESAMPLED)
    options = "--resize", "1000x1000", "--mode", "fill", "--format", "pam"
    try:
        ours = Picture(read_pam(bench.get(name, *options)[1]))
    except Refused as refused:
        return Cell(refused.reason, reference.describe(), "Pillow", False)
    found = compare(ours, reference)
    text = ours.describe() + (f" ({found})" if found else "")
    return Cell(text, reference.describe(), "Pillow", found is None)


def frame_3(bench: Bench, name: str) -> Cell:
    with Image.open(bench.folder / name) as file:
        file.seek(3)
        reference = Picture(file.convert("RGBA"))
    try:
        ours = Picture(read_pam(bench.get(name, "--frame", "3", "--format", "pam")[1]))
    except Refused as refused:
        return Cell(refused.reason, reference.describe(), "Pillow", False)
    return Cell(
        ours.describe(), reference.describe(), "Pillow", compare(ours, reference) is None
    )


def refuses(bench: Bench, name: str) -> Cell:
    """By default the client library rejects damaged images."""
    return answers("badImageData", "SEMANTICS", "--format", "png")(bench, name)


FIRST = "--option", "decode-first-frame-only"
SMALLER = "--option", "scale-down-large-images"
STRIP = "--resize", "40x", "--format", "png"
CUT_OFF = "badImageData", "the file ends early", "--animated", *STRIP[:2], "--format", "gif"
DAMAGED = [name for name, right in RIGHT.items() if right.is_damaged]
HD_FRAMES = RIGHT["hd120.gif"].frames

ROWS: list[tuple[str, str, str, Check]] = [
    ("1", "hd120.gif", "--info", answers(
        f"1280x720, {HD_FRAMES} frames", "Pillow", "--info")),
    ("1", "hd120.gif", "--resize 200x", answers("200x11[23], 1 frames", "ratio", "--resize", "200x",
                                                "--format", "png")),
    ("1", "hd120.gif", "--frame 3", frame_3),
    ("1", "hd120.gif", "get", passes()),
    ("1", "hd120.gif", "raw:1", passes_raw),
    ("1", "hd120.gif", "--animated --resize 200x", answers(
        f"200x11[23], {HD_FRAMES} frames", "Pillow", "--animated", "--resize", "200x", "--format",
        "gif")),
    ("2", "cut60.gif", "--resize 40x", answers("40x30, 1 frames", "ratio", *STRIP)),
    ("2", "cut60.gif", "--animated", answers(*CUT_OFF)),
    ("2", "cut60.gif", "--resize 41x", answers("41x3[01], 1 frames", "ratio", "--resize", "41x",
                                               "--format", "png")),
    ("3", "jnoeoi.jpg", "pixels", as_stated),
    *(("3", name, "f:png", shows(True)) for name in DAMAGED),
    *(("3", name, "--format png", refuses) for name in DAMAGED),
    # Only frames behind the first are missing.
    ("3", "apng_cut.png", "f:png", shows(False)),
    *(("3", name, "get", passes()) for name in (*DAMAGED, "apng_cut.png")),
    *(("3", name, "--info", passes("--info")) for name in (*DAMAGED, "apng_cut.png")),
    ("4", "webtoon.jpg", "--resize 1000x1000 --mode fill", fills),
    ("5", "syntax_num_frames_invalid.png", "pixels", as_stated),
    *(("6", name, "error", as_stated) for name, right in RIGHT.items() if right.error),
    ("7", "loop_2.gif", "--info", plays),
    ("7", "apng_p2.png", "--info", plays),
    *(("7", "loop_2.gif", f"to {form}", answers(
        f"loop {count}", "plays of the source", "--animated", "--format", form, info="loop"))
      for form, count in (("webp", 3), ("png", 3), ("gif", 2))),
    *(("7", "apng_p2.png", f"to {form}", answers(
        f"loop {count}", "plays of the source", "--animated", "--format", form, info="loop"))
      for form, count in (("webp", 2), ("gif", 1))),
    ("8", "loop_2.gif", "decode-first-frame-only", answers("40x30, 1 frames", "Pillow", *FIRST)),
    ("9", "loop_2.gif", "scale-down-large-images", answers(
        f"40x30, {RIGHT['loop_2.gif'].frames} frames", "Pillow", *SMALLER)),
    ("11", "star-8bpc.avifs", "pixels", as_stated),
    ("11", "star-8bpc.avifs", "last frame", draws_last_frame),
    ("11", "colors-animated-8bpc-depth-exif-xmp.avif", "pixels", as_stated),
    ("11", "colors-animated-8bpc-depth-exif-xmp.avif", "last frame", draws_last_frame),
    ("11", "zeroframe.gif", "pixels", as_stated),
    ("11", "zeroframe.gif", "last frame", draws_last_frame),
    ("12", "rgb_grayprof.jpg", "pixels", as_stated),
    ("13", "avif_p3_444.avif", "pixels", as_stated),
    ("13", "avif_p3_444.avif", "as p3.png", draws("Pillow", like="p3.png")),
    ("13", "cicp_p3.png", "pixels", as_stated),
    ("13", "cicp_p3.png", "as p3.png", draws("Pillow", like="p3.png")),
    ("13", "gama1.png", "pixels", as_stated),
    ("14", "avif_prem.avif", "as alpha.png", as_stated),
    ("15", "sample-xyb.jpg", "pixels", as_stated),
    ("15", "iec_rotated.jpg", "pixels", as_stated),
    ("16", "fox.profile0.8bpc.yuv420.monochrome.avif", "pixels", as_stated),
    ("16", "sofa_grid1x5_420_reversed_dimg_order.avif", "pixels", as_stated),
    ("17", "kimono.rotate90.avif", "pixels", as_stated),
    ("17", "a10_imir.avif", "pixels", as_stated),
    ("18", "ico1.ico", "pixels", as_stated),
    ("18", "cur.cur", "pixels", as_stated),
    ("18", "rgb16-565pal.bmp", "pixels", as_stated),
    ("18", "pal8os2sp.bmp", "pixels", as_stated),
    ("19", "t_ycc.tif", "pixels", as_stated),
    ("19", "css.svg", "pixels", draws_without_variables),
    ("-", "alpha.png", "pixels", as_stated),
    ("-", "p3.png", "pixels", as_stated),
]  # fmt: skip


def check_all(bench: Bench) -> list[tuple[str, Cell]]:
    results = []
    for point, name, what, check in ROWS:
        try:
            cell = check(bench, name)
        except Exception as error:  # a failing row must not hide the rows after it
            cell = Cell(f"not compared: {error!r}"[:120], "", "", False)
        results.append((f"{point} | {name} | {what}", cell))
    return results


def print_table(results: list[tuple[str, Cell]], before: dict[str, str]) -> None:
    past = " before |" if before else ""
    print(f"| point | file | what |{past} Imagebus | right | by | |")
    print("|--:|---|---|" + ("---|" if before else "") + "---|---|---|---|")
    for title, cell in results:
        past = f" {before.get(title, '')} |" if before else ""
        word = "right" if cell.is_right else "WRONG"
        right = cell.right.replace("|", "/")
        print(f"| {title} |{past} {cell.ours} | {right} | {cell.reference} | {word} |")


def print_recorded(bench: Bench) -> None:
    """Compares the output of this Chromium with the recorded text."""
    recorded = bench.folder / "chromium-reference.txt"
    lines = recorded.read_text().splitlines() if recorded.is_file() else []
    same, other = 0, []
    for line in lines:
        match = re.match(r"(\S+) ok (\d+x\d+) mean (\S+) \| (.*)", line)
        path = bench.folder / Path(match[1]).name if match else bench.folder
        if path.is_file():
            mine = bench.chromium.read(path, PIXEL_LIMIT).describe()
            text = f"{match[2]} {match[3]} {match[4]}"
            same += mine == text
            other += [] if mine == text else [f"{path.name}: {mine}, recorded {text}"]
    print(f"\nchromium-reference.txt: {same} files as recorded, {len(other)} others")
    for text in other:
        print(f"  {text}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/sweep --reports")
    fixtures = os.environ.get("IMAGEBUS_FIXTURES", "")
    parser.add_argument("folder", nargs="?", type=Path, default=Path(fixtures, "reports"))
    parser.add_argument("--save", type=Path, metavar="FILE")
    parser.add_argument("--before", type=Path, metavar="FILE")
    options = parser.parse_args()
    folder = options.folder.resolve()
    if not folder.is_dir():
        print(f"sweep: {folder} is not a folder; set IMAGEBUS_FIXTURES", file=sys.stderr)
        return 64
    imagebus, chromium = Imagebus(folder, *RETRY), None
    try:
        chromium = Chromium()
        bench = Bench(folder, imagebus, chromium)
        results = check_all(bench)
        before = json.loads(options.before.read_text()) if options.before else {}
        print_table(results, before)
        print_recorded(bench)
    finally:
        imagebus.remove()
        if chromium:
            chromium.close()
    if options.save:
        options.save.write_text(json.dumps({title: cell.ours for title, cell in results}))
    wrong = sum(not cell.is_right for _, cell in results)
    print(f"\nreports: {len(results) - wrong} of {len(results)} rows are right")
    return min(wrong, 1)


if __name__ == "__main__":
    # Also stops the stack and the browser.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
