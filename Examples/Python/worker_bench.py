"""A stack with external pools and workers in a test's event loop."""

from __future__ import annotations

import asyncio
import logging
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Callable, Sequence
from pathlib import Path

from example_stack import SECONDS, Origin, Stack
from imagebus import ImagebusError
from imagebus.aio import Client
from imagebus_worker import Loaded, Loader, Report, Worker
from imagebus_worker.extension import Extension
from imagebus_worker.segments import arena_folder

logging.getLogger("asyncio").setLevel(logging.ERROR)
logging.getLogger("imagebus.worker").setLevel(logging.CRITICAL)
HERE = Path(__file__).parent
CONFIGURATION = """
pools:
  photos: {kind: download, trust: external, schemes: [photos], credit: 4}
  cards: {kind: decode, trust: external, formats-in: [qoi]}
  other: {kind: download, trust: external, schemes: [photos, other], credit: 4}
  marks: {kind: transform, trust: external, steps: [test.step]}
  watermark: {kind: transform, trust: external, steps: [examples.watermark]}
loaders:
  other: {kind: pool, pool: other}
  photos: {kind: pool, pool: photos, match: "photos://album*/*"}
"""


class WorkerTests(unittest.IsolatedAsyncioTestCase):
    origin: Origin
    stack: Stack
    folder: Path
    configuration = CONFIGURATION

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(tempfile.mkdtemp(prefix="ib-", dir="/tmp"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        configuration = cls.folder / "imagebus.yaml"
        configuration.write_text(cls.configuration)
        cls.origin = Origin()
        cls.addClassCleanup(cls.origin.stop)
        cls.stack = Stack(cls.origin, "--config", str(configuration))
        cls.addClassCleanup(cls.stack.remove)
        cls.stack.start()

    @property
    def arena(self) -> Path:
        return arena_folder(self.stack.runtime_dir, "photos")

    def client(self) -> Client:
        return Client(self.stack.runtime_dir, "mapped")

    def launch(
        self, program: str, pool: str, *arguments: str | Path, prefix: Sequence[str] = ()
    ) -> subprocess.Popen[bytes]:
        """Runs one of the example programs as a process until the test ends."""
        return self._launch([*prefix, sys.executable, HERE / program], pool, *arguments)

    def launch_extension(self, module: str, expression: str, pool: str) -> subprocess.Popen[bytes]:
        """Runs a test's plug-in as a process: a process has only one session as a worker."""
        code = f"import {module}, imagebus_worker; imagebus_worker.run({module}.{expression})"
        return self._launch([sys.executable, "-c", code], pool)

    def _launch(
        self, program: list[str | Path], pool: str, *arguments: str | Path
    ) -> subprocess.Popen[bytes]:
        place = ["--runtime-dir", self.stack.runtime_dir, "--pool", pool]
        command = [*program, *place, *arguments]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(self.end, process)
        return process

    def end(self, process: subprocess.Popen[bytes]) -> None:
        if process.poll() is None:
            process.kill()
        process.wait(SECONDS)

    async def until(self, what: str, condition: Callable[[], bool]) -> None:
        """Polls for conditions without a notification, such as removed files."""
        deadline = asyncio.get_running_loop().time() + SECONDS
        while not condition():
            self.assertLess(asyncio.get_running_loop().time(), deadline, what)
            await asyncio.sleep(0.01)

    async def assert_fails(self, domain: str | int, number: int, load: object) -> ImagebusError:
        with self.assertRaises(ImagebusError) as caught:
            await load
        error = caught.exception
        said = (error.domain, error.number) if error.domain else (error.code, error.code)
        self.assertEqual(said, (domain, number), error)
        return error


class Working:
    """A worker in the event loop of a test."""

    def __init__(self, extension: Extension, stack: Stack, pool: str = "photos") -> None:
        self.welcomes = 0
        self.worker = Worker(extension, stack.runtime_dir, pool, on_welcome=self._count)

    def _count(self) -> None:
        self.welcomes += 1

    async def __aenter__(self) -> Worker:
        self._task = asyncio.create_task(self.worker.work())
        return self.worker

    async def __aexit__(self, *_: object) -> None:
        self.worker.terminate()
        async with asyncio.timeout(SECONDS):
            self.status = await self._task


class Serving(Working):
    """A worker that was welcomed: loads skip a cache without a worker."""

    async def __aenter__(self) -> Worker:
        worker = await super().__aenter__()
        try:
            async with asyncio.timeout(SECONDS):
                while self.welcomes == 0 and not self._task.done():
                    await asyncio.sleep(0.001)
        except TimeoutError:
            await self.__aexit__()
            raise
        return worker


class Function(Loader):
    """A loader with a function of a test."""

    schemes = ("photos", "other")

    def __init__(self, function: Callable[[str, Report], bytes | Loaded]) -> None:
        self._function = function
        self.headers: list[tuple[str, str]] = []

    def load(
        self, url: str, headers: Sequence[tuple[str, str]], report: Report
    ) -> bytes | Loaded:
        self.headers = list(headers)
        return self._function(url, report)
