"""Runs of the tests with one mutant each, and the report about them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from mutants import Mutant
from tree import VARIABLE

SHARE_MIN = 0.9
LIMIT_FACTOR = 10
LIMIT_SECONDS_MIN = 60.0
# No unmutated run of a filter takes longer, unless it hangs.
BASE_SECONDS_MAX = 1_800.0

PASSED = re.compile(r"Test run with [1-9]\d* tests? .*passed")
FAILED_TEST = re.compile(r'^\W+ Test "?([^"\n]+?)"? (?:recorded an issue|failed after)', re.M)


@dataclass(frozen=True)
class Outcome:
    """How a run ended: `how` is "passed", "failed", "crashed" or "hung"."""

    how: str
    seconds: float
    by: str = ""

    @property
    def is_noticed(self) -> bool:
        return self.how != "passed"


class Runner:
    """Starts the tests of a built copy, each run in a process group of its own."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.products = (target / ".build/debug").resolve()
        self.logs = target / ".build/mutation"
        self.groups: set[int] = set()
        self.lock = threading.Lock()
        self.is_stopped = False

    @property
    def bundle(self) -> Path:
        return self.products / "imagebusPackageTests.xctest"

    def line(self, tests: str) -> list[str]:
        """The command that runs the tests that a filter names, one after the other."""
        return [
            str(self.bundle), "--testing-library", "swift-testing", "--no-parallel",
            f"--filter={tests}",
        ]

    def environment(self, number: int) -> dict[str, str]:
        """The environment of a run; number 0 stands for no mutant."""
        own = {"NO_COLOR": "1", "IMAGEBUS_PROGRAMS": str(self.products)}
        kept = {name: value for name, value in os.environ.items() if name != VARIABLE}
        return kept | own | ({VARIABLE: str(number)} if number else {})

    def run(self, tests: str, number: int, limit: float) -> Outcome:
        """Runs the tests of a filter with a mutant, for `limit` seconds at most."""
        self.logs.mkdir(parents=True, exist_ok=True)
        name = f"{number:03}" if number else "base-" + re.sub(r"\W+", "-", tests).strip("-")
        log = self.logs / f"{name}.log"
        began = time.monotonic()
        with log.open("wb") as output:
            with self.lock:
                if self.is_stopped:
                    return Outcome("hung", 0)
                process = subprocess.Popen(
                    self.line(tests), cwd=self.target, env=self.environment(number),
                    stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
                self.groups.add(process.pid)
            is_ended = False
            try:
                is_ended = ended(process, limit)
            finally:
                status = self.end_group(process)
        seconds = time.monotonic() - began
        return judged(status if is_ended else None, log.read_text(errors="replace"), seconds)

    def end_group(self, process: subprocess.Popen[bytes]) -> int:
        """Kills the remaining processes of a run, then reaps its first process: until then its
        process group ID can't be reused. Returns the status of that process."""
        with self.lock:
            os.killpg(process.pid, signal.SIGKILL)
            self.groups.discard(process.pid)
        return process.wait()

    def stop(self) -> None:
        """Ends all runs and starts no other."""
        with self.lock:
            self.is_stopped = True
            for group in self.groups:
                os.killpg(group, signal.SIGKILL)


def ended(process: subprocess.Popen[bytes], limit: float) -> bool:
    """Waits until the process ends, for `limit` seconds at most, and leaves it to be reaped."""
    until = time.monotonic() + limit
    while time.monotonic() < until:
        if os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            return True
        time.sleep(0.05)
    return False


def judged(status: int | None, log: str, seconds: float) -> Outcome:
    """The judgement of a run by its status (None: past its limit) and its log."""
    if status is None:
        return Outcome("hung", seconds)
    if status == 0 and PASSED.search(log):
        return Outcome("passed", seconds)
    if status < 0:
        return Outcome("crashed", seconds, f"signal {-status}")
    names = list(dict.fromkeys(FAILED_TEST.findall(log)))
    return Outcome("failed", seconds, ", ".join(names[:3]) or f"status {status}")


def limit_after(seconds: float) -> float:
    """The time limit of a mutant whose tests take this long without one."""
    return max(LIMIT_SECONDS_MIN, LIMIT_FACTOR * seconds)


Run = Callable[[str, int, float], Outcome]


def base_runs(
    run: Run, filters: Iterable[str], jobs: int, say: Callable[[str], None]
) -> dict[str, Outcome]:
    """The runs of all filters without a mutant."""
    outcomes: dict[str, Outcome] = {}
    with ThreadPoolExecutor(jobs) as pool:
        waiting = {pool.submit(run, tests, 0, BASE_SECONDS_MAX): tests for tests in filters}
        for done in as_completed(waiting):
            tests, outcome = waiting[done], done.result()
            outcomes[tests] = outcome
            say(f"base {tests}: {outcome.how} after {outcome.seconds:.0f} s {outcome.by}".rstrip())
    return outcomes


def mutant_runs(
    run: Run, rows: list[tuple[Mutant, int]], base: dict[str, Outcome], jobs: int,
    say: Callable[[str], None],
) -> dict[int, Outcome]:
    """The runs of all mutants, by their numbers."""
    outcomes: dict[int, Outcome] = {}
    with ThreadPoolExecutor(jobs) as pool:
        waiting = {
            pool.submit(
                run, mutant.tests, mutant.number, limit_after(base[mutant.tests].seconds)
            ): (mutant, line)
            for mutant, line in rows
        }
        for done in as_completed(waiting):
            (mutant, line), outcome = waiting[done], done.result()
            outcomes[mutant.number] = outcome
            word = f"noticed ({outcome.how})" if outcome.is_noticed else "SURVIVED"
            say(
                f"{len(outcomes)}/{len(rows)} mutant {mutant.number} {mutant.file}:{line}: "
                f"{word} after {outcome.seconds:.0f} s"
            )
    return outcomes


def share(outcomes: dict[int, Outcome]) -> float:
    """The share of mutants that the tests noticed."""
    return sum(o.is_noticed for o in outcomes.values()) / max(1, len(outcomes))


def closing_lines(
    rows: list[tuple[Mutant, int]], outcomes: dict[int, Outcome]
) -> list[str]:
    """The share noticed, then the survivors by number."""
    noticed = sum(outcome.is_noticed for outcome in outcomes.values())
    lines = [f"{noticed} of {len(outcomes)} mutants noticed ({100 * share(outcomes):.0f} %)"]
    for mutant, line in rows:
        if not outcomes[mutant.number].is_noticed:
            lines.append(f"survivor {mutant.number} {mutant.file}:{line}: {mutant.promise}")
    return lines


def report(
    commit: str, rows: list[tuple[Mutant, int]], base: dict[str, Outcome],
    outcomes: dict[int, Outcome],
) -> str:
    """The report as Markdown."""
    def cell(text: str) -> str:
        return text.replace("|", "\\|").replace("\n", " ")

    survivors = [row for row in rows if not outcomes[row[0].number].is_noticed]
    lines = [
        "# Mutation run", "", f"Commit {commit}. {closing_lines(rows, outcomes)[0]}.", "",
        "## Survivors", "",
    ]
    if survivors:
        lines += ["| number | place | promise that no test holds | tests |", "|--:|---|---|---|"]
    else:
        lines += ["None."]
    for mutant, line in survivors:
        lines.append(
            f"| {mutant.number} | {mutant.file}:{line} | {cell(mutant.promise)} "
            f"| `{cell(mutant.tests)}` |")
    lines += [
        "", "## All mutants", "", "| number | place | result | seconds | noticed by |",
        "|--:|---|---|--:|---|",
    ]
    for mutant, line in rows:
        outcome = outcomes[mutant.number]
        how = outcome.how if outcome.is_noticed else "survived"
        lines.append(
            f"| {mutant.number} | {mutant.file}:{line} | {how} | {outcome.seconds:.0f} "
            f"| {cell(outcome.by)} |")
    lines += ["", "## Unmutated runs", "", "| tests | seconds |", "|---|--:|"]
    lines += [f"| `{cell(tests)}` | {base[tests].seconds:.0f} |" for tests in sorted(base)]
    return "\n".join(lines) + "\n"
