"""Which runtime directories are used by default."""

from __future__ import annotations

import os
import shutil
import tempfile
import unittest
from pathlib import Path

from imagebus import ImagebusError
from imagebus.trust import check_owners

STRANGER = 64_212


class Trust(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(dir="/dev/shm"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.place = self.folder / "imagebus"
        (self.place / "front").mkdir(parents=True)

    def refusal(self) -> str:
        with self.assertRaises(ImagebusError) as caught:
            check_owners(self.place)
        return str(caught.exception)

    def test_mine_is_used_and_so_is_what_is_missing(self) -> None:
        check_owners(self.place)
        check_owners(self.folder / "missing")

    @unittest.skipUnless(os.getuid() == 0, "only root gives files away")
    def test_a_strangers_is_refused_with_its_owner(self) -> None:
        os.chown(self.place, STRANGER, STRANGER)
        self.assertIn(f"{self.place} belongs to user {STRANGER}", self.refusal())

    def test_what_others_may_change_is_refused(self) -> None:
        self.place.chmod(0o777)
        self.assertIn("0777", self.refusal())
        self.place.chmod(0o755)
        self.folder.chmod(0o777)
        self.assertIn(f"{self.folder} has mode", self.refusal())

    def test_a_link_is_refused(self) -> None:
        other = self.folder / "link"
        other.symlink_to(self.place)
        self.place = other
        self.assertIn("is not a directory", self.refusal())


if __name__ == "__main__":
    unittest.main()
