"""A worker that encodes a format: the other half of SDWebImage's coder."""

from __future__ import annotations

import imagebus_pb2 as pb
from imagebus.errors import ImagebusError
from imagebus.pixels import Pixels
from imagebus_worker.inputs import Inputs
from imagebus_worker.report import Report
from imagebus_worker.transformer import pixels_of


class Encoder:
    """The base class of encoders: encodes pixels to files of one format. One image at a time; a
    function that ignores a cancel ends the process."""

    format = ""
    """The name of the format, as in `formats-out` of the pool."""
    credit = 1
    answers_at_once = False

    def encode(
        self, pixels: Pixels, quality: int | None, report: Report
    ) -> bytes | bytearray | memoryview:
        """Returns the whole file. `pixels` has 1 to 4 samples of 8 bits (gray, gray with alpha,
        RGB, RGB with straight alpha), and may not be kept. `quality` is 0 to 100, or None if the
        request doesn't set it. Raises `ValueError` for an image that the format can't represent."""
        raise NotImplementedError

    # ---- For the session

    @property
    def capabilities(self) -> pb.Capabilities:
        return pb.Capabilities(
            steps=pb.Capabilities.Names(), formats_out=pb.Capabilities.Names(names=[self.format])
        )

    def bytes_max(self, job: pb.Job) -> int:
        return job.transform.limits.pixel_bytes_max

    def perform(
        self, job: pb.Job, report: Report, inputs: Inputs
    ) -> tuple[pb.Outcome, memoryview | None]:
        work = job.transform
        number = pb.ImageFormat.Value(f"IMAGE_FORMAT_{self.format.upper()}")
        if job.WhichOneof("work") != "transform" or work.steps or work.output.format != number:
            sentence = f"this worker only encodes {self.format}"
            raise ImagebusError(pb.ERROR_CODE_INVALID_REQUEST, sentence)
        pixels = pixels_of(work, inputs)
        quality = work.output.quality if work.output.HasField("quality") else None
        try:
            made = memoryview(self.encode(pixels, quality, report)).cast("B")
        except ValueError as failure:
            sentence = f"the image cannot be encoded as {self.format}: {failure}"
            details = {"format": self.format}
            raise ImagebusError(pb.ERROR_CODE_UNSUPPORTED_FORMAT, sentence, details) from failure
        if not made:
            raise RuntimeError("the encoder produced no bytes")
        if len(made) > report.bytes_max:
            sentence = f"the image has {len(made)} bytes as {self.format}; at most "
            sentence += f"{report.bytes_max} are accepted"
            raise ImagebusError(pb.ERROR_CODE_LIMIT_EXCEEDED, sentence, {"limit": "bytes"})
        info = pb.ImageInfo(
            format=number,
            width=pixels.width,
            height=pixels.height,
            pages=1,
            has_alpha=pixels.channels in (2, 4),
        )
        return pb.Outcome(transformed=pb.EncodedImage(info=info)), made

    def refer(self, outcome: pb.Outcome, reference: pb.Reference) -> None:
        outcome.transformed.reference.CopyFrom(reference)
