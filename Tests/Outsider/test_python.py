"""The program in Examples/Python/README.md, and its command, with a real stack."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from documents import REPOSITORY, commands, program, replaced
from example_stack import SECONDS, ExampleTests, png

EXAMPLE = "Examples/Python/README.md"


class PythonTests(ExampleTests):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.origin.pictures["/icon.png"] = png(180, 120, 1)
        cls.url = cls.origin.url("/icon.png")

    def run_python(self, folder: str, *arguments: str | Path) -> str:
        environment = os.environ | {"IMAGEBUS_RUNTIME_DIR": str(self.stack.runtime_dir)}
        ended = subprocess.run(
            [sys.executable, *arguments], cwd=folder, env=environment,
            capture_output=True, text=True, timeout=SECONDS,
        )  # fmt: skip
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        return ended.stdout

    def test_the_program_of_its_readme_runs(self) -> None:
        runtime = str(self.stack.runtime_dir)
        with tempfile.TemporaryDirectory(prefix="ib-", dir="/tmp") as folder:
            script = Path(folder, "program.py")
            text = replaced(program(EXAMPLE, "python"), url=self.url, runtime=runtime)
            script.write_text(text)
            said = self.run_python(folder, script).splitlines()
            self.assertEqual(said[:3], ["180x120 png", "64x64 webp", "invalidRequest"])
            self.assertEqual(said[-1], "180x120 RGB, 540 bytes per row")
            self.assertEqual(Path(folder, "icon.webp").read_bytes()[8:12], b"WEBP")

    def test_the_command_of_its_readme_runs(self) -> None:
        *_, command = commands(EXAMPLE, "Imagebus from Python")
        _, script, *rest = replaced(command, url=self.url).split()
        script = REPOSITORY / "Examples" / "Python" / script
        with tempfile.TemporaryDirectory(prefix="ib-", dir="/tmp") as folder:
            said = self.run_python(folder, script, *rest)
            (written,) = Path(folder, "thumbnails").iterdir()
            size = written.stat().st_size
            self.assertEqual(said, f"thumbnails/{written.name} 180x120 {size} bytes\n")
