"""Programs that tests start, each in its own session, so that a whole machine can be killed at
once.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
from contextlib import suppress
from pathlib import Path

SECONDS = 60  # the timeout for expected events


class Process:
    """A program that prints a line when it is ready; everything that it starts ends with it."""

    def __init__(
        self, *command: str | Path, said: str, environment: dict[str, str] | None = None
    ) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace", start_new_session=True,
            env={**os.environ, **(environment or {})},
        )  # fmt: skip
        self._name = str(command[0])
        self._lines: list[str] = []
        self._has_ended = False
        self._more = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.line = self._await(said)

    @property
    def session(self) -> int:
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def lines(self) -> list[str]:
        """Its output so far."""
        with self._more:
            return list(self._lines)

    def signal(self, number: int) -> None:
        """Sends a signal to all of its processes."""
        for pid in pids_of(self.session):
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def kill(self) -> None:
        """Kills all of its processes at once, like a power failure."""
        while pids_of(self.session):
            self.signal(signal.SIGKILL)
        self._end()

    def stop(self) -> None:
        """Asks it to end, and waits until it has."""
        with suppress(ProcessLookupError):
            self._process.terminate()
        try:
            self._process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            pass
        self.kill()

    def _end(self) -> None:
        self._process.wait(SECONDS)
        self._reader.join(SECONDS)
        self._process.stdout.close()

    def _read(self) -> None:
        for line in self._process.stdout:
            with self._more:
                self._lines.append(line.rstrip())
                self._more.notify_all()
        with self._more:
            self._has_ended = True
            self._more.notify_all()

    def _await(self, said: str) -> str:
        def found() -> str | None:
            return next((one for one in self._lines if re.search(said, one)), None)

        with self._more:
            self._more.wait_for(lambda: found() or self._has_ended, SECONDS)
            line, last = found(), self._lines[-3:]
        if line is None:
            self.stop()
            raise AssertionError(f"{self._name} did not say {said!r}: {last}")
        return line


def pids_of(session: int) -> list[int]:
    """The running processes of a session."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with suppress(OSError):
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == session and fields[0] not in "ZX":
                found.append(int(entry.name))
    return found


def cpu_seconds(session: int) -> float:
    """The CPU time of the running processes of a session, user and system."""
    ticks = 0
    for pid in pids_of(session):
        with suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")
