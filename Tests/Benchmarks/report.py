"""Prints the table of scripts/bench.

    report.py SAMPLES SETTINGS [--json FILE] [--markdown FILE] ROW…

SAMPLES has a line for each measurement: its name, a tab, and a JSON object, or "!" and the reason
why there is none. SETTINGS is a JSON object that's printed as is. The exit status is 1 if a
requested row could not be measured.
"""

import argparse
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys

import rows

HEADER = ("What", "Ours", "Spread", "Reference", "", "Ratio", "Target", "Verdict")


class Table:
    """The measurements by name, and the rows made of them. If a name has several measurements,
    their median is used.
    """

    def __init__(self, path):
        self.samples, self.failures, self.rows = {}, {}, []
        for line in open(path):
            name, _, text = line.rstrip("\n").partition("\t")
            if text.startswith("!"):
                self.failures[name] = text[1:]
            else:
                self.samples.setdefault(name, []).append(json.loads(text))
        for name, measured in self.samples.items():
            wrong = sum(one.get("errors") or 0 for one in measured)
            if wrong:
                self.failures[name] = f"{wrong} loads went wrong"

    def values(self, path):
        """Returns the value at a path of each measurement that has it."""
        name, *members = path.split("/")
        found = []
        for value in self.samples.get(name, []):
            for member in members:
                value = value.get(member) if isinstance(value, dict) else None
            if value is not None:
                found.append(value)
        return found

    def median(self, value):
        """Returns the median of the values at a path; other values are returned as they are."""
        if not isinstance(value, str):
            return value
        found = self.values(value)
        return statistics.median(found) if found else None

    def spread(self, path):
        """Returns the smallest and largest values relative to the median, in percent."""
        found = self.values(path)
        if len(found) < 2 or not statistics.median(found):
            return ""
        middle = statistics.median(found)
        return f"{min(found) / middle * 100 - 100:+.0f}/{max(found) / middle * 100 - 100:+.0f} %"

    def row(self, title, unit, ours=None, reference=None, reference_name="", target=None, *,
            limit=None, scale=1, reference_scale=1, spread=False, **more):
        """Adds a row. `target` is the promised ratio: a minimum if more is better, a maximum if
        less is. `limit` is a promise without a reference: an upper bound, or the exact value.
        """
        self.rows.append(Row(
            title, unit, scaled(self.median(ours), scale),
            scaled(self.median(reference), reference_scale), reference_name, target,
            self.median(limit), self.spread(ours) if spread else "", **more))


def scaled(value, scale):
    return value if value is None or scale == 1 else value * scale


class Row:
    def __init__(self, title, unit, ours, reference, reference_name, target, limit, spread,
                 exactly=False, less_is_better=False, command="", ratio_digits=2):
        self.title, self.unit, self.ours, self.spread = title, unit, ours, spread
        self.reference, self.reference_name = reference, reference_name
        # For decibels the difference counts, not the ratio.
        has_ratio = ours is not None and reference and unit != "dB"
        self.ratio = ours / reference if has_ratio else None
        # Small ratios keep one significant digit.
        self.ratio_text = (
            "-" if self.ratio is None else
            f"{self.ratio:.{ratio_digits}f}" if self.ratio >= 0.01 else f"{self.ratio:.1g}")
        sign = "≤" if less_is_better else "≥"
        self.target_text = (
            f"{sign} {target:g} ×" if target is not None else
            f"{'=' if exactly else sign} {limit:,g} {unit}".strip() if limit is not None else "-")
        value, wanted = (self.ratio, target) if target is not None else (ours, limit)
        if command:
            self.verdict = f"not run here: {command}"
        elif ours is None:
            self.verdict = "not measured"
        elif wanted is None:
            self.verdict = "-"
        elif value is None:
            self.verdict = "no reference"
        else:
            is_met = (
                value == wanted if exactly else
                value <= wanted if less_is_better else value >= wanted)
            self.verdict = "met" if is_met else "short"

    def number(self, value):
        if value is None:
            return "-"
        digits = 0 if value == int(value) or value >= 1000 else 1 if value >= 100 else 2
        return f"{value:,.{digits}f} {self.unit}".strip()

    def cells(self):
        return (
            self.title, self.number(self.ours), self.spread, self.number(self.reference),
            self.reference_name, self.ratio_text, self.target_text, self.verdict)

    def facts(self):
        return {
            "what": self.title, "unit": self.unit, "ours": self.ours, "spread": self.spread,
            "reference": self.reference, "reference_name": self.reference_name,
            "ratio": self.ratio, "target": self.target_text, "verdict": self.verdict,
        }


# ---- The machine and the versions used, which the results depend on


def said(*command, pattern=r"(\S.*)"):
    """Returns the match in a program's stdout and stderr, or "none" if the program is missing."""
    try:
        text = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, timeout=20, check=False,
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return "none"
    found = re.search(pattern, text)
    return found[1].strip() if found else "none"


def commit():
    name = said("git", "rev-parse", "--short", "HEAD")
    changed = said("git", "status", "--porcelain", "--untracked-files=no")
    return name if changed == "none" else name + " with changes"


def machine():
    memory = int(said("cat", "/proc/meminfo", pattern=r"MemTotal:\s*(\d+)")) / 1e6
    return {
        "cpu": said("cat", "/proc/cpuinfo", pattern=r"model name\s*:\s*(.*)"),
        "cores": os.cpu_count(),
        "memory": f"{memory:.0f} GB",
        "kernel": platform.release(),
        "load average": " ".join(f"{one:.1f}" for one in os.getloadavg()),
    }


def versions(kept):
    number = r"(\d+(?:\.\d+)+)"
    valkey = shutil.which("valkey-server") or "redis-server"
    packages = {
        "libvips": "vips", "libzmq": "libzmq", "libjpeg-turbo": "libjpeg", "zimg": "zimg",
        "libwebp": "libwebp", "libdeflate": "libdeflate",
    }
    return {
        "imagebus": commit(),
        **{name: said("pkg-config", "--modversion", one) for name, one in packages.items()},
        "nginx": said("nginx", "-v", pattern=number),
        "wrk": said("wrk", "-v", pattern=number),
        os.path.basename(valkey): said(valkey, "--version", pattern="v=(\\S+)"),
        "thumbor": said(f"{kept}/thumbor/bin/thumbor", "--version", pattern=number),
        "Pillow": said(
            f"{kept}/thumbor/bin/python", "-c", "import PIL; print(PIL.__version__)",
            pattern=number),
    }


# ---- Output


def aligned(table):
    widths = [max(len(line[place]) for line in table) for place in range(len(table[0]))]
    for line in table:
        yield "  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip()


def markdown(table):
    yield "| " + " | ".join(table[0]) + " |"
    yield "|---|--:|---|--:|---|--:|--:|---|"
    for line in table[1:]:
        yield "| " + " | ".join(cell.strip() for cell in line) + " |"


def listed(title, values):
    return f"{title}: " + ", ".join(f"{name} {value}" for name, value in values.items())


def write(path, text):
    if path:
        with open(path, "w") as out:
            out.write(text + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("samples")
    parser.add_argument("settings")
    parser.add_argument("--json")
    parser.add_argument("--markdown")
    parser.add_argument("rows", nargs="+")
    told = parser.parse_args()
    table = Table(told.samples)
    rows.add_rows(table, told.rows)
    notes = list(rows.notes(table))
    with open(told.settings) as file:
        settings = json.load(file)
    facts = {
        "machine": machine(), "versions": versions(settings.pop("kept")), "settings": settings}
    lines = [HEADER] + [row.cells() for row in table.rows]
    below = [listed(title, values) for title, values in facts.items()]
    print("", *aligned(lines), "", *notes, "", *below, "", sep="\n")
    for name, why in table.failures.items():
        print(f"not measured: {name}: {why}")
    write(told.markdown, "\n".join([
        *markdown(lines), "", *(f"- {line}" for line in notes + below)]))
    found = {
        "rows": [row.facts() for row in table.rows], "notes": notes, **facts,
        "failures": table.failures, "samples": table.samples}
    write(told.json, json.dumps(found, indent=1, ensure_ascii=False))
    wanting = [why for why in table.failures.values() if not why.startswith("no reference")]
    sys.exit(1 if wanting else 0)


main()
