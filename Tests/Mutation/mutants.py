"""The list of mutants: reading it, checking it, and applying it to the text of a file."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "mutants"
PLACEHOLDER = re.compile(r"\bMUTANT\b")
FIELDS = {"number", "file", "original", "mutated", "promise", "tests"}
# Targets whose folders are directly in Sources; those of other targets are in folders there.
CORE = {"Model"}


class MutantError(Exception):
    """The list of mutants is malformed, or does not fit the sources."""


@dataclass(frozen=True)
class Mutant:
    """One mutation: in `file`, `original` becomes `mutated`, where `MUTANT` is the condition."""

    number: int
    file: str
    original: str
    mutated: str
    promise: str
    tests: str

    def code(self) -> str:
        """The replacement as Swift, with the condition in place of the placeholder."""
        return PLACEHOLDER.sub(f"isMutant({self.number})", self.mutated)

    @property
    def module(self) -> str:
        """The folder of the target that has the file, such as `Sources/Stages/Caching`."""
        parts = self.file.split("/")
        return "/".join(parts[: 2 if parts[1] in CORE else 3])


def load(folder: Path = FOLDER) -> list[Mutant]:
    """Reads all `*.toml` files of the folder; the mutants are in the order of their numbers."""
    mutants: list[Mutant] = []
    for path in sorted(folder.glob("*.toml")):
        try:
            rows = tomllib.loads(path.read_text())["mutant"]
        except (tomllib.TOMLDecodeError, KeyError) as error:
            raise MutantError(f"{path.name}: {error}") from None
        mutants += [_mutant(row, path.name) for row in rows]
    mutants.sort(key=lambda mutant: mutant.number)
    for earlier, later in zip(mutants, mutants[1:], strict=False):
        if earlier.number == later.number:
            raise MutantError(f"two mutants have the number {later.number}")
    return mutants


def _mutant(row: dict[str, object], name: str) -> Mutant:
    number = row.get("number")
    if set(row) != FIELDS or not isinstance(number, int) or number < 1:
        raise MutantError(f"{name}: mutant {number} needs exactly {', '.join(sorted(FIELDS))}")
    mutant = Mutant(**row)
    parts = mutant.file.split("/")
    if parts[0] != "Sources" or len(parts) < 4 or not mutant.file.endswith(".swift"):
        raise MutantError(f"mutant {number}: {mutant.file} is not a Swift file of a target")
    if not PLACEHOLDER.search(mutant.mutated):
        raise MutantError(f"mutant {number}: 'mutated' lacks the placeholder MUTANT")
    try:
        re.compile(mutant.tests)
    except re.error as error:
        raise MutantError(f"mutant {number}: 'tests' is not a pattern: {error}") from None
    return mutant


def by_file(mutants: Iterable[Mutant]) -> dict[str, list[Mutant]]:
    """The mutants of each file."""
    files: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in mutants:
        files[mutant.file].append(mutant)
    return dict(files)


def occurrences(snippet: str, text: str) -> list[int]:
    """The offsets of the snippet in the text, overlapping occurrences included."""
    return [match.start() for match in re.finditer(f"(?={re.escape(snippet)})", text)]


def faults(mutants: Iterable[Mutant], text: str | None) -> list[str]:
    """Why mutants of one file cannot be applied to its text (None: there is no such file)."""
    found, taken = [], []
    for mutant in mutants:
        if text is None:
            found.append(f"mutant {mutant.number}: {mutant.file} does not exist")
            continue
        places = occurrences(mutant.original, text)
        if len(places) != 1:
            how = "is stale: its snippet no longer occurs" if not places else (
                f"is ambiguous: its snippet occurs {len(places)} times")
            found.append(f"mutant {mutant.number} {how} in {mutant.file}")
            continue
        taken.append((places[0], places[0] + len(mutant.original), mutant.number))
    taken.sort()
    for (_, end, first), (start, _, second) in zip(taken, taken[1:], strict=False):
        if start < end:
            found.append(f"mutants {first} and {second} overlap in one file")
    return found


def applied(mutants: Iterable[Mutant], text: str) -> str:
    """The text with all these mutants as choices at run time."""
    mutants = list(mutants)
    found = faults(mutants, text)
    if found:
        raise MutantError("\n".join(found))
    for place, mutant in sorted(
        ((text.index(mutant.original), mutant) for mutant in mutants),
        key=lambda pair: pair[0], reverse=True,
    ):
        text = text[:place] + mutant.code() + text[place + len(mutant.original):]
    return text


def line(mutant: Mutant, text: str) -> int:
    """The line of the original text, from 1, where the mutant's snippet begins."""
    return text.count("\n", 0, text.index(mutant.original)) + 1
