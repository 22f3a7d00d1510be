"""The error classes match the protocol."""

from __future__ import annotations

import copy
import pickle
import re
import unittest
from pathlib import Path

import imagebus_pb2 as pb
from imagebus import ImagebusError, errors

PROTOCOL = Path(__file__).parents[2] / "Proto" / "PROTOCOL.md"


def rows() -> list[tuple[str, int, bool]]:
    """Name, number and whether it is retryable, from the document."""
    table = PROTOCOL.read_text().partition("\n## 9 Errors\n")[2].partition("\n## 10 ")[0]
    found = re.findall(r"^\| `(\w+)` \| (\d+) \| (yes|no) \|", table, re.MULTILINE)
    return [(name, int(number), says == "yes") for name, number, says in found]


class ErrorTests(unittest.TestCase):
    def test_every_error_of_the_protocol_has_its_class(self) -> None:
        self.assertGreater(len(rows()), 30)
        for name, number, is_retryable in rows():
            with self.subTest(name):
                error = ImagebusError(number, "so it is")
                self.assertEqual((error.name, error.retryable), (name, is_retryable))
                self.assertEqual(type(error).__name__.lower(), name.lower())
                self.assertIs(type(error), getattr(errors, type(error).__name__))
        numbers = {number for _, number, _ in rows()}
        self.assertEqual(numbers, set(pb.ErrorCode.values()) - {0})

    def test_a_number_that_nobody_knows_is_an_error_nonetheless(self) -> None:
        error = ImagebusError(4_711, "from the future")
        self.assertEqual((type(error), error.name), (ImagebusError, "unknown"))

    def test_an_origin_that_may_recover_is_asked_again(self) -> None:
        for status, is_retryable in ("404", False), ("429", True), ("503", True):
            error = ImagebusError(2001, "no", {"httpStatus": status})
            self.assertEqual((type(error).__name__, error.retryable), (
                "InvalidDownloadStatusCode", is_retryable
            ))  # fmt: skip

    def test_errors_go_to_other_processes(self) -> None:
        error = ImagebusError(3001, "full", {"retryAfter": "2"})
        for other in pickle.loads(pickle.dumps(error)), copy.copy(error):
            self.assertIs(type(other), errors.Busy)
            self.assertEqual((str(other), other.details), (str(error), error.details))


if __name__ == "__main__":
    unittest.main()
