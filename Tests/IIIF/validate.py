"""Runs the tests of iiif-validator, up to a level of the IIIF Image API 3.0, against a gateway.

    validate.py [LEVEL]

One of its tests is corrected here, and two are left out, where they deviate from the standard; the
reasons are beside them. Its timeout of five seconds is longer here, since machines may be busy.
Everything else is unchanged.
"""

from __future__ import annotations

import random
import re
import shutil
import sys
import tempfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.request import urlopen

from browser import SECONDS
from iiif_validator import validator
from iiif_validator.tests.size_noup import Test_No_Size_Up
from iiif_validator.tests.test import BaseTest
from iiif_validator.validator import ImageAPI, TestSuite, ValidationInfo
from PIL import Image
from web_stack import PROGRAMS, Program

VERSION = "3.0"
# A hyphen, since one test writes it as %2D.
NAME = "test-squares.png"

LEFT_OUT = {
    "quality_grey": "it asks for grey, the name in versions before 2.0; quality_gray is run",
    "quality_bitonal": "bitonal is optional at every level (compliance, section 3.4)",
}


class SizesThatAreNotEnlarged(Test_No_Size_Up):
    """Like the original, except that the original takes `!2000,3000` for a request to enlarge. The
    image "must be as large as possible but not larger than the extracted region" (section 4.2), so
    it is returned at its own size."""

    def run(self, result: ImageAPI) -> ImageAPI:
        side = random.randint(1100, 2000)
        for size in [f"{side},{side}", f",{side}", f"{side},", "pct:200"]:
            self.checkSize(result, size)
        image = result.get_image({"size": "!2000,3000"})
        self.validationInfo.check("size", image.size, (1000, 1000), result)
        return result


class QualityGray(BaseTest):
    """Accepts a `gray` image, as all pixels must be gray."""

    label, level, category, versions = "Gray quality", 2, 5, [VERSION]

    def run(self, result: ImageAPI) -> ImageAPI:
        image = result.get_image({"quality": "gray"}).convert("RGB")
        for _, (red, green, blue) in image.getcolors(maxcolors=1_000_000):
            self.validationInfo.check("gray", red == green == blue, True, result)
        return result


class Quiet(SimpleHTTPRequestHandler):
    """Discards all output."""

    def log_message(self, *_: object) -> None:
        pass


def squares(info: ValidationInfo) -> Image.Image:
    """The validator's test image: a hundred squares, each in its own color."""
    image = Image.new("RGB", (1000, 1000))
    for column, colours in enumerate(info.colorInfo):
        for row, colour in enumerate(colours):
            x, y = 100 * column, 100 * row
            image.paste(colour, (x, y, x + 100, y + 100))
    return image


validator.urlopen = lambda request, timeout: urlopen(request, timeout=max(timeout, SECONDS))


def suite() -> TestSuite:
    made = TestSuite(ValidationInfo())
    made.all_tests["size_noup"] = SizesThatAreNotEnlarged
    made.all_tests["quality_gray"] = QualityGray
    for name in LEFT_OUT:
        del made.all_tests[name]
    return made


def failure(name: str, server: str) -> str | None:
    """Why a test fails; nothing if it passes."""
    result = ImageAPI(NAME, server, version=VERSION, debug=False)
    try:
        result = suite().run_test(name, result)
        said = result.exception
    except Exception as error:  # whatever the response caused
        said = error
    return said and f"{said} ({', '.join(result.urls[-1:])})"


def run(level: int, server: str) -> int:
    """Runs the tests. Returns the number of failures."""
    listed = suite().list_tests(VERSION)
    names = sorted(name for name, facts in listed.items() if facts["level"] <= level)
    failures = {name: failure(name, server) for name in names}
    for name, said in failures.items():
        print(f"iiif: {name}: {f'failed: {said}' if said else 'passed'}")
    for name, reason in LEFT_OUT.items():
        if level > 1:
            print(f"iiif: {name}: left out: {reason}")
    failed = sum(1 for said in failures.values() if said)
    print(f"iiif: level {level}: {len(names) - failed} of {len(names)} tests passed")
    return failed


def main() -> int:
    level = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    folder = Path(tempfile.mkdtemp(prefix="ib-", dir="/tmp"))
    (folder / "files").mkdir()
    squares(ValidationInfo()).save(folder / "files" / NAME)
    origin = ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(Quiet, directory=str(folder / "files"))
    )
    threading.Thread(target=origin.serve_forever, daemon=True).start()
    place = f"127.0.0.1:{origin.server_port}"
    stack = Program(
        PROGRAMS / "imagebus", "serve", "--decode", "1", "--transform", "1",
        "--runtime-dir", folder / "run", "--cache-dir", folder / "cache",
        "--allow-address", place, "--gateway", "127.0.0.1:0", "--gateway-grammar", "iiif",
        "--gateway-iiif-source", f"http://{place}/{{id}}",
        said="^gateway http",
    )  # fmt: skip
    try:
        return min(run(level, re.search(r"http://([^/]+)", stack.line)[1]), 1)
    finally:
        stack.stop()
        origin.shutdown()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
