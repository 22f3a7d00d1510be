"""Reads image files through a stack: `imagebus get` with local:// URLs."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import quote

from picture import Picture, Refused, read_pam
from web_stack import PROGRAMS, Program

#: Less than the timeout of readers in a separate process, so that an error names the slow part.
TIMEOUT = "15s"


class Imagebus:
    """`imagebus serve` with its own directories, which can read the files below one folder."""

    def __init__(self, root: Path, *options: str) -> None:
        self._root = root
        self._options = options
        self._folder = Path(tempfile.mkdtemp(prefix="ib-", dir="/tmp"))
        self._runtime = self._folder / "run"
        self._stack = Program(
            PROGRAMS / "imagebus", "serve", "--decode", "2", "--transform", "1", "--vector", "1",
            "--runtime-dir", self._runtime, "--cache-dir", self._folder / "cache",
            "--local-root", root, "--gateway", "127.0.0.1:0", "--gateway-unsigned",
            "--log-requests", "none",
            said="^gateway http",
        )  # fmt: skip
        self.gateway = self._stack.line.split()[-1].rstrip("/")

    def remove(self) -> None:
        self._stack.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def url(self, path: Path) -> str:
        return "local:///" + quote(str(path.relative_to(self._root)))

    def get(self, path: Path, *options: str) -> tuple[dict, bytes]:
        """The reply of `imagebus get` and the image; raises `Refused` with the error's name."""
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "out"
            output = [] if "--info" in options else ["-o", out]
            ended = subprocess.run(
                [PROGRAMS / "imagebus", "get", self.url(path), "--json", *output, *options,
                 "--timeout", TIMEOUT, "--runtime-dir", self._runtime],
                stdin=subprocess.DEVNULL, capture_output=True, text=True,
            )  # fmt: skip
            try:
                reply = json.loads(ended.stdout)
            except ValueError:
                reply = {}
            if error := reply.get("error"):
                detail = error["details"].get("reason") or error["message"]
                raise Refused(error["name"], detail)
            if ended.returncode != 0:
                raise Refused(f"exit status {ended.returncode}", ended.stderr.strip()[-200:])
            return reply, out.read_bytes() if output else b""

    def read(self, path: Path) -> Picture:
        """The first image, and also the last frame of an animation."""
        reply, data = self.get(path, "--format", "pam", *self._options)
        frames, last = reply["stillOf"] or 1, None
        if frames > 1:
            try:
                options = "--frame", str(frames - 1), "--format", "pam", *self._options
                last = read_pam(self.get(path, *options)[1])
            except Refused:
                pass  # pages aren't frames
        return Picture(read_pam(data), frames, last)
