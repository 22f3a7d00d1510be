"""Follows docs/fleet.md as written."""

from __future__ import annotations

import re
import shutil
import tempfile
import unittest
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

    def gets(self) -> int:
        return self.origin.gets["/icon.jpg"]

    def test_the_commands_do_what_the_text_says(self) -> None:
        first, stacks, proxy, look, kill, ask, nginx, remove = guide.blocks()
        self.follow(*first)
        self.copy_secrets()
        for said in self.follow(*stacks):
            self.assertTrue(said.endswith("ready\n"), said)
        states = self.follow(*proxy)[0].split("\n")[:-1]
        self.assertEqual(states[0], "Configuration file is valid")
        self.assertEqual(states[1:], [f"machine{n},UP" for n in (1, 2, 3)] + ["BACKEND,UP"])

        said = self.follow(*look)[0].split("\n")
        self.assertRegex(said[0], "^HTTP/1.1 200")
        self.assertRegex(said[1].lower(), "^x-cache: origin")
        for line in said[2:5]:
            self.assertRegex(line.lower(), "^x-cache: (memory|disk)")
        self.assertEqual(self.gets(), 1)

        self.follow(*kill)
        self.assertEqual(self.follow(*ask)[0].split(), ["51", "200"])
        self.assertEqual(self.gets(), 1, "its sources come from the shared cache")

        self.hosts[10].services["haproxy"].stop()
        self.follow(*nginx)
        self.assertEqual(self.follow(*ask)[0].split(), ["51", "200"])

        self.hosts[12].start_stack()
        until(self.hosts[12].has_shared_cache, "the worker of the shared cache is connected")
        self.follow(*remove)
        look_again = look[1].replace("rs:fit:300:300", "rs:fit:301:301")
        self.follow(look[0], look_again)
        self.assertEqual(self.gets(), 2)

    def test_packages_are_those_that_the_tests_have(self) -> None:
        listed = (REPOSITORY / "scripts/setup").read_text()
        wanted = re.findall(r"apt-get install --yes (.+)", guide.DOCUMENT.read_text())
        self.assertEqual(len(wanted), 2)
        for package in " ".join(wanted).split():
            self.assertRegex(listed, rf"={package} ")


if __name__ == "__main__":
    unittest.main()
