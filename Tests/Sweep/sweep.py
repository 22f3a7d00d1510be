"""Reads every image file of some folders with Imagebus, Pillow, libvips and Chromium, and prints
where Imagebus differs.

Exit status: 0, or 1 if a file is shown wrongly (see `Judgement`) or ends in a fault such as
internalError; files rejected with a proper error are listed and don't count as failures.
`known.txt` lists files for which the references are wrong.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import shutil
import signal
import sys
import time
from collections import Counter, defaultdict
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import bounded
import pillow_reader
import vips_reader
from chromium_reader import Chromium
from imagebus_reader import Imagebus
from judgement import Judgement, Result
from picture import Refused

EXTENSIONS = set(
    "apng avif avifs bmp cur dib gif heic heics heif hif ico jfif jp2 jpe jpeg jpg jxl pdf png svg"
    " svgz tif tiff webp".split()
)
#: Formats that Chromium doesn't show.
NOT_IN_CHROMIUM = {".heic", ".heics", ".heif", ".hif", ".jp2", ".pdf", ".svgz", ".tif", ".tiff"}
PIXEL_LIMIT = 40_000_000
MEMORY = 4 << 30  # address space of one file's process and of each reader in it
KNOWN = Path(__file__).with_name("known.txt")
LISTED = "fault", "differ", "refused", "shown by Imagebus alone", "refused by all"


def image_files(folders: list[Path]) -> list[Path]:
    """Regular files with the extension of an image, each content once, in a fixed order."""
    found: dict[bytes, Path] = {}
    for folder in folders:
        walk = os.walk(folder) if folder.is_dir() else [(folder.parent, [], [folder.name])]
        for parent, _, names in walk:
            for path in sorted(Path(parent, name) for name in names):
                if path.suffix.lower()[1:] in EXTENSIONS and path.is_file():
                    if not path.is_symlink():
                        with path.open("rb") as file:
                            digest = hashlib.file_digest(file, "sha256").digest()
                        found.setdefault(digest, path)
    return sorted(found.values())


def sample(files: list[Path], count: int, seed: int) -> list[Path]:
    """`count` files, drawn from the extensions in turn, so that rare formats are included."""
    drawn = random.Random(seed)
    groups = defaultdict(list)
    for path in files:
        groups[path.suffix.lower()].append(path)
    for group in groups.values():
        drawn.shuffle(group)
    chosen: list[Path] = []
    while len(chosen) < count and any(groups.values()):
        for _, group in sorted(groups.items()):
            if group and len(chosen) < count:
                chosen.append(group.pop())
    return sorted(chosen)


def attempt(read, path: Path, seconds: float) -> Result:
    """Runs one reader in a separate process, which contains its crashes."""
    try:
        return bounded.call(read, path, seconds=seconds, memory=MEMORY)
    except Refused as refused:
        return refused
    except bounded.Ended as end:
        return Refused(str(end).split(" within ")[0].split(" (")[0], str(end))
    except Exception as error:
        return Refused("error", repr(error))


def read_all(path: Path, imagebus: Imagebus, seconds: float) -> dict[str, Result]:
    readers = {
        "Imagebus": imagebus.read,
        "Pillow": partial(pillow_reader.read, pixel_limit=PIXEL_LIMIT),
        "libvips": partial(vips_reader.read, pixel_limit=PIXEL_LIMIT),
    }
    return {name: attempt(read, path, seconds) for name, read in readers.items()}


def judge(path: Path, results: dict[str, Result], chromium: Chromium | None) -> Judgement:
    references = dict(results)
    ours = references.pop("Imagebus")
    if chromium and path.suffix.lower() not in NOT_IN_CHROMIUM:
        try:
            references["Chromium"] = chromium.read(path, PIXEL_LIMIT)
        except Refused as refused:
            references["Chromium"] = refused
    return Judgement.of(ours, references)


def judgements(
    root: Path, files: list[Path], options: argparse.Namespace
) -> dict[Path, Judgement]:
    judged: dict[Path, Judgement] = {}
    with ExitStack() as cleanup:
        imagebus = Imagebus(root, *options.get)
        cleanup.callback(imagebus.remove)
        chromium = None
        if not options.no_chromium and shutil.which("chromedriver"):
            chromium = Chromium()
            cleanup.callback(chromium.close)
        read = partial(read_all, imagebus=imagebus, seconds=options.seconds)
        results = bounded.parallel(
            read, files, jobs=options.jobs, seconds=4 * options.seconds, memory=MEMORY
        )
        for path, result in results:
            if isinstance(result, bounded.Ended):
                result = {"Imagebus": Refused("not compared", str(result))}
            judged[path] = judge(path, result, chromium)
            show_progress(len(judged), len(files), path)
    return judged


def show_progress(done: int, count: int, path: Path) -> None:
    if sys.stderr.isatty():
        end = "\r" if done < count else "\n"
        print(f"\r\033[K{done}/{count} {path.name[:60]}", end=end, file=sys.stderr, flush=True)


def known_files() -> dict[str, str]:
    lines = [line for line in KNOWN.read_text().splitlines() if line and line[0] != "#"]
    return dict(line.split(": ", 1) for line in lines)


def print_details(name: str, judgement: Judgement, note: str) -> None:
    print(f"  {name}{note}")
    if isinstance(judgement.ours, Refused):
        print(f"      Imagebus: {judgement.ours.reason}: {judgement.ours.detail}"[:160])
    for reference, one in judgement.outcomes.items():
        if one.kind != "refused by both":
            about = one.row if one.kind == "refused by Imagebus" else f"{one.row}: {one.detail}"
            print(f"      {reference}: {about}".rstrip(": ")[:160])


def print_report(root: Path, judged: dict[Path, Judgement], known: dict[str, str]) -> None:
    print(f"below {root}:")
    for verdict in LISTED:
        paths = sorted(path for path, one in judged.items() if one.verdict == verdict)
        if paths:
            print(f"\n{verdict} ({len(paths)}):")
        for path in paths:
            note = f" (known: {known[path.name]})" if path.name in known else ""
            print_details(str(path.relative_to(root)), judged[path], note)
    disputed = {
        path: one
        for path, one in sorted(judged.items())
        if one.verdict == "agree" and not one.is_unanimous
    }
    if disputed:
        print(f"\nagree, but with one reference only or against one ({len(disputed)}):")
    for path, one in disputed.items():
        print_details(str(path.relative_to(root)), one, "")


def print_summary(judged: dict[Path, Judgement], seconds: float) -> None:
    names = "Pillow", "libvips", "Chromium"
    counts = {name: Counter[str]() for name in names}
    for one in judged.values():
        for name, found in one.outcomes.items():
            counts[name][found.row] += 1
    rows = sorted(set().union(*counts.values()))
    print(f"\n{'Imagebus beside':<52}" + "".join(f"{name:>10}" for name in names))
    for row in rows:
        print(f"{row:<52}" + "".join(f"{counts[name][row]:>10}" for name in names))
    verdicts = Counter(one.verdict for one in judged.values())
    words = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common())
    print(f"\nsweep: {len(judged)} files in {seconds:.0f} s: {words}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/sweep", description=__doc__.split("\n\n")[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--sample", type=int, metavar="N", help="so many of the files (all)")
    parser.add_argument("--seed", type=int, default=47, help="seed of the sample (47)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="files at a time")
    parser.add_argument("--seconds", type=float, default=20, help="per file and reader (20)")
    parser.add_argument("--no-chromium", action="store_true", help="Pillow and libvips only")
    parser.add_argument(
        "--get", action="append", default=[], metavar="OPTION",
        help="option for `imagebus get`, such as --get=--icc=srgb (repeatable)",
    )  # fmt: skip
    return parser.parse_args()


def main() -> int:
    options, started = arguments(), time.monotonic()
    files = image_files([folder.resolve() for folder in options.folders])
    if options.sample:
        files = sample(files, options.sample, options.seed)
    if not files:
        print("sweep: no image files in these folders", file=sys.stderr)
        return 64
    root = Path(os.path.commonpath([path.parent for path in files]))
    judged, known = judgements(root, files, options), known_files()
    print_report(root, judged, known)
    print_summary(judged, time.monotonic() - started)
    wrong = [
        path
        for path, one in judged.items()
        if one.verdict in ("differ", "fault") and path.name not in known
    ]
    return 1 if wrong else 0


if __name__ == "__main__":
    # Also stops the stack and the browser.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
