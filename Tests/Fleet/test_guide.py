"""Follows docs/fleet.md as written."""

from __future__ import annotations

import re
import shutil
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import guide
from fleet import REPOSITORY, Network, until
from origin import Origin
from pictures import jpeg


class GuideTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.origin = Origin(jpeg(640, 480))
        cls.addClassCleanup(cls.origin.stop)
        cls.picture = cls.origin.url("/icon.jpg")
        folder = Path(tempfile.mkdtemp(prefix="ib-", dir="/tmp"))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        folder.chmod(0o755)
        network = Network()
        cls.hosts = {}
        for number in (10, 11, 12, 13):
            cls.hosts[number] = guide.Host(folder, network, number, cls.origin.place)
            cls.addClassCleanup(cls.hosts[number].stop)
            cls.hosts[number].change_network(guide.network_command())

    def follow(self, numbers: list[int], block: str) -> list[str]:
        self.assertNotIn("origin", block)
        return [
            self.hosts[number].follow(block.replace(guide.PICTURE, self.picture))
            for number in numbers
        ]

    def copy_secrets(self) -> None:
        for number in (11, 12, 13):
            shutil.copytree(
                self.hosts[10].checkout / "secrets", self.hosts[number].checkout / "secrets")

    def counts(self, block: tuple[list[int], str]) -> dict[str, int]:
        """HAProxy's number of requests to each machine."""
        rows = [line.split(",") for line in self.follow(*block)[0].split()]
        return {name: int(number) for name, number in rows}

    def gets(self) -> int:
        return self.origin.gets["/icon.jpg"]

    def test_the_commands_do_what_the_text_says(self) -> None:
        first, stacks, proxy, look, count, ask, kill, nginx, remove = guide.blocks()
        self.follow(*first)
        self.copy_secrets()
        for said in self.follow(*stacks):
            self.assertTrue(said.endswith("ready\n"), said)
        states = self.follow(*proxy)[0].split("\n")[:-1]
        self.assertEqual(states[0], "Configuration file is valid")
        self.assertEqual(states[1:], [f"machine{n},UP" for n in (1, 2, 3)] + ["BACKEND,UP"])

        said = self.follow(*look)[0].split("\n")
        self.assertEqual(said[0], "200 origin")
        found = [line.partition(": ")[2] for line in said[1:4]]
        self.assertEqual(sorted(found), ["200 disk", "200 disk", "200 memory"])
        self.assertEqual(self.gets(), 1)

        counts = self.counts(count)
        self.assertEqual(counts["BACKEND"], 1)
        serving = next(n for n in (1, 2, 3) if counts[f"machine{n}"] == 1)
        lost = self.hosts[10 + serving]
        with ThreadPoolExecutor() as threads:
            asking = threads.submit(self.follow, *ask)
            until(lambda: self.counts(count)[f"machine{serving}"] > 20, "the machine is used")
            lost.follow(kill[1])
            self.assertEqual(asking.result()[0].split(), ["100", "200"])
        self.assertEqual(self.gets(), 1, "its sources come from the shared cache")

        self.assertEqual(self.follow(*nginx), ["ready\n"])
        self.assertFalse(self.hosts[10].services["haproxy"].is_running)
        self.assertEqual(self.follow(*ask)[0].split(), ["100", "200"])

        lost.start_stack()
        until(lost.has_shared_cache, "the worker of the shared cache is connected")
        self.follow(*remove)
        look_again = look[1].replace("rs:fit:300:300", "rs:fit:301:301")
        self.follow(look[0], look_again)
        self.assertEqual(self.gets(), 2)

    def test_packages_are_those_that_the_tests_have(self) -> None:
        listed = (REPOSITORY / "scripts/setup").read_text()
        wanted = re.findall(r"apt-get install --yes (.+)", guide.DOCUMENT.read_text())
        self.assertEqual(len(wanted), 3)
        for package in " ".join(wanted).split():
            self.assertRegex(listed, rf"={package}\s")


if __name__ == "__main__":
    unittest.main()
