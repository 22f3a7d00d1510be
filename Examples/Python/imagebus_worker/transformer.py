"""A worker that implements steps of its own: SDWebImage's transformer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import imagebus_pb2 as pb
from imagebus.errors import ImagebusError
from imagebus.pixels import HEADER, MODES, Pixels, header_of
from imagebus_worker.inputs import Inputs
from imagebus_worker.report import Report


class Input:
    """The owner of the memory with a job's pixels."""

    def __init__(self, data: memoryview) -> None:
        self.data = data


class Transformer:
    """The base class of transformers: implements steps named VENDOR.STEP. One image at a time; a
    function that ignores a cancel ends the process."""

    steps: Sequence[str] = ()
    """Their names, as in `steps` of the pool."""
    credit = 1
    answers_at_once = False

    def transform(
        self, step: str, parameters: Mapping[str, str], pixels: Pixels, report: Report
    ) -> bytes | bytearray | memoryview:
        """Returns pixels of the same size, in the form of `pixels`: 1 to 4 samples of 8 bits each
        (gray, gray with alpha, RGB, RGB with alpha), possibly another number than before. `pixels`
        may not be kept. Raises `ValueError` for invalid parameters, which is reported to the
        caller."""
        raise NotImplementedError

    # ---- For the session

    @property
    def capabilities(self) -> pb.Capabilities:
        return pb.Capabilities(
            steps=pb.Capabilities.Names(names=list(self.steps)),
            formats_out=pb.Capabilities.Names(names=["pam"]),
        )

    def bytes_max(self, job: pb.Job) -> int:
        size = job.transform.source_info
        return HEADER + size.width * size.height * max(MODES)

    def perform(
        self, job: pb.Job, report: Report, inputs: Inputs
    ) -> tuple[pb.Outcome, memoryview | None]:
        work = job.transform
        steps = [step.named for step in work.steps if step.WhichOneof("step") == "named"]
        if job.WhichOneof("work") != "transform" or len(steps) != 1 or len(work.steps) != 1:
            sentence = "this worker only performs a single custom step"
            raise ImagebusError(pb.ERROR_CODE_INVALID_REQUEST, sentence)
        (step,), pixels = steps, pixels_of(work, inputs)
        parameters = {parameter.name: parameter.value for parameter in step.parameters}
        try:
            made = self.transform(step.name, parameters, pixels, report)
        except ValueError as failure:
            sentence = f"the step {step.name} failed: {failure}"
            details = {"step": step.name}
            raise ImagebusError(pb.ERROR_CODE_STEP_FAILED, sentence, details) from failure
        samples = memoryview(made).cast("B")
        bands, rest = divmod(len(samples), pixels.width * pixels.height)
        if rest != 0 or bands not in MODES:
            raise RuntimeError("the step changed the number of pixels")
        info = pb.ImageInfo(
            format=pb.IMAGE_FORMAT_PAM,
            width=pixels.width,
            height=pixels.height,
            pages=1,
            has_alpha=bands in (2, 4),
        )
        data = bytearray(header_of(pixels.width, pixels.height, bands))
        data += samples
        return pb.Outcome(transformed=pb.EncodedImage(info=info)), memoryview(data)

    def refer(self, outcome: pb.Outcome, reference: pb.Reference) -> None:
        outcome.transformed.reference.CopyFrom(reference)


def pixels_of(work: pb.Transform, inputs: Inputs) -> Pixels:
    """The pixels of a job's input, whose properties are in the job: the header was not read yet."""
    planes = work.layout.planes
    if len(planes) != 1 or work.layout.orientation > 1:
        sentence = "plug-ins require upright pixels in a single plane"
        raise ImagebusError(pb.ERROR_CODE_INVALID_REQUEST, sentence)
    plane, data = planes[0], inputs.view(work.source)
    mode = MODES[plane.bands]
    samples = data[plane.offset : plane.offset + plane.width * plane.height * len(mode)]
    return Pixels(samples.toreadonly(), plane.width, plane.height, mode, Input(data))
