"""Runs functions in separate processes, each with a deadline and a memory limit."""

from __future__ import annotations

import os
import pickle
import resource
import select
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any


class Ended(Exception):
    """The process ended without a result: at its deadline, or by a signal."""


class Run:
    """One call in a forked process. Its result is sent through a pipe."""

    def __init__(
        self, function: Callable[..., Any], *arguments: Any, seconds: float, memory: int
    ) -> None:
        self.deadline = time.monotonic() + seconds
        self._seconds = seconds
        self._received = bytearray()
        self._pipe, writer = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            os.close(self._pipe)
            _work(writer, seconds, memory, function, arguments)
        os.close(writer)
        os.set_blocking(self._pipe, False)

    def fileno(self) -> int:
        return self._pipe

    def is_finished(self) -> bool:
        """Reads what has arrived. True once the process has written everything or is overdue."""
        while True:
            try:
                chunk = os.read(self._pipe, 1 << 20)
            except BlockingIOError:
                return time.monotonic() >= self.deadline
            if not chunk:
                return True
            self._received += chunk

    def result(self) -> Any:
        """Ends the process. Returns what the function returned, or raises what it raised."""
        overdue = time.monotonic() >= self.deadline
        status = self.end()
        try:
            value, error = pickle.loads(self._received)
        except (EOFError, pickle.UnpicklingError):
            if overdue:
                raise Ended(f"no result within {self._seconds:g} s") from None
            raise Ended(f"crashed ({_description(status)})") from None
        if error is not None:
            raise error
        return value

    def end(self) -> int:
        """Ends the process and the programs that it started. Returns its status."""
        try:
            os.killpg(self._pid, signal.SIGKILL)
        except ProcessLookupError:
            os.kill(self._pid, signal.SIGKILL)
        _, status = os.waitpid(self._pid, 0)
        os.close(self._pipe)
        return status


def _work(
    writer: int, seconds: float, memory: int, function: Callable[..., Any], arguments: tuple
) -> None:
    os.setpgid(0, 0)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        # Reaps orphaned processes; threads count individually.
        time_limit = 2 * int(seconds) + 2
        resource.setrlimit(resource.RLIMIT_CPU, (time_limit, time_limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        outcome: tuple[Any, Exception | None] = function(*arguments), None
    except Exception as error:
        outcome = None, error
    try:
        with os.fdopen(writer, "wb") as pipe:
            pickle.dump(outcome, pipe)
    finally:
        os._exit(0)


def _description(status: int) -> str:
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return f"exit status {os.waitstatus_to_exitcode(status)}"


def call(function: Callable[..., Any], *arguments: Any, seconds: float, memory: int) -> Any:
    """The result of one function."""
    run = Run(function, *arguments, seconds=seconds, memory=memory)
    while not run.is_finished():
        select.select([run], [], [], max(0, run.deadline - time.monotonic()))
    return run.result()


def parallel(
    function: Callable[[Any], Any], items: Iterable[Any], *, jobs: int, seconds: float, memory: int
) -> Iterator[tuple[Any, Any]]:
    """Pairs of an item and its result, or the `Ended` of its process, in order of completion."""
    waiting = iter(items)
    running: dict[Run, Any] = {}
    try:
        while True:
            while len(running) < jobs and (item := next(waiting, None)) is not None:
                running[Run(function, item, seconds=seconds, memory=memory)] = item
            if not running:
                return
            first = min(run.deadline for run in running)
            select.select(list(running), [], [], max(0, first - time.monotonic()))
            for run in [run for run in running if run.is_finished()]:
                item = running.pop(run)
                try:
                    yield item, run.result()
                except Ended as end:
                    yield item, end
    finally:
        for run in running:
            run.end()
