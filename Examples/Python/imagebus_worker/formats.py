"""Detection of formats by their first bytes, which selects a pool of decoders."""

from __future__ import annotations

import imagebus_pb2 as pb

SIGNATURES: tuple[tuple[int, bytes, int], ...] = (
    (0, b"\xff\xd8\xff", pb.IMAGE_FORMAT_JPEG),
    (0, b"\x89PNG\r\n\x1a\n", pb.IMAGE_FORMAT_PNG),
    (0, b"GIF87a", pb.IMAGE_FORMAT_GIF),
    (0, b"GIF89a", pb.IMAGE_FORMAT_GIF),
    (8, b"WEBP", pb.IMAGE_FORMAT_WEBP),
    (0, b"II*\0", pb.IMAGE_FORMAT_TIFF),
    (0, b"MM\0*", pb.IMAGE_FORMAT_TIFF),
    (0, b"BM", pb.IMAGE_FORMAT_BMP),
    (0, b"qoif", pb.IMAGE_FORMAT_QOI),
    (4, b"ftypavif", pb.IMAGE_FORMAT_AVIF),
    (4, b"ftypheic", pb.IMAGE_FORMAT_HEIC),
    (0, b"\xff\x0a", pb.IMAGE_FORMAT_JXL),
    (4, b"JXL \r\n\x87\n", pb.IMAGE_FORMAT_JXL),
)


def format_of(data: bytes | memoryview) -> int | None:
    """The format, or `None`: a worker that decodes all formats then determines it."""
    for offset, mark, format in SIGNATURES:
        if bytes(data[offset : offset + len(mark)]) == mark:
            return format
    return None
