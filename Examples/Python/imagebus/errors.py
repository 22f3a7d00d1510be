"""Errors of loads: one class for each error code of PROTOCOL §9.

    try:
        image = client.load(url)
    except AddressForbidden:
        ...
    except ImagebusError as error:
        if error.retryable:
            ...
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import imagebus_pb2 as pb

RETRYABLE = {3001, 3002, 3008, 3009, 3010, 3011, 3012, 3014, 3022, 3023, 3024, 3026}


class ImagebusError(Exception):
    """The failure of a load. Creating one with a code yields the class of that code, or this class
    if the code is unknown to this version."""

    code: int  # PROTOCOL §9
    name: str  # likewise, for example "addressForbidden"
    message: str  # a sentence
    details: dict[str, str]  # by name, listed in PROTOCOL §9
    retryable: bool  # whether the same request may succeed later
    domain: str | None = None  # of a plug-in's failure: the domain of `number`
    number: int | None = None

    number_of_class: ClassVar[int | None] = None
    _classes: ClassVar[dict[int, type[ImagebusError]]] = {}

    def __init_subclass__(cls, number: int | None = None, **more: Any) -> None:
        super().__init_subclass__(**more)
        if number is not None:
            cls.number_of_class = number
            cls._classes[number] = cls

    def __new__(cls, code: int, *_: Any, **__: Any) -> ImagebusError:
        return super().__new__(cls._classes.get(code, cls) if cls is ImagebusError else cls)

    def __init__(self, code: int, message: str, details: Mapping[str, str] | None = None) -> None:
        super().__init__(code, message, details)
        self.code, self.message, self.details = code, message, dict(details or {})
        known = pb.ErrorCode.Name(code) if code in pb.ErrorCode.values() else "UNKNOWN"
        first, *rest = known.removeprefix("ERROR_CODE_").split("_")
        self.name = first.lower() + "".join(w if w == "URL" else w.capitalize() for w in rest)
        status = int(self.details.get("httpStatus", 0))
        self.retryable = code in RETRYABLE or (code == 2001 and (status == 429 or status >= 500))

    def __str__(self) -> str:
        if self.domain is not None:
            return f"{self.domain} ({self.number}): {self.message}"
        return f"{self.name} ({self.code}): {self.message}"


class CacheMiss(LookupError):
    """With `Options.FROM_CACHE_ONLY`: no cache has the image. Not an error of the stack, and
    without a code."""

    key: str  # the key that was looked up

    def __init__(self, key: str) -> None:
        super().__init__(f"no cache has {key}")
        self.key = key


def error_from(error: pb.Error) -> ImagebusError:
    """Converts a message to an exception."""
    details = {detail.name: detail.value for detail in error.details}
    failure = ImagebusError(error.code, error.message, details)
    if error.code == pb.ERROR_CODE_FOREIGN_FAILURE and error.HasField("foreign"):
        failure.domain, failure.number = error.foreign.domain, error.foreign.code
    return failure


class InvalidURL(ImagebusError, number=1000):
    """Empty, unparseable or missing URL."""


class BadImageData(ImagebusError, number=1001):
    """Not an image, or a corrupt one; `details["part"]` is pixels if its header is valid."""


class CacheNotModified(ImagebusError, number=1002):
    """The origin reported that nothing changed."""


class Blacklisted(ImagebusError, number=1003):
    """Failed permanently before; not requested again."""


class InvalidDownloadOperation(ImagebusError, number=2000):
    """The transfer could not be started; if a proxy refused it, details have proxy and
    proxyStatus."""


class InvalidDownloadStatusCode(ImagebusError, number=2001):
    """The origin's status is outside 200 to 299; `details["httpStatus"]`."""


class Cancelled(ImagebusError, number=2002):
    """Cancelled by the caller."""


class InvalidDownloadResponse(ImagebusError, number=2003):
    """The response was refused."""


class InvalidDownloadContentType(ImagebusError, number=2004):
    """The content type is not acceptable; `details["contentType"]`."""


class InternalError(ImagebusError, number=3000):
    """A bug in Imagebus."""


class Busy(ImagebusError, number=3001):
    """A queue is full; `details["retryAfter"]`: seconds."""


class DeadlineExceeded(ImagebusError, number=3002):
    """The deadline passed."""


class LimitExceeded(ImagebusError, number=3003):
    """Side, pixels, bytes, pages or metadata over a limit; `details["limit"]` names it."""


class AddressForbidden(ImagebusError, number=3004):
    """Policy forbids this address; in a client: the endpoint belongs to another user."""


class UnsupportedScheme(ImagebusError, number=3005):
    """No loader takes this scheme."""


class UnsupportedFormat(ImagebusError, number=3006):
    """Recognized, but not decoded or encoded by this version."""


class Poisoned(ImagebusError, number=3007):
    """The content crashed or hung its workers and is quarantined."""


class WorkerLost(ImagebusError, number=3008):
    """Too many workers died with the job."""


class ArenaFull(ImagebusError, number=3009):
    """No space for payloads."""


class ConnectionFailed(ImagebusError, number=3010):
    """The origin could not be reached."""


class NameNotResolved(ImagebusError, number=3011):
    """The host name has no address."""


class TimedOut(ImagebusError, number=3012):
    """The origin took too long."""


class TLSFailed(ImagebusError, number=3013):
    """TLS failed."""


class ShortBody(ImagebusError, number=3014):
    """The body ended early."""


class TooManyRedirects(ImagebusError, number=3015):
    """Too many redirects."""


class BadEncoding(ImagebusError, number=3016):
    """The body is not in its content coding."""


class ProtocolViolation(ImagebusError, number=3017):
    """A message breaks the protocol."""


class VersionMismatch(ImagebusError, number=3018):
    """The peers share no version."""


class TokenInUse(ImagebusError, number=3019):
    """The token is another client's."""


class InvalidRequest(ImagebusError, number=3020):
    """A request that makes no sense."""


class StepFailed(ImagebusError, number=3021):
    """A step cannot be applied; `details["step"]`."""


class Unavailable(ImagebusError, number=3022):
    """No stack serves the runtime directory."""


class ConnectionBroken(ImagebusError, number=3023):
    """The connection to the origin broke."""


class ShuttingDown(ImagebusError, number=3024):
    """The stack is shutting down."""


class ProtocolBroken(ImagebusError, number=3025):
    """The origin violated HTTP."""


class Stale(ImagebusError, number=3026):
    """The referenced bytes were reused; repaired by clients."""


class NotSupported(ImagebusError, number=3027):
    """SDWebImage has this option, this version does not; `details["option"]`."""


class SourceForbidden(ImagebusError, number=3028):
    """The stack's configuration doesn't permit this URL, or that of a redirect."""


class ForeignFailure(ImagebusError, number=3029):
    """A plug-in failed: `domain` and `number` are defined by its author."""
