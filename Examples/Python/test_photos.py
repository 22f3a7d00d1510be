"""The example loader with a real stack, in processes that are killed and stopped."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from example_stack import SECONDS, png
from worker_bench import WorkerTests

DOMAIN = "SDWebImagePhotosErrorDomain"
# Drops the capabilities with which root could read every file.
UNPRIVILEGED = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] * (os.getuid() == 0)


class PhotosTests(WorkerTests):
    """The example, in processes of its own."""

    def setUp(self) -> None:
        self.library = Path(tempfile.mkdtemp(prefix="ib-photos-", dir="/tmp"))
        self.addCleanup(shutil.rmtree, self.library)
        (self.library / "album").mkdir()
        self.picture = png(320, 200, 10)
        (self.library / "album" / "a b.png").write_bytes(self.picture)

    def start(self) -> subprocess.Popen[bytes]:
        arguments = "--folder", self.library
        return self.launch("photos_loader.py", "photos", *arguments, prefix=UNPRIVILEGED)

    async def test_photos_are_loaded_and_failures_have_their_numbers(self) -> None:
        process = self.start()
        secret = self.library / "secret.png"
        secret.write_bytes(self.picture)
        (self.library / "album" / "link.png").symlink_to(secret)
        (self.library / "album" / "folder.png").mkdir()
        async with self.client() as client:
            image = await client.load("photos://album/a%20b.png")
            self.assertTrue(image.data == self.picture)
            for url, number in {
                "photos://album/none.png": 10001,
                "photos://album/..%2Fsecret.png": 10001,
                "photos://album/link.png": 10001,
                "photos://album/.previews": 10001,
                "photos://album/folder.png": 10002,
                "photos://album/notes.txt": 10002,
            }.items():
                with self.subTest(url=url):
                    await self.assert_fails(DOMAIN, number, client.load(url))
        process.terminate()
        self.assertEqual(await asyncio.to_thread(process.wait, SECONDS), 0)

    async def test_what_may_not_be_read_is_not_authorized(self) -> None:
        (self.library / "album" / "a b.png").chmod(0)
        self.start()
        async with self.client() as client:
            load = client.load("photos://album/a%20b.png?forbidden")
            await self.assert_fails(DOMAIN, 10003, load)

    async def test_one_that_is_killed_leaves_nothing_and_its_loads_go_on(self) -> None:
        """Killed while stopped, so that it certainly holds the job."""
        first = self.start()
        async with self.client() as client:
            await client.load("photos://album/a%20b.png?alive")
            os.kill(first.pid, signal.SIGSTOP)
            task = asyncio.create_task(client.load("photos://album/a%20b.png?again"))
            await self.until("the job is at a worker", self.holds_a_job)
            left = self.arena / f"{'ab' * 16}.7"
            left.write_bytes(bytes(128))  # as a killed process leaves it
            first.kill()
            await asyncio.to_thread(first.wait, SECONDS)
            self.start()
            image = await task
            self.assertTrue(image.data == self.picture)
            self.assertFalse(left.exists(), "what one left that was killed is swept")

    async def test_one_that_is_halted_costs_the_load_its_time_and_no_more(self) -> None:
        first = self.start()
        async with self.client() as client:
            await client.load("photos://album/a%20b.png?awake")
            os.kill(first.pid, signal.SIGSTOP)
            load = client.load("photos://album/a%20b.png?halted", timeout=1)
            await self.assert_fails(3002, 3002, load)
            os.kill(first.pid, signal.SIGCONT)
            image = await client.load("photos://album/a%20b.png?after")
            self.assertTrue(image.data == self.picture)

    def holds_a_job(self) -> bool:
        status = json.loads(self.stack.run("status", "--json"))
        return any(pool["name"] == "photos" and pool["jobs"] > 0 for pool in status["pools"])
