"""A worker that loads the bytes of URLs: SDWebImage's loader."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import imagebus_pb2 as pb
from imagebus.errors import ImagebusError
from imagebus_worker.failure import cut
from imagebus_worker.formats import format_of
from imagebus_worker.inputs import Inputs
from imagebus_worker.report import Report

ORIGIN_TEXT_MAX = 1024  # bytes of each text from an origin (PROTOCOL §7)


@dataclass
class Loaded:
    """Bytes, with the metadata that an HTTP origin would send. `etag` identifies them: a
    conditional load with that tag is answered without the bytes."""

    data: bytes | bytearray | memoryview
    content_type: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    cache_control: str | None = None


class Loader:
    """The base class of loaders. `credit` loads run at a time, each in its own thread."""

    schemes: Sequence[str] = ()
    credit = 8
    answers_at_once = True
    """A cancelled load ends at once; its thread may finish at any time."""

    def load(
        self, url: str, headers: Sequence[tuple[str, str]], report: Report
    ) -> bytes | bytearray | memoryview | Loaded:
        """Returns the bytes of an image. Raises `Failure` in a domain of its own, or
        `ImagebusError`."""
        raise NotImplementedError

    # ---- For the session

    @property
    def capabilities(self) -> pb.Capabilities:
        return pb.Capabilities(schemes=pb.Capabilities.Names(names=list(self.schemes)))

    def bytes_max(self, job: pb.Job) -> int:
        return job.fetch.body_bytes_max

    def perform(
        self, job: pb.Job, report: Report, inputs: Inputs
    ) -> tuple[pb.Outcome, memoryview | None]:
        if job.WhichOneof("work") != "fetch":
            sentence = "this worker only loads"
            raise ImagebusError(pb.ERROR_CODE_INVALID_REQUEST, sentence)
        fetch = job.fetch
        headers = [(header.name, header.value) for header in fetch.headers]
        answer = self.load(fetch.url, headers, report)
        loaded = answer if isinstance(answer, Loaded) else Loaded(answer)
        data = memoryview(loaded.data).cast("B")
        if len(data) > fetch.body_bytes_max:
            raise ImagebusError(
                pb.ERROR_CODE_LIMIT_EXCEEDED,
                f"the loader returned {len(data)} bytes; at most "
                f"{fetch.body_bytes_max} are accepted",
            )
        if len(data) == 0:
            raise ImagebusError(pb.ERROR_CODE_BAD_IMAGE_DATA, "the loader returned no bytes")
        now = time.time_ns() // 1_000_000
        if loaded.etag is not None and loaded.etag == fetch.validators.etag:
            details = {"born": str(now)}
            if loaded.cache_control is not None:
                details["cacheControl"] = cut(loaded.cache_control, ORIGIN_TEXT_MAX)
            raise ImagebusError(
                pb.ERROR_CODE_CACHE_NOT_MODIFIED, "the resource has not changed", details
            )
        body = pb.FetchedBody(http_status=200, effective_url=fetch.url)
        for name in ("content_type", "etag", "last_modified", "cache_control"):
            text = getattr(loaded, name)
            if text is not None:
                setattr(body, name, cut(text, ORIGIN_TEXT_MAX))
        body.age.born = now
        if (format := format_of(data)) is not None:
            body.format = format
        return pb.Outcome(fetched=body), data

    def refer(self, outcome: pb.Outcome, reference: pb.Reference) -> None:
        outcome.fetched.reference.CopyFrom(reference)
