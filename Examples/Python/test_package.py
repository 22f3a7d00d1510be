"""The package as installed by users: by pip into a new environment, and used by a program outside
of it, with a real stack."""

from __future__ import annotations

import inspect
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
import unittest
import venv
from pathlib import Path

import imagebus
from example_stack import SECONDS, ExampleTests, png
from imagebus import aio

HERE = Path(__file__).resolve().parent
MESSAGES = HERE.parents[1] / "Proto" / "imagebus.proto"
PATIENCE = 300  # seconds for pip, which is slow on a busy machine

PROGRAM = """
import asyncio, sys
from contextlib import aclosing
from importlib import metadata, resources
from pathlib import Path
import imagebus, imagebus_pb2, imagebus_worker
from imagebus import Client, Loaded, Options, Progress, Tiers, aio, errors, new_token, resize

runtime, url, gated, hanging, missing = sys.argv[1:]
for module in imagebus, imagebus_pb2, imagebus_worker:
    assert Path(module.__file__).is_relative_to(sys.prefix), module.__file__
for package in imagebus, imagebus_worker:
    assert resources.files(package).joinpath("py.typed").is_file(), package
print(metadata.version("imagebus"), sorted(metadata.metadata("imagebus").get_all("Provides-Extra")))

with Client(runtime, connect_timeout=60) as client:
    small = client.load(url, resize(64, 64), format="png")
    print(small.format, small.pillow().size)
    try:
        client.load("http://127.0.0.1:1/")
    except errors.AddressForbidden as error:
        print(error.name)

async def main():
    async with aio.Client(runtime, connect_timeout=60) as client:
        pixels = (await client.load(url, format="pam")).pixels
        print(pixels.size, pixels.mode, pixels.stride)
        await prefetch(client)
        await show_progress(client)
        await cancel(client)

async def prefetch(client):
    report = await client.prefetch([url, missing], resize(32, 32), format="webp")
    print(report.finished, report.skipped, report.errors)
    tiny = await client.load(url, resize(32, 32), format="webp", options=Options.FROM_CACHE_ONLY)
    print(tiny.cache_type is Tiers.MEMORY, tiny.width, tiny.height)
    try:
        await client.load(url, resize(31, 31), options=Options.FROM_CACHE_ONLY, query=Tiers.MEMORY)
    except errors.CacheMiss:
        print("not there")

async def show_progress(client):
    was_told = False
    async with aclosing(client.events(gated, previews=False)) as events:
        async for event in events:
            match event:
                case Progress(received, expected) if 0 < received < expected and not was_told:
                    was_told = True
                    print(f"some of {expected} bytes", flush=True)
                case Loaded(image):
                    print(f"all {len(image.data)} bytes", flush=True)

async def cancel(client):
    token, has_begun = new_token(), asyncio.Event()
    def note(received, expected):
        if received:
            has_begun.set()
    load = asyncio.create_task(client.load(hanging, token=token, progress=note))
    await has_begun.wait()
    client.cancel(token)
    try:
        await load
    except errors.Cancelled as error:
        print(error.name, flush=True)
    sys.stdin.readline()  # the client is open still
    print((await client.load(url, info_only=True)).format)

asyncio.run(main())
"""


def copied_to(folder: Path) -> Path:
    """Copies the checked-in files: pip builds inside the source folder, and leaves its output
    there."""
    sources = folder / "Examples" / "Python"
    ignored = shutil.ignore_patterns(".venv", "__pycache__", "build", "*.egg-info", "imagebus_pb2*")
    shutil.copytree(HERE, sources, ignore=ignored)
    (folder / "Proto").mkdir()
    shutil.copy(MESSAGES, folder / "Proto")
    return sources


class InterfaceTests(unittest.TestCase):
    def test_what_is_public_has_types_and_sentences(self) -> None:
        public = [getattr(imagebus, name) for name in imagebus.__all__]
        kinds = [value for value in public if inspect.isclass(value)] + [aio.Client, aio.Operator]
        functions = [value for value in public if inspect.isfunction(value)]
        for kind in kinds:
            members = inspect.getmembers(kind, inspect.isfunction)
            own = [value for name, value in members if value.__module__.startswith("imagebus.")]
            functions += [value for value in own if value.__name__[0].isalpha()]
        self.assertGreater(len(functions), 12)
        for value in functions:
            with self.subTest(value.__qualname__):
                self.assertTrue(value.__doc__)
                signature = inspect.signature(value)
                self.assertIsNot(signature.return_annotation, inspect.Signature.empty)
                for name, parameter in signature.parameters.items():
                    if name != "self":
                        self.assertIsNot(parameter.annotation, inspect.Parameter.empty, name)

    def test_both_clients_take_the_same(self) -> None:
        shared = "__init__", "load", "upload", "events", "prefetch", "cancel"
        operators = "put", "tiers", "remove", "clear", "counts"
        for name in shared + operators:
            with self.subTest(name):
                waiting = inspect.signature(getattr(imagebus.Operator, name)).parameters
                asynchronous = inspect.signature(getattr(aio.Operator, name)).parameters
                self.assertEqual(list(waiting.values()), list(asynchronous.values()))


class PackageTests(ExampleTests):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="ib-", dir="/tmp"))
        self.addCleanup(shutil.rmtree, self.folder)
        variables = {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE"}
        self.environment = {n: v for n, v in os.environ.items() if n not in variables}
        self.environment["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"

    def run_command(self, *command: str | Path) -> str:
        ended = subprocess.run(
            command, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=PATIENCE,
        )  # fmt: skip
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        return ended.stdout

    def fresh_python(self) -> Path:
        """An environment with the package's dependencies from this one, but without the package."""
        place = self.folder / "environment"
        venv.create(place, with_pip=False)
        paths = sysconfig.get_paths(vars={"base": str(place), "platbase": str(place)})
        Path(paths["purelib"], "needed.pth").write_text(sysconfig.get_path("purelib") + "\n")
        return place / "bin" / "python"

    def test_a_program_from_outside_uses_what_pip_installed(self) -> None:
        python = self.fresh_python()
        sources = copied_to(self.folder / "checkout")
        self.run_command(
            python, "-m", "pip", "install", "--quiet", "--no-index", "--no-build-isolation",
            "--no-deps", "--ignore-installed", sources,
        )  # fmt: skip
        program = self.folder / "program.py"
        program.write_text(PROGRAM)
        url, missing = self.serve(png(320, 200, 1)), self.origin.url("/gone.png")
        gated, gate = self.serve_slowly(data := png(320, 200, 2))
        hanging, picture = self.serve_slowly(png(320, 200, 3))
        process = subprocess.Popen(
            [python, program, self.stack.runtime_dir, url, gated, hanging, missing],
            cwd=self.folder, env=self.environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        watch = threading.Timer(PATIENCE, process.kill)
        self.addCleanup(watch.cancel)
        watch.start()
        with process:
            assert process.stdin is not None and process.stdout is not None
            said: list[str] = []
            for line in process.stdout:
                said.append(line.rstrip("\n"))
                if line.startswith("some of "):
                    gate.open()  # without progress the rest never comes
                elif line == "cancelled\n":
                    self.assertTrue(picture.broken.wait(SECONDS), "the transfer goes on")
                    process.stdin.write("\n")
                    process.stdin.flush()
            assert process.stderr is not None
            errors = process.stderr.read()
        self.assertEqual(
            said,
            [
                "0.9.0 ['pillow', 'valkey']", "png (64, 40)",
                "addressForbidden", "(320, 200) RGB 960",
                "2 1 {'invalidDownloadStatusCode': 1}", "True 32 20", "not there",
                f"some of {len(data)} bytes", f"all {len(data)} bytes", "cancelled", "png",
            ],
            errors,
        )  # fmt: skip
        self.assertEqual((process.returncode, self.gets(url)), (0, 1), errors)

    def test_a_distribution_of_sources_builds_without_the_repository(self) -> None:
        sources = copied_to(self.folder / "checkout")
        make = "import setuptools.build_meta as b; print(b.build_sdist({!r}))"
        script = f"import os; os.chdir({str(sources)!r}); {make.format(str(self.folder))}"
        *_, name = self.run_command(sys.executable, "-c", script).splitlines()
        shutil.rmtree(self.folder / "checkout")
        self.run_command(
            sys.executable, "-m", "pip", "wheel", "--quiet", "--no-index", "--no-build-isolation",
            "--no-deps", "--wheel-dir", self.folder, self.folder / name,
        )  # fmt: skip
        (wheel,) = self.folder.glob("*.whl")
        held = self.run_command(sys.executable, "-m", "zipfile", "--list", wheel)
        for file in "imagebus/aio.py", "imagebus/py.typed", "imagebus_pb2.py", "imagebus_pb2.pyi":
            self.assertIn(file, held)


if __name__ == "__main__":
    unittest.main()
