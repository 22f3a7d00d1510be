"""The table of `sources.txt`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Row:
    grammar: str
    source: str
    spelling: str
    url: str


def rows() -> list[Row]:
    found, grammar, source = [], "", ""
    for line in (Path(__file__).parent / "sources.txt").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        first, rest = line.split(maxsplit=1)
        if rest.startswith("/"):
            found.append(Row(grammar, source, first, rest))
        else:
            grammar, source = first, rest
    return found
