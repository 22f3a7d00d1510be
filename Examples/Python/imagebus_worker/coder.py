"""A worker that decodes a format: SDWebImage's coder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import imagebus_pb2 as pb
from imagebus.errors import ImagebusError
from imagebus_worker.inputs import Inputs
from imagebus_worker.report import Report

BANDS = {
    1: pb.BANDS_GREY,
    2: pb.BANDS_GREY_ALPHA,
    3: pb.BANDS_RGB,
    4: pb.BANDS_RGBA,
}


@dataclass
class Header:
    """What the first bytes of a file say: the sizes in pixels as they lie, and how many bands there
    are (1 grey, 2 with alpha, 3 RGB, 4 with alpha, which is not multiplied)."""

    width: int
    height: int
    bands: int


class Coder:
    """What an author derives from: decodes images of one format, of 8 bits, one page and no
    orientation. One image at a time; a function that heeds no cancel ends the process."""

    format = ""
    """Its name, as `formats-in` of the pool says it."""
    credit = 1
    answers_at_once = False

    def header(self, data: memoryview) -> Header:
        """Raises `ValueError` for what is no such image."""
        raise NotImplementedError

    def pixels(self, data: memoryview, header: Header, report: Report) -> bytes | bytearray:
        """Rows from top to bottom, without gaps. Raises `ValueError` for a corrupt image. Called
        for images within the limits of the stack alone."""
        raise NotImplementedError

    # ---- For the session

    @property
    def capabilities(self) -> pb.Capabilities:
        return pb.Capabilities(formats_in=pb.Capabilities.Names(names=[self.format]))

    def bytes_max(self, job: pb.Job) -> int:
        return job.decode.limits.pixel_bytes_max

    def perform(
        self, job: pb.Job, report: Report, inputs: Inputs
    ) -> tuple[pb.Outcome, memoryview | None]:
        if job.WhichOneof("work") != "decode":
            sentence = "this worker decodes, and nothing else"
            raise ImagebusError(pb.ERROR_CODE_INVALID_REQUEST, sentence)
        decode = job.decode
        if decode.is_partial:
            raise ImagebusError(pb.ERROR_CODE_BAD_IMAGE_DATA, "the file is not there as a whole")
        if decode.frame > 0:
            raise ImagebusError(pb.ERROR_CODE_STEP_FAILED, "the image has no such frame")
        data = inputs.view(decode.source)
        try:
            header = self.header(data)
            check(header, decode.limits)
            if decode.need.WhichOneof("need") == "header":
                return self._outcome(header, decode), None
            pixels = self.pixels(data, header, report)
        except (ValueError, IndexError) as failure:
            sentence = f"the {self.format} image cannot be decoded: {failure}"
            raise ImagebusError(pb.ERROR_CODE_BAD_IMAGE_DATA, sentence) from failure
        if len(pixels) != header.width * header.height * header.bands:
            raise RuntimeError("the coder made more or fewer pixels than its header says")
        outcome = self._outcome(header, decode)
        plane = pb.PixelPlane(
            bands=BANDS[header.bands],
            width=header.width,
            height=header.height,
            stride=header.width * header.bands,
            active_width=header.width,
            active_height=header.height,
        )
        layout = pb.PixelLayout(planes=[plane], orientation=1)
        outcome.decoded.frames.add(layout=layout)
        return outcome, memoryview(pixels)

    def refer(self, outcome: pb.Outcome, reference: pb.Reference) -> None:
        outcome.decoded.frames[0].reference.CopyFrom(reference)

    def _outcome(self, header: Header, decode: pb.Decode) -> pb.Outcome:
        info = pb.ImageInfo(
            format=pb.ImageFormat.Value(f"IMAGE_FORMAT_{self.format.upper()}"),
            width=header.width,
            height=header.height,
            pages=1,
            has_alpha=header.bands in (2, 4),
        )
        decoded = pb.DecodedImage(info=info)
        if decode.facts.kinds:
            decoded.facts.SetInParent()  # nothing is known of what was asked for
        return pb.Outcome(decoded=decoded)


def check(header: Header, limits: pb.Limits) -> None:
    """Before any pixel is made."""
    if header.bands not in BANDS or header.width < 1 or header.height < 1:
        raise ValueError("its header makes no sense")
    pixels = header.width * header.height
    for name, value, most in (
        ("side", max(header.width, header.height), limits.side_max),
        ("pixels", pixels, limits.pixels_max),
        ("bytes", pixels * header.bands, limits.pixel_bytes_max),
    ):
        if value > most:
            sentence = f"the image has {name} of {value}, at most {most} are decoded"
            raise ImagebusError(pb.ERROR_CODE_LIMIT_EXCEEDED, sentence, {"limit": name})
