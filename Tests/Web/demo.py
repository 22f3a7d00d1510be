"""The gallery as started by `scripts/demo --web`."""

from __future__ import annotations

import os
import re

from web_stack import PROGRAMS, Program

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Demo:
    def __init__(self) -> None:
        os.environ["IMAGEBUS_PROGRAMS"] = str(PROGRAMS)
        self._program = Program(
            f"{REPOSITORY}/scripts/demo", "--web", "--port", "0", said="in a browser"
        )
        self.url = re.search(r"http://\S+", self._program.line)[0]

    def stop(self) -> None:
        self._program.stop()
