"""A Swift package outside the repository, and the output of compiler and linker for it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

from documents import REPOSITORY

FOLDER = REPOSITORY / ".build" / "outsider"
PACKAGE = FOLDER / "package"
SCRATCH = FOLDER / "build"
PRODUCTS = SCRATCH / "debug"
# The loads that `imagebus bench hit` counts, and its random numbers.
MEASURED = "WarmImages.swift", "SeededNumbers.swift"


def build(snippet: str, tutorial: str, pixels: str, foundation: str, negative: str) -> None:
    """Builds the package with these main programs. Earlier build products are reused."""
    shutil.rmtree(PACKAGE, ignore_errors=True)
    for example, target in ("Thumbnailer", "service"), ("QOI", "qoi"):
        shutil.copytree(REPOSITORY / "Examples" / example, PACKAGE / "Sources" / target)
    shutil.copy(REPOSITORY / "Tests" / "Outsider" / "Package.swift", PACKAGE)
    (PACKAGE / "imagebus").symlink_to(REPOSITORY)
    hits = PACKAGE / "Sources" / "hits"
    shutil.copytree(REPOSITORY / "Tests" / "Outsider" / "Hits", hits)
    for path in MEASURED:
        source = REPOSITORY / "Sources" / "Programs" / "imagebus-bench" / path
        # The types imported from there are those that the library exports.
        text = source.read_text().replace("import Model\n", "")
        (hits / source.name).write_text(text)
    programs = {"snippet": snippet, "strict-snippet": snippet, "tutorial": tutorial}
    programs |= {"pixels": pixels, "foundation": foundation, "negative": negative}
    for target, text in programs.items():
        (PACKAGE / "Sources" / target).mkdir()
        (PACKAGE / "Sources" / target / "main.swift").write_text(text)
    run("swift", "build", "--package-path", PACKAGE, "--scratch-path", SCRATCH)


def run(*command: str | Path) -> str:
    """The output of a command. An exit status other than 0 is an error that contains all of the
    output.
    """
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if ended.returncode != 0:
        raise AssertionError(f"{command}: {ended.returncode}\n{ended.stdout}\n{ended.stderr}")
    return ended.stdout


def libraries(program: str) -> set[str]:
    """The linked libraries, without libc, its parts, and Swift's own libraries."""
    needed = re.findall(
        r"\(NEEDED\).*\[(?:lib)?(.+?)\.so[.\d]*\]", run("readelf", "-dW", PRODUCTS / program)
    )
    system = {"c", "m", "gcc_s", "stdc++", "pthread", "dl", "rt", "ld-linux-x86-64"}
    system |= {"ld-linux-aarch64"}
    return {name for name in needed if name not in system and not name.startswith("swift")}


def exported_types(library: str = "Client/Imagebus") -> set[str]:
    """`Module.Type` of all types of other modules that a library exports."""
    folder = REPOSITORY / "Sources" / library
    names = folder / f"{folder.name}PublicNames.swift"
    return set(re.findall(r"^@_exported public import \w+ (\w+\.\w+)$", names.read_text(), re.M))


def types_in_declarations(library: str = "Client/Imagebus") -> set[str]:
    """`Module.Type` of all types of other modules that users of a library encounter: in its
    declarations, and in initializers, properties and cases of the types that it exports.
    """
    exported, own = exported_types(library), library.split("/")[1]
    met: set[str] = set()
    for module in {own} | {name.split(".")[0] for name in exported}:
        for symbol in symbols(module):
            owner = f"{module}.{symbol['pathComponents'][0]}"
            if module == own or owner in exported and is_part(symbol):
                met |= {name for name in types_of(symbol) if not name.startswith(f"{own}.")}
    return met


def is_part(symbol: dict) -> bool:
    kind = symbol["kind"]["identifier"]
    return kind in ("swift.init", "swift.property", "swift.type.property", "swift.enum.case")


def types_of(symbol: dict) -> set[str]:
    """The outermost types of our modules in a declaration. Types of Swift's own libraries have
    short names (`s:Si`), ours begin with a length (`s:5Model5TokenV`).
    """
    found = set()
    for fragment in symbol.get("declarationFragments", []):
        usr = fragment.get("preciseIdentifier", "")
        if fragment["kind"] == "typeIdentifier" and re.match(r"s:\d", usr):
            found.add(outermost(usr))
    return {name for name in found if not name.startswith(("_", "Swift", "Synchronization"))}


def outermost(usr: str) -> str:
    named = run("swift", "demangle", "--compact", "$s" + usr.removeprefix("s:")).strip()
    module, name, *_ = named.split(".")
    return f"{module}.{name}"


def symbols(module: str) -> list[dict]:
    """The public symbols of a module in the built package."""
    graphs = FOLDER / "symbols"
    graphs.mkdir(exist_ok=True)
    maps = [*PRODUCTS.glob("C*.build/module.modulemap")]
    maps += REPOSITORY.glob("Sources/*/C*/module.modulemap")
    options = [word for path in maps for word in ("-Xcc", f"-fmodule-map-file={path}")]
    target = json.loads(run("swift", "-print-target-info"))["target"]["triple"]
    run(
        "swift", "symbolgraph-extract", "-module-name", module, "-target", target,
        "-I", PRODUCTS / "Modules", "-output-dir", graphs, *options,
    )  # fmt: skip
    return json.loads((graphs / f"{module}.symbols.json").read_text())["symbols"]
