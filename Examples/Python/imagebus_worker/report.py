"""Progress reports of a plug-in's function, and notifications to it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from imagebus_worker.failure import Cancelled

PAUSE = 0.02  # seconds between two progress messages
COUNT_MAX = (1 << 64) - 1


class Report:
    """Called from the function's thread. `tell` passes a message on to the session."""

    def __init__(
        self,
        seconds: float,
        bytes_max: int,
        tell: Callable[[int, int], object],
        show: Callable[[bytes], object],
    ) -> None:
        self.bytes_max = bytes_max
        """`bytes_max`: the maximum size of the result."""
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
        """Seconds until the deadline."""
        return max(0.0, self._deadline - time.monotonic())

    def check(self) -> None:
        """Raises `Cancelled` if the work was cancelled. Call it often."""
        if self.is_cancelled:
            raise Cancelled

    def wait_until_cancelled(self, seconds: float) -> None:
        """Waits for a cancel, up to a time, for callers that poll for something else."""
        if self._cancelled.wait(seconds):
            raise Cancelled

    def __call__(self, received: int, expected: int = 0) -> None:
        """Reports progress in any unit; 0 expected: unknown. Raises `Cancelled`."""
        self.check()
        if not 0 <= received <= COUNT_MAX or not 0 <= expected <= COUNT_MAX:
            raise ValueError("progress must be two 64-bit numbers")
        now = time.monotonic()
        if now - self._told >= PAUSE or received == expected:
            self._told = now
            self._tell(received, expected)

    def preview(self, data: bytes) -> None:
        """Sends a complete image that stands in for the final one, if previews are requested: each
        with more bytes than the previous one. Raises `Cancelled`."""
        self.check()
        if self.wants_preview and 0 < len(data) <= self.bytes_max:
            self._show(bytes(data))

    # ---- For the session

    def cancel(self) -> None:
        self._cancelled.set()

    def give(self, seconds: float) -> None:
        self._deadline = time.monotonic() + seconds
