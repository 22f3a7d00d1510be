"""Tests of the list, the copy and the judgement of runs, without a build."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import tree
from mutants import Mutant, MutantError, applied, faults, line, load, occurrences
from runs import (
    LIMIT_SECONDS_MIN, Outcome, Runner, base_runs, closing_lines, judged, limit_after,
    mutant_runs, report, share,
)

FILE = "Sources/Model/Queues/Line.swift"
TEXT = "func next() {\n    guard count < limit else { return }\n    reset()\n    count += 1\n}\n"


def mutant(number: int, original: str, mutated: str, file: str = FILE) -> Mutant:
    return Mutant(number, file, original, mutated, "A promise.", r"^LineTests\.")


BOUNDARY = mutant(7, "count < limit", "(MUTANT ? count <= limit : count < limit)")
RESET = mutant(8, "reset()", "if !MUTANT { reset() }")


def is_running(process: int) -> bool:
    try:
        stat = Path("/proc", str(process), "stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rsplit(")", 1)[1].split()[0] not in "ZX"


class ApplyTests(unittest.TestCase):
    def test_a_snippet_becomes_a_choice_with_its_number(self) -> None:
        text = applied([BOUNDARY], TEXT)
        self.assertIn("guard (isMutant(7) ? count <= limit : count < limit) else", text)
        self.assertNotIn("MUTANT", text)

    def test_all_mutants_of_a_file_are_applied(self) -> None:
        for order in ([BOUNDARY, RESET], [RESET, BOUNDARY]):
            text = applied(order, TEXT)
            self.assertIn("if !isMutant(8) { reset() }", text)
            self.assertIn("isMutant(7)", text)

    def test_a_snippet_of_several_lines_is_found(self) -> None:
        both = mutant(9, "reset()\n    count += 1", "reset()\n    if !MUTANT { count += 1 }")
        self.assertIn("if !isMutant(9) { count += 1 }", applied([both], TEXT))
        self.assertEqual(line(both, TEXT), 3)

    def test_only_the_whole_word_is_the_placeholder(self) -> None:
        kept = mutant(3, "reset()", "if !MUTANT { MUTANTS.reset() }")
        self.assertEqual(kept.code(), "if !isMutant(3) { MUTANTS.reset() }")

    def test_a_stale_snippet_is_reported_by_number(self) -> None:
        stale = mutant(4, "count > limit", "MUTANT")
        self.assertIn("mutant 4 is stale", faults([stale], TEXT)[0])
        with self.assertRaisesRegex(MutantError, "mutant 4 is stale"):
            applied([stale, RESET], TEXT)

    def test_a_snippet_that_occurs_twice_is_reported_by_number(self) -> None:
        twice = mutant(5, "count", "MUTANT")
        found = faults([twice], TEXT)[0]
        self.assertIn("mutant 5 is ambiguous: its snippet occurs 2 times", found)

    def test_overlapping_occurrences_count(self) -> None:
        self.assertEqual(occurrences("aa", "aaa"), [0, 1])

    def test_overlapping_mutants_are_reported(self) -> None:
        other = mutant(6, "limit else", "MUTANT")
        self.assertEqual(faults([BOUNDARY, other], TEXT), ["mutants 7 and 6 overlap in one file"])

    def test_a_missing_file_is_reported(self) -> None:
        self.assertIn("does not exist", faults([RESET], None)[0])


class ListTests(unittest.TestCase):
    ROW = (
        "[[mutant]]\nnumber = {number}\nfile = '{file}'\noriginal = 'a'\nmutated = '{mutated}'\n"
        "promise = 'p'\ntests = '{tests}'\n"
    )

    def read(self, *texts: str) -> list[Mutant]:
        with tempfile.TemporaryDirectory() as folder:
            for number, text in enumerate(texts):
                Path(folder, f"{number}.toml").write_text(text)
            return load(Path(folder))

    def row(self, number: int = 1, **changes: str) -> str:
        usual = {"file": FILE, "mutated": "MUTANT", "tests": "^A"}
        return self.ROW.format(number=number, **(usual | changes))

    def test_files_are_read_in_the_order_of_numbers(self) -> None:
        found = self.read(self.row(2), self.row(1))
        self.assertEqual([one.number for one in found], [1, 2])

    def test_malformed_rows_are_refused(self) -> None:
        for text in (
            self.row(mutated="a"), self.row(file="Tests/A.swift"), self.row(tests="("),
            self.row() + "more = 1\n", self.row(0), "mutant = 1",
            self.row(1) + self.row(1),
        ):
            with self.subTest(text), self.assertRaises((MutantError, TypeError)):
                self.read(text)

    def test_the_list_of_the_repository_applies(self) -> None:
        self.assertEqual(tree.check(load()), [])


    def test_a_filter_names_a_test_that_exists(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            tree.write(Path(folder, "Tests/LineTests/A.swift"), "@Test func case001_a() {}\n")

            def faults_of(tests: str) -> list[str]:
                return tree.unknown_tests(
                    [Mutant(3, FILE, "a", "MUTANT", "p", tests)], Path(folder))

            for known in (r"^LineTests\.", r"^LineTests\.A/case001_", r"^LineTests\.A/B/case001_a"):
                self.assertEqual(faults_of(known), [])
            self.assertEqual(
                faults_of(r"^LineTests\.Lines/case002_"),
                ["mutant 3: no test in Tests/LineTests is named case002_"])
            self.assertEqual(len(faults_of(r"^OtherTests\.Lines/case001_")), 1)


class CopyTests(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root, self.target = Path(scratch.name, "root"), Path(scratch.name, "copy")
        texts = {FILE: TEXT, "link-target": "x"}
        for file, snippet, _ in tree.PASSAGES:
            texts[file] = f"before {snippet} behind\n"
        for file, text in texts.items():
            tree.write(self.root / file, text)
        (self.root / "link").symlink_to("link-target")
        (self.root / "untracked").write_text("")
        for words in (["init", "-q"], ["add", *texts, "link"]):
            subprocess.run(["git", "-C", self.root, *words], check=True)

    def prepare(self, *mutants: Mutant) -> None:
        tree.prepare(list(mutants), self.target, self.root)

    def test_the_copy_has_tracked_files_mutants_and_the_switch(self) -> None:
        self.prepare(BOUNDARY, RESET)
        self.assertIn("isMutant(7)", (self.target / FILE).read_text())
        switch = self.target / "Sources/Model" / tree.SWITCH
        self.assertIn('getenv("IMAGEBUS_MUTANT")', switch.read_text())
        self.assertTrue((self.target / "link").is_symlink())
        self.assertFalse((self.target / "untracked").exists())
        for file, _, replacement in tree.PASSAGES:
            self.assertIn(replacement, (self.target / file).read_text())
        self.assertEqual((self.root / FILE).read_text(), TEXT)
        rows = tree.prepared(self.target)[1]
        self.assertEqual([(one.number, line) for one, line in rows], [(7, 2), (8, 3)])

    def test_an_update_touches_only_what_changed(self) -> None:
        self.prepare(BOUNDARY)
        built = self.target / ".build/debug/product"
        tree.write(built, "x")
        tree.write(self.target / "Sources/Gone.swift", "")
        before = (self.target / "link-target").stat().st_mtime_ns
        self.prepare(RESET)
        self.assertNotIn("isMutant(7)", (self.target / FILE).read_text())
        self.assertEqual((self.target / "link-target").stat().st_mtime_ns, before)
        self.assertTrue(built.exists())
        self.assertFalse((self.target / "Sources/Gone.swift").exists())

    def test_a_foreign_folder_is_left_alone(self) -> None:
        tree.write(self.target / "mine", "")
        with self.assertRaisesRegex(MutantError, "not made by 'prepare'"):
            self.prepare(BOUNDARY)
        with self.assertRaisesRegex(MutantError, "run that first"):
            tree.prepared(self.target)

    def test_a_stale_list_makes_no_copy(self) -> None:
        with self.assertRaisesRegex(MutantError, "mutant 4 is stale"):
            self.prepare(mutant(4, "no such", "MUTANT"))
        self.assertFalse(self.target.exists())


class RunTests(unittest.TestCase):
    def test_status_and_log_decide(self) -> None:
        passed = "✔ Test run with 12 tests in 3 suites passed after 0.1 seconds."
        self.assertEqual(judged(0, passed, 1).how, "passed")
        self.assertEqual(judged(0, passed.replace("12", "0"), 1).how, "failed")
        self.assertEqual(judged(None, passed, 1).how, "hung")
        self.assertEqual(judged(-11, "", 1).by, "signal 11")
        log = "✘ Test a() recorded an issue at A.swift:1:2\n✘ Test a() failed after 0.1 seconds.\n"
        self.assertEqual(judged(1, log, 1), Outcome("failed", 1, "a()"))

    def test_limits(self) -> None:
        self.assertEqual(limit_after(1), LIMIT_SECONDS_MIN)
        self.assertEqual(limit_after(30), 300)

    def test_runs_are_counted_and_reported(self) -> None:
        rows = [(BOUNDARY, 2), (RESET, 3)]
        asked: list[tuple[str, int, float]] = []

        def run(tests: str, number: int, limit: float) -> Outcome:
            asked.append((tests, number, limit))
            return Outcome("failed", 1, "a()") if number == 7 else Outcome("passed", 20)

        said: list[str] = []
        base = base_runs(run, [BOUNDARY.tests], 1, said.append)
        outcomes = mutant_runs(run, rows, base, 2, said.append)
        self.assertEqual(sorted(asked)[1:], [(BOUNDARY.tests, n, 200.0) for n in (7, 8)])
        self.assertEqual(share(outcomes), 0.5)
        self.assertEqual(len(said), 3)
        self.assertEqual(
            closing_lines(rows, outcomes),
            ["1 of 2 mutants noticed (50 %)", f"survivor 8 {FILE}:3: A promise."])
        text = report("abc", rows, base, outcomes)
        self.assertIn(f"| 7 | {FILE}:2 | failed | 1 | a() |", text)
        self.assertIn(f"| 8 | {FILE}:3 | survived | 20 |  |", text)

    def test_a_hang_ends_with_its_process_group(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            runner = Runner(Path(folder))
            child = Path(folder, "child")
            runner.line = lambda tests: [  # type: ignore[method-assign]
                "sh", "-c", f"sleep 60 & echo $! >{child}; wait"]
            began = time.monotonic()
            self.assertEqual(runner.run("^A", 3, 0.5).how, "hung")
            self.assertLess(time.monotonic() - began, 10)
            # A killed process is gone only once it was scheduled.
            while is_running(int(child.read_text())):
                self.assertLess(time.monotonic() - began, 60)
                time.sleep(0.01)

    def test_a_run_that_ends_is_judged_by_its_status(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            runner = Runner(Path(folder))
            runner.line = lambda tests: [  # type: ignore[method-assign]
                "sh", "-c", "echo 'Test run with 1 test passed'; exit $IMAGEBUS_MUTANT"]
            self.assertEqual(runner.run("^A", 3, 60).by, "status 3")
            self.assertEqual(runner.run("^A", 0, 60).how, "passed")
            self.assertEqual(runner.groups, set())

    def test_the_environment_names_the_mutant(self) -> None:
        runner = Runner(Path("/nowhere"))
        self.assertEqual(runner.environment(3)[tree.VARIABLE], "3")
        self.assertNotIn(tree.VARIABLE, runner.environment(0))


class MarkTests(unittest.TestCase):
    def test_the_mark_is_json(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            row = BOUNDARY.__dict__ | {"line": 2}
            Path(folder, tree.MARK).write_text(json.dumps({"commit": "c", "mutants": [row]}))
            self.assertEqual(tree.prepared(Path(folder)), ("c", [(BOUNDARY, 2)]))


if __name__ == "__main__":
    unittest.main()
