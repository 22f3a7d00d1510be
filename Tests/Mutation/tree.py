"""The copy of the repository in which every mutant is a choice at run time."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import asdict
from pathlib import Path

from mutants import Mutant, MutantError, applied, by_file, faults, line, occurrences

ROOT = Path(__file__).resolve().parents[2]
MARK = ".mutation.json"
VARIABLE = "IMAGEBUS_MUTANT"
SWITCH = "MutationSwitch.swift"
NAMED_TEST = re.compile(r"\^(\w+)\\\..*/(\w+)$")

SWITCH_TEXT = f"""\
import Glibc

/// The mutant that `{VARIABLE}` names; 0: none.
private let chosenMutant: Int32 = getenv("{VARIABLE}").map {{ atoi($0) }} ?? 0

/// Whether this run is of the mutant with this number.
func isMutant(_ number: Int32) -> Bool {{ chosenMutant == number }}
"""

# Environments of child processes that omit our own variables: file, snippet, replacement.
PASSAGES = [
    (
        "Sources/Runtime/Supervision/ChildSpecification.swift",
        '"SSL_CERT_FILE", "SSL_CERT_DIR", "TMPDIR", "LANG", "TZ",',
        f'"SSL_CERT_FILE", "SSL_CERT_DIR", "TMPDIR", "LANG", "TZ", "{VARIABLE}",',
    ),
    (
        "Tests/TestKit/Stack/Programs.swift",
        '!name.hasPrefix("IMAGEBUS_") && !name.hasPrefix("XDG_")',
        f'name == "{VARIABLE}" || '
        '(!name.hasPrefix("IMAGEBUS_") && !name.hasPrefix("XDG_"))',
    ),
]


def text_of(root: Path, file: str) -> str | None:
    """The text of a file of the tree; None if there is none."""
    path = root / file
    return path.read_text() if path.is_file() else None


def check(mutants: list[Mutant], root: Path = ROOT) -> list[str]:
    """All reasons why the list can't be applied to the tree."""
    found = []
    for file, there in by_file(mutants).items():
        found += faults(there, text_of(root, file))
    for file, snippet, _ in PASSAGES:
        if len(occurrences(snippet, text_of(root, file) or "")) != 1:
            found.append(f"{file} no longer has the line that passes {VARIABLE} on: see tree.py")
    return found + unknown_tests(mutants, root)


def unknown_tests(mutants: list[Mutant], root: Path) -> list[str]:
    """Filters that name a single test, as in `^Module\\.Suite/test`, of which there is none."""
    found = []
    for mutant in mutants:
        parts = NAMED_TEST.match(mutant.tests)
        if parts is None:
            continue
        module, name = parts.groups()
        files = (root / "Tests" / module).rglob("*.swift")
        if not any(f"func {name}" in path.read_text() for path in files):
            found.append(f"mutant {mutant.number}: no test in Tests/{module} is named {name}")
    return found


def changed_texts(mutants: list[Mutant], root: Path) -> dict[str, str]:
    """The text of every file that differs in the copy or is only there."""
    texts: dict[str, str] = {}
    for file, there in by_file(mutants).items():
        texts[file] = applied(there, (root / file).read_text())
    for file, snippet, replacement in PASSAGES:
        text = texts.get(file) or (root / file).read_text()
        texts[file] = text.replace(snippet, replacement)
    for module in {mutant.module for mutant in mutants}:
        texts[f"{module}/{SWITCH}"] = SWITCH_TEXT
    return texts


def prepare(mutants: list[Mutant], target: Path, root: Path = ROOT) -> None:
    """Makes the copy, or updates it so that only changed files are built again."""
    found = check(mutants, root)
    if found:
        raise MutantError("\n".join(found))
    if target.exists() and any(target.iterdir()) and not (target / MARK).exists():
        raise MutantError(f"{target} is not empty and was not made by 'prepare': name another")
    target.mkdir(parents=True, exist_ok=True)
    texts = changed_texts(mutants, root)
    files = [file for file in tracked(root) if lexists(root / file)]
    remove_others(target, set(files) | set(texts))
    for file in files:
        if file not in texts:
            copy(root / file, target / file)
    for file, text in texts.items():
        write(target / file, text)
    rows = [
        asdict(mutant) | {"line": line(mutant, (root / mutant.file).read_text())}
        for mutant in mutants
    ]
    write(target / MARK, json.dumps({"commit": commit(root), "mutants": rows}, indent=1))


def tracked(root: Path) -> list[str]:
    """The files that git knows."""
    out = subprocess.run(
        ["git", "-C", root, "ls-files", "-z"], check=True, capture_output=True, text=True
    ).stdout
    return [file for file in out.split("\0") if file]


def commit(root: Path) -> str:
    """The commit of the tree, followed by `+` if tracked files differ from it."""
    out = subprocess.run(
        ["git", "-C", root, "describe", "--always", "--dirty=+", "--abbrev=12", "--exclude=*"],
        capture_output=True, text=True, check=False,
    ).stdout
    return out.strip() or "unknown"


def lexists(path: Path) -> bool:
    """Whether the path exists, even if only as a dangling link."""
    return path.is_symlink() or path.exists()


def remove_others(target: Path, wanted: set[str]) -> None:
    """Removes files of an earlier copy that this one doesn't have; build products stay."""
    for folder, folders, files in os.walk(target):
        place = Path(folder).relative_to(target)
        if place == Path():
            folders[:] = [name for name in folders if not name.startswith(".build")]
            files = [name for name in files if name != MARK]
        links = [name for name in folders if (target / place / name).is_symlink()]
        for name in files + links:
            if (place / name).as_posix() not in wanted:
                (target / place / name).unlink()


def copy(source: Path, place: Path) -> None:
    """Copies a file or a link, if it differs: an untouched file is not compiled again."""
    if source.is_symlink():
        if not (place.is_symlink() and place.readlink() == source.readlink()):
            place.unlink(missing_ok=True)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(source.readlink())
        return
    same = place.is_file() and not place.is_symlink() \
        and place.stat().st_mode == source.stat().st_mode \
        and place.read_bytes() == source.read_bytes()
    if not same:
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, place)


def write(place: Path, text: str) -> None:
    """Writes a text, if it differs from what is there."""
    if not place.is_file() or place.read_text() != text:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


def prepared(target: Path) -> tuple[str, list[tuple[Mutant, int]]]:
    """The commit of a copy, and its mutants with their lines."""
    try:
        mark = json.loads((target / MARK).read_text())
    except OSError:
        raise MutantError(f"{target} was not made by 'prepare': run that first") from None
    rows = [(Mutant(**{k: v for k, v in row.items() if k != "line"}), row["line"])
            for row in mark["mutants"]]
    return mark["commit"], rows


def build(target: Path) -> int:
    """Builds programs and tests in debug, with the options of scripts/test; returns the status."""
    prepared(target)
    return subprocess.run(
        ["scripts/swift-debug", "build", "--build-tests"], cwd=target, check=False
    ).returncode
