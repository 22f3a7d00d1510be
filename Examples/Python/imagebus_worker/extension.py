"""What the session needs to know of the work of an author."""

from __future__ import annotations

from typing import Protocol

import imagebus_pb2 as pb
from imagebus_worker.inputs import Inputs
from imagebus_worker.report import Report


class Extension(Protocol):
    """One kind of work. `credit` jobs run at a time, each on a thread of its own."""

    credit: int
    answers_at_once: bool
    """Whether a job that nobody wants is over at once, and its thread may end when it will. Else a
    function that heeds no cancel ends the process."""

    @property
    def capabilities(self) -> pb.Capabilities: ...

    def bytes_max(self, job: pb.Job) -> int:
        """Bytes of its result at most."""
        ...

    def perform(
        self, job: pb.Job, report: Report, inputs: Inputs
    ) -> tuple[pb.Outcome, memoryview | None]:
        """The outcome of a job without the reference to its bytes, and these, where it has any."""
        ...

    def refer(self, outcome: pb.Outcome, reference: pb.Reference) -> None:
        """Puts the bytes into the outcome."""
        ...
