"""Answers that are repeated without a request while their vouchers are valid (PROTOCOL §10.2)."""

from __future__ import annotations

import copy
import mmap
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import imagebus_pb2 as pb
from imagebus.images import Image
from imagebus.results import StaleError, is_lent, open_segment, read_result

MAGIC, HEADER, WORDS_MAX = b"IBUSVCH\x01", 4_096, 1 << 24
FLOOR = 64 // 8  # the index of the 64-bit number that is the floor
ANSWERS_MAX, USED_MAX = 4_096, 1_024
APART_MAX = 1_000_000_000  # nanoseconds; a larger difference means another clock


class VoucherFile:
    """A coordinator's voucher file: mapped, never written."""

    def __init__(self, folder: Path, epoch: bytes, words: int) -> None:
        """Raises `OSError`, `ValueError` or `StaleError` if there is no such file, or if it doesn't
        belong to that coordinator or has another number of words."""
        if not 1 <= words <= WORDS_MAX or len(epoch) != 16 or sys.byteorder != "little":
            raise ValueError(f"invalid number of vouchers or epoch: {words}, {epoch.hex()}")
        size = HEADER + 8 * words
        file = open_segment(folder, f"vouchers.{epoch.hex()}")
        try:
            # A shorter file would end this process with SIGBUS instead of an exception.
            if os.fstat(file).st_size != size:
                raise ValueError(f"the voucher file does not have {size} bytes")
            self._mapping = mmap.mmap(file, size, access=mmap.ACCESS_READ)
        finally:
            os.close(file)
        head = MAGIC + words.to_bytes(8, "little") + epoch
        if self._mapping[: len(head)] != head:
            self._mapping.close()
            raise ValueError("not a voucher file, or one of another coordinator")
        # An item in native form is copied as eight bytes at once, which x86 and ARM load whole
        # from an aligned address. (`struct` with "<" goes byte by byte, and may see half of each
        # of two numbers.)
        self._numbers = memoryview(self._mapping).cast("Q")
        self._words = words

    def stands(self, number: int) -> bool:
        """Whether a voucher is valid now, apart from its expiry.

        Python has no fences. None is needed between the two loads: a word that is no longer
        `number` never is again and the floor only rises, so that both held at the earlier of the
        two moments, in whatever order the processor loads. They must not be executed before the
        call of a caller that was notified of a removal: that notification came through a system
        call or a lock, and loads after those in the program aren't executed before them.
        """
        word = self._numbers[HEADER // 8 + number % self._words]
        return word == number and number >= self._numbers[FLOOR]

    def close(self) -> None:
        self._numbers.release()
        self._mapping.close()


@dataclass(frozen=True, slots=True)
class Answer:
    voucher: int
    until: int  # nanoseconds of CLOCK_MONOTONIC; 0: it does not expire
    image: Image  # without bytes
    delivered: pb.DeliveredImage


class RepeatedAnswers:
    """Answers of the coordinator with a voucher in this session, keyed by the bytes of the request
    without its timeout. Beyond `ANSWERS_MAX` the oldest is evicted: the next load restores it."""

    def __init__(self) -> None:
        self._answers: dict[bytes, Answer] = {}
        self._file: VoucherFile | None = None
        self._shares_clock = False
        self._results = Path()
        self._used: set[int] = set()
        self._loads = 0

    def begin(self, welcome: pb.ClientWelcome, front: Path, results: Path) -> None:
        """Starts a session at the socket in `front`."""
        self.end()
        self._results = results
        self._shares_clock = abs(time.monotonic_ns() - welcome.clock) <= APART_MAX
        if welcome.voucher_words:
            try:
                self._file = VoucherFile(front, welcome.epoch, welcome.voucher_words)
            except (OSError, ValueError, StaleError):
                self._file = None  # then every load is sent

    def end(self) -> None:
        """Ends the session, and its vouchers with it; their use isn't reported to the next
        coordinator."""
        self._answers.clear()
        self._used.clear()
        self._loads = 0
        if self._file is not None:
            self._file.close()
            self._file = None

    def learn(self, key: bytes, image: Image, delivered: pb.DeliveredImage) -> None:
        """Keeps an answer that may be repeated."""
        number, until = delivered.voucher.number, delivered.voucher.until
        is_useful = number and (self._shares_clock or not until)
        if self._file is None or not is_useful:
            return
        if is_lent(delivered) or delivered.HasField("piece_bytes"):
            return  # only bytes copied from the block can be compared with it
        if len(self._answers) >= ANSWERS_MAX and key not in self._answers:
            del self._answers[next(iter(self._answers))]
        kept = copy.copy(image)  # so that changes by its owner don't affect others
        kept.data, kept.timings = b"", dict(image.timings)
        self._answers[key] = Answer(number, until, kept, delivered)

    def find(self, key: bytes, token: bytes) -> Image | None:
        """The answer, if it is valid; it then counts as used. `None`: send the load."""
        answer = self._answers.get(key)
        if answer is None or self._file is None:
            return None
        if answer.until and answer.until <= time.monotonic_ns():  # this is CLOCK_MONOTONIC
            return self._forget(key)
        if not self._file.stands(answer.voucher):  # here the load takes effect
            return self._forget(key)
        data: bytes | memoryview = b""
        if answer.delivered.HasField("reference"):
            try:
                data = read_result(self._results, answer.delivered)
            except (StaleError, OSError):
                return self._forget(key)
        self._used.add(answer.voucher)
        self._loads += 1
        image = copy.copy(answer.image)
        image.token, image.data, image.timings = token, data, dict(answer.image.timings)
        return image

    def _forget(self, key: bytes) -> None:
        del self._answers[key]

    @property
    def is_full(self) -> bool:
        """Whether the uses are to be reported to the coordinator at once."""
        return len(self._used) >= USED_MAX

    def take_used(self) -> pb.Used | None:
        """The uses that were not reported yet; `None` if there are none."""
        if self._loads == 0:
            return None
        used = pb.Used(loads=self._loads, vouchers=self._used)
        self._used.clear()
        self._loads = 0
        return used
