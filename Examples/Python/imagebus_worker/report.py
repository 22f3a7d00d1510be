"""What the function of an author says while it works, and what it is told."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from imagebus_worker.failure import Cancelled

PAUSE = 0.02  # seconds between two messages about progress
COUNT_MAX = (1 << 64) - 1


class Report:
    """Called from the thread of the function. `tell` passes a message on to the session."""

    def __init__(
        self,
        seconds: float,
        bytes_max: int,
        tell: Callable[[int, int], object],
        show: Callable[[bytes], object],
    ) -> None:
        self.bytes_max = bytes_max
        """Bytes of the result at most."""
        self._tell, self._show = tell, show
        self._cancelled = threading.Event()
        self._deadline = time.monotonic() + seconds
        self._told = 0.0
        self.wants_preview = False

    @property
    def is_cancelled(self) -> bool:
        return self._cancelled.is_set()

    @property
    def seconds_left(self) -> float:
        """Until nobody waits any more."""
        return max(0.0, self._deadline - time.monotonic())

    def check(self) -> None:
        """Raises `Cancelled` where nobody wants the work any more. Call it often."""
        if self.is_cancelled:
            raise Cancelled

    def wait_until_cancelled(self, seconds: float) -> None:
        """Waits, at most so long, for whoever waits for something else in turns."""
        if self._cancelled.wait(seconds):
            raise Cancelled

    def __call__(self, received: int, expected: int = 0) -> None:
        """How far it is, in whatever unit; 0 expected: not known. Raises `Cancelled`."""
        self.check()
        if not 0 <= received <= COUNT_MAX or not 0 <= expected <= COUNT_MAX:
            raise ValueError("progress must be two 64-bit numbers")
        now = time.monotonic()
        if now - self._told >= PAUSE or received == expected:
            self._told = now
            self._tell(received, expected)

    def preview(self, data: bytes) -> None:
        """A whole image that stands in for the one to come, where somebody shows such meanwhile:
        each with more bytes than the one before. Raises `Cancelled`."""
        self.check()
        if self.wants_preview and 0 < len(data) <= self.bytes_max:
            self._show(bytes(data))

    # ---- For the session

    def cancel(self) -> None:
        self._cancelled.set()

    def give(self, seconds: float) -> None:
        self._deadline = time.monotonic() + seconds
