"""Prints the table of scripts/bench.

    report.py SAMPLES SETTINGS [--json FILE] [--markdown FILE] ROW…

SAMPLES has a line for each measurement: its name, a tab, and a JSON object, or "!" and the reason
why there is none. SETTINGS is a JSON object that's printed as is. The exit status is 1 if a
requested row could not be measured.
"""

import argparse
import json
import sys

import machine
from samples import Samples
from targets import rows_for

HEADER = ("What", "Ours", "Spread", "Reference", "", "Ratio", "Target", "Verdict")


def number(value, unit):
    if value is None:
        return "-"
    digits = 0 if value == int(value) or value >= 1000 else 1 if value >= 100 else 2
    return f"{value:,.{digits}f} {unit}".strip()


def cells(row):
    return (
        row.title, number(row.ours, row.unit), row.spread, number(row.reference, row.unit),
        row.reference_name, row.ratio_text, row.target_text, row.verdict)


def aligned(table):
    widths = [max(len(line[place]) for line in table) for place in range(len(table[0]))]
    for line in table:
        padded = [cell.ljust(width) for cell, width in zip(line, widths)]
        yield "  ".join(padded).rstrip()


def markdown(table):
    yield "| " + " | ".join(table[0]) + " |"
    yield "|---|--:|---|--:|---|--:|--:|---|"
    for line in table[1:]:
        yield "| " + " | ".join(cell.strip() for cell in line) + " |"


def below_markdown(lines):
    return [f"- {line}" for line in lines]


def listed(title, values):
    return f"{title}: " + ", ".join(f"{name} {value}" for name, value in values.items())


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("samples")
    parser.add_argument("settings")
    parser.add_argument("--json")
    parser.add_argument("--markdown")
    parser.add_argument("rows", nargs="+")
    return parser.parse_args()


def write(path, text):
    if path:
        with open(path, "w") as out:
            out.write(text + "\n")


def main():
    told = arguments()
    samples = Samples(told.samples)
    rows, notes = rows_for(samples, told.rows)
    with open(told.settings) as file:
        settings = json.load(file)
    facts = {
        "machine": machine.machine(),
        "versions": machine.versions(settings.pop("kept")),
        "settings": settings,
    }
    table = [HEADER] + [cells(row) for row in rows]
    below = [listed(title, values) for title, values in facts.items()]
    print("", *aligned(table), "", *notes, "", *below, "", sep="\n")
    for name, why in samples.failures.items():
        print(f"not measured: {name}: {why}")
    write(told.markdown, "\n".join([*markdown(table), "", *below_markdown(notes + below)]))
    found = {
        "rows": [row.facts() for row in rows], "notes": notes, **facts,
        "failures": samples.failures, "samples": samples.all}
    write(told.json, json.dumps(found, indent=1, ensure_ascii=False))
    wanting = [why for why in samples.failures.values() if not why.startswith("no reference")]
    sys.exit(1 if wanting else 0)


main()
