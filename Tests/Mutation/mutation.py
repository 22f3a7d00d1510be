"""Measures how many small semantic slips the tests notice.

Each slip is a choice at run time in a copy of the repository, so that one build serves all runs:
prepare the copy, build it, run it. The list is in Tests/Mutation/mutants.
"""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

import tree
from mutants import Mutant, MutantError, load
from runs import SHARE_MIN, Runner, base_runs, closing_lines, mutant_runs, report, share


def main() -> int:
    arguments = parsed(sys.argv[1:])
    try:
        return {"check": check, "prepare": prepare, "build": build, "run": run}[
            arguments.command
        ](arguments)
    except MutantError as error:
        for text in str(error).splitlines():
            print(f"mutation: {text}", file=sys.stderr)
        return 2


def parsed(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/mutation", description=__doc__.split("\n\n")[0],
        epilog="Exit status: 0 on success, 1 if the list is stale, the build fails or fewer than "
        "90 % of the mutants are noticed, 2 if nothing can be measured.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("check", help="check that every snippet occurs exactly once in its file")
    for name, text in [
        ("prepare", "copy the tracked files to DIR with all mutants built in"),
        ("build", "build the programs and tests of DIR in debug"),
        ("run", "run the tests unmutated, then once for each mutant"),
    ]:
        commands.add_parser(name, help=text).add_argument("dir", metavar="DIR", type=Path)
    run = commands.choices["run"]
    run.add_argument(
        "--only", metavar="N,…", type=numbers, help="run these mutants alone (all)")
    run.add_argument(
        "--jobs", metavar="N", type=count, default=1, help="runs at the same time (1)")
    run.add_argument(
        "--report", metavar="FILE", type=Path,
        help="write the report to this file (DIR/.build/mutation/report.txt)")
    return parser.parse_args(words)


def numbers(text: str) -> set[int]:
    return {int(word) for word in text.split(",")}


def count(text: str) -> int:
    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not an integer of 1 or more")
    return int(text)


def check(_: argparse.Namespace) -> int:
    mutants = load()
    found = tree.check(mutants)
    for text in found:
        print(f"mutation: {text}", file=sys.stderr)
    if not found:
        print(f"mutation: {len(mutants)} mutants apply")
    return 1 if found else 0


def prepare(arguments: argparse.Namespace) -> int:
    mutants = load()
    tree.prepare(mutants, arguments.dir.resolve())
    print(f"mutation: {arguments.dir} has {len(mutants)} mutants; now: scripts/mutation build")
    return 0


def build(arguments: argparse.Namespace) -> int:
    return 1 if tree.build(arguments.dir.resolve()) else 0


def run(arguments: argparse.Namespace) -> int:
    target = arguments.dir.resolve()
    commit, rows = tree.prepared(target)
    rows = chosen(rows, arguments.only)
    runner = Runner(target)
    if not runner.bundle.exists():
        raise MutantError(f"{target} is not built: run scripts/mutation build {arguments.dir}")

    def say(text: str) -> None:
        print(f"mutation: {text}", flush=True)

    def interrupted(number: int, _: object) -> None:
        runner.stop()
        raise SystemExit(128 + number)

    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, interrupted)
    filters = sorted({mutant.tests for mutant, _ in rows})
    base = base_runs(runner.run, filters, arguments.jobs, say)
    broken = [tests for tests in filters if base[tests].is_noticed]
    if broken:
        raise MutantError(
            f"without a mutant these tests do not pass: {', '.join(broken)}; "
            f"see the logs in {runner.logs}")
    outcomes = mutant_runs(runner.run, rows, base, arguments.jobs, say)
    place = arguments.report or runner.logs / "report.txt"
    place.write_text(report(commit, rows, base, outcomes))
    for text in closing_lines(rows, outcomes):
        say(text)
    say(f"the report is in {place}")
    return 0 if share(outcomes) >= SHARE_MIN else 1


def chosen(rows: list[tuple[Mutant, int]], only: set[int] | None) -> list[tuple[Mutant, int]]:
    """The mutants with these numbers, or all of them."""
    unknown = (only or set()) - {mutant.number for mutant, _ in rows}
    if unknown:
        raise MutantError(f"there is no mutant {', '.join(map(str, sorted(unknown)))}")
    found = [row for row in rows if only is None or row[0].number in only]
    if not found:
        raise MutantError("no mutant is left to run")
    return found


if __name__ == "__main__":
    sys.exit(main())
