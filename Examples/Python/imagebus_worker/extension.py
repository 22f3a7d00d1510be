"""The interface between the session and a plug-in."""

from __future__ import annotations

from typing import Protocol

import imagebus_pb2 as pb
from imagebus_worker.inputs import Inputs
from imagebus_worker.report import Report


class Extension(Protocol):
    """One kind of work. `credit` jobs run at a time, each in its own thread."""

    credit: int
    answers_at_once: bool
    """Whether a cancelled job ends at once, while its thread may finish at any time. Otherwise a
    function that ignores a cancel ends the process."""

    @property
    def capabilities(self) -> pb.Capabilities: ...

    def bytes_max(self, job: pb.Job) -> int:
        """The maximum size of its result in bytes."""
        ...

    def perform(
        self, job: pb.Job, report: Report, inputs: Inputs
    ) -> tuple[pb.Outcome, memoryview | None]:
        """Performs a job. Returns its outcome without the reference to its bytes, and the bytes, if
        any."""
        ...

    def refer(self, outcome: pb.Outcome, reference: pb.Reference) -> None:
        """Sets the reference to the bytes in the outcome."""
        ...
