"""A Valkey or Redis server on a temporary socket, for tests and benchmarks."""

from __future__ import annotations

import shutil
import signal
import subprocess
import time
from pathlib import Path

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from example_stack import SECONDS

PROGRAM = shutil.which("valkey-server") or shutil.which("redis-server")


class Storage:
    """An in-memory server that can be stopped and killed."""

    def __init__(self, folder: Path) -> None:
        self.place = str(folder / "server.sock")
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        assert PROGRAM is not None
        command = [
            PROGRAM, "--port", "0", "--unixsocket", self.place, "--save", "",
            "--appendonly", "no", "--dir", str(self._folder),
        ]  # fmt: skip
        with open(self._folder / "server.log", "ab") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        end = time.monotonic() + SECONDS
        while True:
            try:
                self.tell("PING")
                return
            except redis.ConnectionError:
                if (status := self._process.poll()) is not None:
                    said = (self._folder / "server.log").read_text(errors="replace").splitlines()
                    reason = said[-1] if said else "it wrote nothing"
                    raise AssertionError(f"{PROGRAM} ended (exit {status}): {reason}") from None
                if time.monotonic() > end:
                    raise
                time.sleep(0.01)

    def tell(self, *words: object, password: str | None = None) -> object:
        with redis.Redis(
            unix_socket_path=self.place, password=password, socket_timeout=SECONDS,
            retry=Retry(NoBackoff(), 0), protocol=2,
        ) as server:  # fmt: skip
            return server.execute_command(*words)

    def halt(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(SECONDS)
            self._process = None
