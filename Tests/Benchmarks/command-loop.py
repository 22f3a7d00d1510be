"""Measures a command that converts a file by running it repeatedly, several at a time.

    command-loop.py AT_A_TIME SECONDS OUT COMMAND…   "{out}" in COMMAND is its output file

Prints one JSON object. OUT receives the output of one run.
"""

import json
import os
import subprocess
import sys
import threading
import time

at_a_time, seconds, out = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
folder, name = os.path.split(out)
ended, failures = [], []


def run(number, end):
    path = os.path.join(folder, f"{number}-{name}")
    command = [word.replace("{out}", path) for word in sys.argv[4:]]
    while time.monotonic() < end and not failures:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode or not os.path.exists(path):
            failures.append(done.stderr.strip() or f"status {done.returncode}")
            return
        ended.append(time.monotonic())
    os.replace(path, out)


start = time.monotonic()
lanes = [threading.Thread(target=run, args=(number, start + seconds))
         for number in range(at_a_time)]
for lane in lanes:
    lane.start()
for lane in lanes:
    lane.join()
if failures:
    sys.exit(failures[0])
lasted = max(ended) - start
print(json.dumps({"rps": len(ended) / lasted, "bytes": os.path.getsize(out)}))
