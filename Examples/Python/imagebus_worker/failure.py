"""How the work of an author fails, and what the caller gets of it."""

from __future__ import annotations

import errno
import logging

import imagebus_pb2 as pb
from imagebus.errors import ImagebusError
from imagebus.results import StaleError

MESSAGE_MAX, DOMAIN_MAX, NAME_MAX, VALUE_MAX = 1024, 128, 128, 896  # bytes (PROTOCOL §7)
CODE_RANGE = range(-(1 << 63), 1 << 63)
log = logging.getLogger("imagebus.worker")


class Failure(Exception):
    """A failure in a domain of the author's own: the caller gets domain, code and sentence as they
    are. `blocks`: the URL is not asked again for a while."""

    def __init__(self, domain: str, code: int, message: str, blocks: bool = False) -> None:
        if not domain or len(domain.encode()) > DOMAIN_MAX or "\0" in domain:
            raise ValueError(f"a domain must have 1 to {DOMAIN_MAX} bytes and no NUL")
        if code not in CODE_RANGE:
            raise ValueError("a code must fit in 64 bits")
        super().__init__(message)
        self.domain, self.code, self.message, self.blocks = domain, code, message, blocks


class Cancelled(Exception):
    """Nobody wants the work any more. `Report` raises it; an author lets it through."""


def error_of(failure: BaseException) -> pb.Error:
    """What the coordinator is told. Of what the author did not foresee the caller learns the type;
    the rest is in the log of the worker."""
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
    log.error("plug-in failed", exc_info=failure)
    sentence = f"a plug-in worker failed ({type(failure).__name__}); see its log"
    return pb.Error(code=pb.ERROR_CODE_INTERNAL_ERROR, message=sentence)


def cut(text: str, most: int = MESSAGE_MAX) -> str:
    """As many bytes of a text as a message carries."""
    return text.replace("\0", " ").encode(errors="replace")[:most].decode(errors="ignore")
