"""A worker that decodes a format: SDWebImage's coder."""

from __future__ import annotations

import struct
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

FRAMES_MAX = 16_384  # of one animation in one piece
MISMATCH = "the number of pixels from the coder does not match its header"


@dataclass
class Header:
    """The properties of a file from its first bytes: the stored size in pixels, and the number of
    bands (1 gray, 2 with alpha, 3 RGB, 4 with straight alpha). For an animation also the duration
    of each frame in microseconds, and the number of loops (0: endless)."""

    width: int
    height: int
    bands: int
    durations: Sequence[int] = ()
    loops: int = 0

    @property
    def frames(self) -> int:
        """The number of frames, 1 for a still image."""
        return max(1, len(self.durations))


class Coder:
    """The base class of decoders: decodes images of one format with 8 bits per sample and no
    orientation. One image at a time; a function that ignores a cancel ends the process."""

    format = "undefined"
    """The name of the format, as in `formats-in` of the pool. A format without a signature known to
    Imagebus is `undefined`; `recognises` then identifies its files."""
    credit = 1
    answers_at_once = False

    def recognises(self, data: memoryview) -> bool:
        """Whether the bytes are of this format, judging by their signature. If not, the next pool
        with a grant for them is tried."""
        return True

    def header(self, data: memoryview) -> Header:
        """Parses the header. Raises `ValueError` if it isn't an image of this format."""
        raise NotImplementedError

    def pixels(self, data: memoryview, header: Header, report: Report) -> bytes | bytearray:
        """Rows from top to bottom, without padding. Raises `ValueError` for a corrupt image. Only
        called for images within the stack's limits. Returns the first frame of an animation."""
        raise NotImplementedError

    def frame(
        self, data: memoryview, header: Header, number: int, report: Report
    ) -> bytes | bytearray:
        """One frame of an animation, from 0 on, fully composed."""
        raise NotImplementedError

    def arrived(self, data: memoryview, header: Header, report: Report) -> bytes | bytearray | None:
        """All rows of an image of which only the first bytes have arrived; `None` if nothing can be
        shown yet. Missing bytes aren't an error."""
        return None

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
            sentence = "this worker only decodes"
            raise ImagebusError(pb.ERROR_CODE_INVALID_REQUEST, sentence)
        decode = job.decode
        data = inputs.view(decode.source)
        if not self.recognises(data):
            sentence = "this coder does not recognize the image"
            raise ImagebusError(pb.ERROR_CODE_UNSUPPORTED_FORMAT, sentence)
        try:
            header = self.header(data)
            check(header, decode)
            if decode.need.WhichOneof("need") == "header":
                return self._outcome(header, decode), None
            numbers = frames_of(decode, header)
            layout = layout_of(header, len(numbers))
            pixels = self._made(data, header, numbers, decode.is_partial, report)
        except (ValueError, IndexError, struct.error) as failure:
            sentence = f"the {self.format} image cannot be decoded: {failure}"
            raise ImagebusError(pb.ERROR_CODE_BAD_IMAGE_DATA, sentence) from failure
        outcome = self._outcome(header, decode)
        if pixels is None:
            return outcome, None
        if len(pixels) != len(numbers) * layout.planes[0].stride * header.height:
            raise RuntimeError(MISMATCH)
        outcome.decoded.frames.add(layout=layout)
        return outcome, memoryview(pixels)

    def refer(self, outcome: pb.Outcome, reference: pb.Reference) -> None:
        outcome.decoded.frames[0].reference.CopyFrom(reference)

    def _made(
        self, data: memoryview, header: Header, numbers: range, is_partial: bool, report: Report
    ) -> bytes | bytearray | None:
        if is_partial:
            return self.arrived(data, header, report)
        if header.frames == 1:
            return self.pixels(data, header, report)
        if len(numbers) == 1:
            return self.frame(data, header, numbers[0], report)
        frames, size = bytearray(), header.width * header.height * header.bands
        for number in numbers:
            report.check()
            frame = self.frame(data, header, number, report)
            if len(frame) != size:
                raise RuntimeError(MISMATCH)
            frames += with_alpha(frame, header.bands)
        return frames

    def _outcome(self, header: Header, decode: pb.Decode) -> pb.Outcome:
        info = pb.ImageInfo(
            format=pb.ImageFormat.Value(f"IMAGE_FORMAT_{self.format.upper()}"),
            width=header.width,
            height=header.height,
            pages=header.frames,
            has_alpha=header.bands in (2, 4),
        )
        decoded = pb.DecodedImage(info=info)
        if decode.facts.kinds:
            decoded.facts.SetInParent()  # none of the requested properties is known
        return pb.Outcome(decoded=decoded)


def frames_of(decode: pb.Decode, header: Header) -> range:
    """The requested frames."""
    if decode.all_frames:
        return range(header.frames)
    if decode.frame >= header.frames:
        raise ImagebusError(pb.ERROR_CODE_STEP_FAILED, "the frame does not exist")
    return range(decode.frame, decode.frame + 1)


def with_alpha(pixels: bytes | bytearray, bands: int) -> bytes | bytearray:
    """Red, green, blue and alpha of each pixel, as the protocol requires for animation frames."""
    if bands == 4:
        return pixels
    made = bytearray(b"\xff") * (len(pixels) // bands * 4)
    for place in range(3):
        made[place::4] = pixels[place if bands == 3 else 0 :: bands]
    if bands == 2:
        made[3::4] = pixels[1::2]
    return made


def layout_of(header: Header, frames: int) -> pb.PixelLayout:
    """Rows without padding; several frames one after the other, with alpha."""
    bands = header.bands if frames == 1 else 4
    plane = pb.PixelPlane(
        bands=BANDS[bands],
        width=header.width,
        height=header.height,
        stride=header.width * bands,
        active_width=header.width,
        active_height=header.height,
    )
    layout = pb.PixelLayout(planes=[plane], orientation=1)
    if frames > 1:
        layout.animation.durations.extend(header.durations)
        layout.animation.loops = header.loops
    return layout


def check(header: Header, decode: pb.Decode) -> None:
    """Checks the limits before any pixel is decoded."""
    if header.bands not in BANDS or header.width < 1 or header.height < 1:
        raise ValueError("invalid header")
    limits, area = decode.limits, header.width * header.height
    made = header.frames if decode.all_frames else 1
    for name, value, most in (
        ("side", max(header.width, header.height), limits.side_max),
        ("pages", header.frames, limits.pages_max),
        ("pixels", area, limits.pixels_max),
        ("bytes", area * (header.bands if made == 1 else 4 * made), limits.pixel_bytes_max),
        ("frames", made, FRAMES_MAX),
    ):
        if value > most:
            sentence = f"the image exceeds the limit for {name}: {value}, at most {most}"
            raise ImagebusError(pb.ERROR_CODE_LIMIT_EXCEEDED, sentence, {"limit": name})
