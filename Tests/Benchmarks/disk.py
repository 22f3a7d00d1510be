"""Prints the table of scripts/disk-bench: disk.py SAMPLES ENTRIES SCALE DIRECTORY [MARKDOWN]."""

import json
import statistics
import sys
import time

import machine

SIDES = ["stage", "client", "plain", "nginx"]
ROWS = [
    ("stores a second", "store_per_s", 0),
    ("the first tenth", "first_per_s", 0),
    ("the last tenth", "last_per_s", 0),
    ("memory while storing, MB", "store_peak_mb", 0),
    ("on the disk, MB", "disk_mb", 0),
    ("start to the first hit, ms", "open_ms", 1),
    ("until all is known, s", "loader_s", 0),
    ("first reads, p50 ms", "first_p50_ms", 3),
    ("first reads, p99 ms", "first_p99_ms", 3),
    ("the same again, p50 ms", "again_p50_ms", 3),
    ("the same again, p99 ms", "again_p99_ms", 3),
    ("the longest of them, ms", "again_max_ms", 1),
    ("trim to half, s", "trim_s", 1),
    ("reads while trimming, p50 ms", "trimming_p50_ms", 3),
    ("reads while trimming, p99 ms", "trimming_p99_ms", 3),
    ("the longest of them, ms", "trimming_max_ms", 1),
    ("memory while reading and trimming, MB", "serve_peak_mb", 0),
    ("stores a second over a limit", "over_per_s", 0),
    ("the limit, MB", "limit_mb", 1),
    ("the most that it counted, MB", "most_mb", 1),
    ("on the disk after that, MB", "over_disk_mb", 1),
]
# The stage reads and trims in separate processes.
OTHER_NAMES = {"serve_peak_mb": "read_peak_mb"}


def read(path):
    """Returns the results of each side and whether a measurement failed."""
    figures = {side: {} for side in SIDES}
    loads, failed = {}, False
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            name, text = line.rstrip("\n").split("\t", 1)
            side, part = name.split(".")
            if text.startswith("!"):
                failed = True
                print(f"disk-bench: {name}: {text[1:]}", file=sys.stderr)
                continue
            value = json.loads(text)
            if side == "nginx" and "rps" in value:
                loads.setdefault(part, []).append(value)
                if value["misses"] and part in ("first", "again"):
                    failed = True
                    print(f"disk-bench: {name}: {value['misses']} misses", file=sys.stderr)
            else:
                figures[side].update(value)
    figures["nginx"].update(of_loads(loads))
    return figures, failed


def of_loads(loads):
    """Summarizes nginx's loads: stores by tenths, and the worst p99 of several read runs."""
    found = {}
    stores = [load["rps"] for load in loads.pop("store", [])]
    if stores:
        found = {
            "store_per_s": statistics.harmonic_mean(stores),
            "first_per_s": stores[0], "last_per_s": stores[-1],
        }
    for part, runs in loads.items():
        found[f"{part}_p50_ms"] = statistics.median(run["p50_ms"] for run in runs)
        found[f"{part}_p99_ms"] = max(run["p99_ms"] for run in runs)
        found[f"{part}_max_ms"] = max(run["max_ms"] for run in runs)
    return found


def table(figures):
    yield "| | cache stage | client | plain files | nginx |"
    yield "|---|--:|--:|--:|--:|"
    for title, key, digits in ROWS:
        cells = []
        for side in SIDES:
            value = figures[side].get(key, figures[side].get(OTHER_NAMES.get(key)))
            cells.append("–" if value is None else f"{value:,.{digits}f}")
        yield f"| {title} | {' | '.join(cells)} |"


def main():
    samples, entries, scale, directory, *markdown = sys.argv[1:]
    figures, failed = read(samples)
    said = machine.machine()
    lines = [
        f"{int(entries):,} entries of 4 to 400 KiB, scale {scale}, "
        f"{time.strftime('%Y-%m-%d')}, commit {machine.commit()}.",
        "Machine: " + ", ".join(f"{key} {value}" for key, value in said.items()) + ".",
        f"File system: {machine.said('findmnt', '-n', '-o', 'FSTYPE,OPTIONS', '-T', directory)}.",
        "",
        *table(figures),
    ]
    text = "\n".join(lines) + "\n"
    print(text)
    if markdown:
        with open(markdown[0], "w", encoding="utf-8") as file:
            file.write(text)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
