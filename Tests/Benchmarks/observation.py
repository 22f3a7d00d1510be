"""Runs programs of a stack under valgrind's callgrind, which counts instructions instead of time.

Counts depend on the machine far less than times do, so they reveal small changes even on a busy
one. Requires Debian's valgrind and binutils.
"""

import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import time

TIMEOUT_SECONDS = 120


class ObservationError(Exception):
    """A program did not start, or callgrind wrote no counts."""


class ObservedPrograms:
    """Copies of programs in `directory`. Those named `observed` run under callgrind."""

    def __init__(self, programs, directory, observed):
        self.directory = directory
        directory.mkdir()
        for program in programs.glob("imagebus*"):
            if program.is_file() and program.suffix == "":
                shutil.copy(program, directory)
        for program in observed:
            self._observe(directory / program)

    def _observe(self, program):
        real = program.with_suffix(".observed")
        program.rename(real)
        # The addresses stay; reading debug information would take minutes.
        subprocess.run(["strip", "--strip-debug", real], check=True)
        program.write_text(
            "#!/bin/sh\n"
            "exec valgrind --tool=callgrind --demangle=no --quiet "
            f"--callgrind-out-file={program}.calls.%p {real} \"$@\"\n")
        program.chmod(0o755)

    def path(self, program):
        return self.directory / program

    def calls(self, program):
        """Returns the files of counts of a program: dumps, and the counts after the last one."""
        found = sorted(self.directory.glob(f"{program}.calls.*"))
        if not found:
            raise ObservationError(f"callgrind wrote nothing for {program}")
        return found

    def instructions(self, program):
        """Returns all instructions of a program, including its libraries."""
        return sum(instructions(path) for path in self.calls(program))

    @contextlib.contextmanager
    def stack(self, work):
        """Starts a stack of these programs with empty caches; yields the arguments that name it."""
        runtime = work / "runtime"
        runtime.mkdir(mode=0o700)
        stack = ["--runtime-dir", str(runtime)]
        tool = self.path("imagebus")
        serve = subprocess.Popen(
            [tool, "serve", *stack, "--cache-dir", work / "cache", "--allow-private-networks",
             "--memory-limit", "256M", "--log-requests", "none"], stderr=subprocess.DEVNULL,
            # $IMAGEBUS_PROGRAMS would make it start other programs than these copies.
            env={k: v for k, v in os.environ.items() if not k.startswith("IMAGEBUS_")})
        try:
            self.wait_until_healthy(stack)
            yield stack
        finally:
            self._dump()
            serve.terminate()
            serve.wait(timeout=TIMEOUT_SECONDS)

    def _dump(self):
        """Writes the counts now: a process under callgrind may be too slow to end by itself."""
        found = subprocess.run(
            ["pgrep", "--full", f"{self.directory}/.*[.]observed"], capture_output=True, text=True)
        for process in found.stdout.split():
            subprocess.run(["callgrind_control", "--dump", process], capture_output=True)

    def wait_until_healthy(self, stack):
        end = time.monotonic() + TIMEOUT_SECONDS
        health = [self.path("imagebus"), "health", *stack]
        while subprocess.run(health, capture_output=True).returncode != 0:
            if time.monotonic() > end:
                raise ObservationError("the stack is not healthy; try `imagebus serve`")
            time.sleep(0.2)


def instructions(path):
    """Returns the total instructions in a callgrind file, including libraries."""
    text = pathlib.Path(path).read_text(encoding="utf-8")
    found = re.findall(r"^(?:totals|summary): (\d+)", text, re.M)
    if not found:
        raise ObservationError(f"{path} has no total")
    return int(found[-1])
