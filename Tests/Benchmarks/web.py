"""Measures an HTTP front.

    web.py cpu SESSION COMMAND…   run a command and add the CPU time of a session's processes per
                                  request that it reports
    web.py tag URL                print the entity tag of a response
    web.py idle SESSION URL N     open N connections, send one request on each, keep them open, and
                                  send another one
    web.py fair URL N             measure the p99 of a client, alone and next to one with N requests
    web.py visit URL FIRST N      request N images one after the other, from number FIRST on

The last line is one JSON object, except for `tag`.
"""

import asyncio
import json
import os
import resource
import subprocess
import sys
import time
import urllib.request
from urllib.parse import urlsplit


def processes(session):
    return subprocess.check_output(["pgrep", "--session", session], text=True).split()


def cpu_seconds(session):
    ticks = 0
    for pid in processes(session):
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def megabytes(session):
    pages = 0
    for pid in processes(session):
        with open(f"/proc/{pid}/statm") as file:
            pages += int(file.read().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def cpu(session, *command):
    began, before = time.monotonic(), cpu_seconds(session)
    output = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    spent, seconds = cpu_seconds(session) - before, time.monotonic() - began
    report = json.loads(output.strip().splitlines()[-1])
    report["requests"] = round(report["rps"] * seconds)
    report["cpu_us"] = spent / max(1, report["requests"]) * 1e6
    return report


def tag(url):
    with urllib.request.urlopen(url) as answer:
        return answer.headers["ETag"]


class Connection:
    """A keep-alive connection."""

    def __init__(self, url, visitor="nobody"):
        self.parts, self.visitor = urlsplit(url), visitor

    async def open(self):
        self.reader, self.writer = await asyncio.open_connection(
            self.parts.hostname, self.parts.port)
        return self

    async def ask(self, path=None):
        """Sends a request; returns the status once the whole body has been read."""
        self.writer.write(
            f"GET {path or self.parts.path} HTTP/1.1\r\nHost: front\r\n"
            f"X-Visitor: {self.visitor}\r\n\r\n".encode())
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = int(head.partition("content-length:")[2].split("\r\n")[0])
        await self.reader.readexactly(length)
        return int(head.split(" ")[1])

    def close(self):
        self.writer.close()


async def idle(session, url, count):
    """Opens connections in groups, since handshakes beyond the backlog would be dropped."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, count + 200), hard))
    before, held, wrong = megabytes(session), [], 0
    for start in range(0, count, 100):
        group = await asyncio.gather(
            *(Connection(url).open() for _ in range(start, min(count, start + 100))))
        answers = await asyncio.gather(*(one.ask() for one in group))
        wrong += sum(status != 200 for status in answers)
        held += group
    after = megabytes(session)
    times = []
    for one in held[:: max(1, count // 1000)]:
        began = time.perf_counter()
        wrong += await one.ask() != 200
        times.append(time.perf_counter() - began)
    for one in held:
        one.close()
    return {
        "connections": len(held), "errors": wrong, "p50_us": percentile(times, 50) * 1e6,
        "kilobytes_each": (after - before) * 1e3 / len(held)}


def percentile(times, percent):
    return sorted(times)[min(len(times) - 1, len(times) * percent // 100)]


async def visit(url, first, count):
    """Requests images one after the other; returns all times and the number of failures."""
    one, times, wrong = await Connection(url, "one").open(), [], 0
    for number in range(first, first + count):
        began = time.perf_counter()
        wrong += await one.ask(f"{one.parts.path}/{number}.jpg") != 200
        times.append(time.perf_counter() - began)
    one.close()
    return {"times": times, "errors": wrong}


async def separate_visit(url, first, count):
    """The same in a process of its own, which waits for the front and not for another client."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, __file__, "visit", url, str(first), str(count),
        stdout=asyncio.subprocess.PIPE)
    output, _ = await process.communicate()
    return json.loads(output)


async def fair(url, count):
    """The second client keeps as many requests in flight as the front accepts."""
    base, visits = int(time.time()) * 100_000, 100
    alone = await separate_visit(url, base, visits)
    waiting = iter(range(base + 10_000, base + 10_000 + count))
    refused = 0

    async def greedy():
        nonlocal refused
        one = await Connection(url, "many").open()
        for number in waiting:
            refused += await one.ask(f"{one.parts.path}/{number}.jpg") != 200
        one.close()

    many = [asyncio.create_task(greedy()) for _ in range(min(count, 1_000))]
    await asyncio.sleep(0.5)
    beside = await separate_visit(url, base + 1_000, visits)
    under_way = sum(not task.done() for task in many)
    for task in many:
        task.cancel()
    await asyncio.gather(*many, return_exceptions=True)
    return {
        "errors": alone["errors"] + beside["errors"], "refused": refused,
        "still_waiting": under_way,
        **{f"{name}_p{percent}_ms": percentile(visit["times"], percent) * 1e3
           for name, visit in (("alone", alone), ("beside", beside)) for percent in (99, 50)}}


def main(what, *words):
    if what == "tag":
        print(tag(*words))
    elif what == "cpu":
        print(json.dumps(cpu(*words)))
    elif what == "idle":
        print(json.dumps(asyncio.run(idle(words[0], words[1], int(words[2])))))
    elif what == "fair":
        print(json.dumps(asyncio.run(fair(words[0], int(words[1])))))
    elif what == "visit":
        print(json.dumps(asyncio.run(visit(words[0], int(words[1]), int(words[2])))))
    else:
        sys.exit(__doc__)


main(*sys.argv[1:])
