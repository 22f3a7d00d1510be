"""Failures of a plug-in, and how they are reported to the caller."""

from __future__ import annotations

import errno
import logging

import imagebus_pb2 as pb
from imagebus.errors import ImagebusError
from imagebus.results import StaleError

MESSAGE_MAX, DOMAIN_MAX, NAME_MAX, VALUE_MAX = 1024, 128, 128, 896  # bytes (PROTOCOL §7)
CODE_RANGE = range(-(1 << 63), 1 << 63)
UNREACHABLE = {
    ConnectionError: (pb.ERROR_CODE_CONNECTION_FAILED, "a plug-in worker cannot reach its server"),
    TimeoutError: (pb.ERROR_CODE_TIMED_OUT, "the server of a plug-in worker took too long"),
}
"""By exception: the error reported to the caller, who may try again."""
log = logging.getLogger("imagebus.worker")


class Failure(Exception):
    """A failure in the author's own domain: the caller gets domain, code and message unchanged.
    `blocks`: the URL isn't requested again for a while."""

    def __init__(self, domain: str, code: int, message: str, blocks: bool = False) -> None:
        if not domain or len(domain.encode()) > DOMAIN_MAX or "\0" in domain:
            raise ValueError(f"a domain must have 1 to {DOMAIN_MAX} bytes and no NUL")
        if code not in CODE_RANGE:
            raise ValueError("a code must fit in 64 bits")
        super().__init__(message)
        self.domain, self.code, self.message, self.blocks = domain, code, message, blocks


class Cancelled(Exception):
    """The work was cancelled. Raised by `Report`; the author must not catch it."""


def error_of(failure: BaseException) -> pb.Error:
    """The error reported to the coordinator. For a `ConnectionError`, a `TimeoutError` (these may
    pass) and an unexpected exception the caller gets no details; these are in the worker's log."""
    if isinstance(failure, Failure):
        named = pb.ForeignFailure(domain=failure.domain, code=failure.code, blocks=failure.blocks)
        code = pb.ERROR_CODE_FOREIGN_FAILURE
        return pb.Error(code=code, message=cut(failure.message), foreign=named)
    if isinstance(failure, ImagebusError):
        texts = {cut(n, NAME_MAX): cut(v, VALUE_MAX) for n, v in failure.details.items()}
        details = [pb.Detail(name=n, value=v) for n, v in list(texts.items())[:16]]
        return pb.Error(code=failure.code, message=cut(failure.message), details=details)
    if isinstance(failure, StaleError):
        return pb.Error(code=pb.ERROR_CODE_STALE, message=cut(str(failure)))
    if isinstance(failure, Cancelled):
        return pb.Error(code=pb.ERROR_CODE_CANCELLED, message="the result is no longer wanted")
    if isinstance(failure, OSError) and failure.errno in (errno.ENOSPC, errno.EDQUOT):
        return pb.Error(code=pb.ERROR_CODE_ARENA_FULL, message="no space for the bytes")
    for kind, (code, sentence) in UNREACHABLE.items():
        if isinstance(failure, kind):
            text = str(failure) or type(failure).__name__
            log.warning("%s: %s", sentence, text.encode("unicode_escape").decode())
            return pb.Error(code=code, message=f"{sentence}; see its log")
    log.error("plug-in failed", exc_info=failure)
    sentence = f"a plug-in worker failed ({type(failure).__name__}); see its log"
    return pb.Error(code=pb.ERROR_CODE_INTERNAL_ERROR, message=sentence)


def cut(text: str, most: int = MESSAGE_MAX) -> str:
    """Truncates a text to the bytes that a message permits."""
    return text.replace("\0", " ").encode(errors="replace")[:most].decode(errors="ignore")
