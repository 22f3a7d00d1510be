"""Measures how long processes take to start.

    start.py COUNT COMMAND…    milliseconds from exec to the first byte on the command's stdout
    start.py --log FILE        milliseconds from "started" to "ready" by kind, from a log of serve

Prints one JSON object.
"""

import datetime
import json
import re
import statistics
import subprocess
import sys
import time


def first_byte(command):
    began = time.monotonic()
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    with process:
        byte = process.stdout.read(1)
        took = (time.monotonic() - began) * 1e3
        process.stdout.read()
    if process.returncode != 0 or not byte:
        sys.exit(f"{command[0]} ended with status {process.returncode}")
    return took


def by_kind(path):
    """The supervisor logs `<time> … <kind> <pid> started`, and `ready` after the Welcome."""
    begun, took = {}, {}
    for line in open(path):
        found = re.search(r"(\S+Z)\W.*?\b(\w+) (\d+) (started|ready)\b", line)
        if not found:
            continue
        moment = datetime.datetime.fromisoformat(found[1].strip('"').replace("Z", "+00:00"))
        if found[4] == "started":
            begun[found[3]] = moment
        elif found[3] in begun:
            took[found[2]] = (moment - begun[found[3]]).total_seconds() * 1e3
    if not took:
        sys.exit(f"{path} says nothing of processes that started")
    return took


if sys.argv[1] == "--log":
    print(json.dumps(by_kind(sys.argv[2])))
else:
    times = sorted(first_byte(sys.argv[2:]) for _ in range(int(sys.argv[1])))
    middle = statistics.median(times)
    print(json.dumps({"p50_ms": round(middle, 1), "most_ms": round(times[-1], 1)}))
