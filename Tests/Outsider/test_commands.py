"""README's commands, as written, with a real stack."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path

from documents import code, commands, replaced
from example_stack import PROGRAMS, SECONDS, ExampleTests, png

# Options that the stack of the tests provides.
BEFORE = [
    "scripts/setup --build", "scripts/build", "export PATH=$PWD/.build/release:$PATH",
    "imagebus serve &",
]  # fmt: skip


class CommandTests(ExampleTests):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.origin.pictures["/icon.png"] = png(180, 120, 1)
        cls.folder = Path(tempfile.mkdtemp(prefix="ib-", dir="/tmp"))
        cls.addClassCleanup(subprocess.run, ["rm", "-r", cls.folder], check=True)
        cls.environment = {
            "PATH": f"{PROGRAMS}:{os.environ['PATH']}",
            "IMAGEBUS_RUNTIME_DIR": str(cls.stack.runtime_dir),
            "IMAGEBUS_SECONDS": "1",  # for each part of a bench
        }

    def run_command(self, command: str) -> str:
        ended = subprocess.run(
            ["bash", "-c", f"exec {command}"], cwd=self.folder, env=self.environment, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            timeout=4 * SECONDS,
        )  # fmt: skip
        self.assertEqual(ended.returncode, 0, f"{command}: {ended.stdout}")
        return ended.stdout

    def watch(self, command: str) -> str:
        """The first line of a command that runs until its output is closed."""
        return self.run_command(f"timeout {SECONDS} bash -c '{command} | head -n 1'")

    def test_the_commands_of_the_readme_do_what_they_say(self) -> None:
        all_of_them = commands("README.md", "Use it from the command line")
        self.assertEqual(all_of_them[: len(BEFORE)], BEFORE)
        load, turn, watch, *others = all_of_them[len(BEFORE) :]
        self.run_command(replaced(load, url=self.origin.url("/icon.png")))
        self.assertEqual((self.folder / "icon.webp").read_bytes()[8:12], b"WEBP")
        turned = json.loads(self.run_command(turn))
        self.assertEqual((turned["width"], turned["height"]), (128, 128))
        self.assertEqual((self.folder / "turned.png").stat().st_size, turned["bytes"])
        self.assertIn("requests", self.watch(watch))
        said = {command: self.run_command(command) for command in others}
        self.assertIn("imagebus_requests", said["imagebus status --prometheus"])
        self.assertIn("hit (async)", said["imagebus bench hit --private"])
        self.assertEqual(len(said), 4, "another command needs another line here")

    def test_the_configuration_of_the_readme_is_accepted(self) -> None:
        (self.folder / "FILE").write_text(code("README.md", "yaml"))
        self.run_command("imagebus config check FILE")
