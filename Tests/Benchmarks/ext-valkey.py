"""Two stacks with one server of Valkey or Redis as the tier that they share, while it is well and
while it is not.

    ext-valkey.py SECONDS SITE PORT

In each state a fixed number of clients load for so many SECONDS: a third of the images nobody had
before, a third the other stack has fetched, a third this stack had. At first all caches are
empty. SITE is the folder of the origin at PORT of 127.0.0.1, which tells at /served how often it
was asked. The last line is one JSON object.
"""

import asyncio
import hashlib
import json
import os
import random
import shutil
import signal
import statistics
import sys
import tempfile
import time
import urllib.request
from collections import Counter, deque
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, suppress
from pathlib import Path
from types import SimpleNamespace

from example_stack import SECONDS, Stack, png
from imagebus import ImagebusError, Options, Tiers, resize
from imagebus.aio import Client
from imagebus.steps import request_for
from valkey_server import PROGRAM, Storage

PICTURES = 256  # that differ; each has as many names as are wanted
CLIENTS = 8  # of each stack, each with one load at a time
# The other stack is asked for names that are as old as so many newer ones: what is newer may not be
# stored yet, and what is older belongs to a state that is over.
NEWER = range(64, 128)
RECENT = 2_000  # names of which what a stack had is chosen
STEPS = (resize(48, 48),)
PROGRAMS = Path(__file__).parents[2] / "Examples/Python"
# What a stack keeps by itself has no room for all of it in memory: its disk is asked as well.
CONFIGURATION = """
pools:
  shared: {{kind: cache, trust: foreign, credit: 16, command: [{command}]}}
caches:
  local: {{memory-limit: 2M}}
  shared: {{pool: shared, patience: 250}}
  tiers: {{of: [shared, local], store: serial}}
profiles:
  default: {{cache: tiers, original-cache: tiers}}
"""


class Names:
    """Which image is asked for next, by each of the stacks."""

    def __init__(self):
        self._last, self._choice = 0, random.Random(1)
        self._had = [deque(maxlen=RECENT), deque(maxlen=RECENT)]
        # To a stack, by the other one.
        self._offered = [deque(maxlen=NEWER.stop), deque(maxlen=NEWER.stop)]

    def next(self, stack):
        """A number, and whether nobody had it before."""
        kind = self._choice.randrange(3)
        if kind == 1 and len(self._offered[stack]) > NEWER.start:
            return self._offered[stack].popleft(), False
        if kind == 2 and self._had[stack]:
            return self._choice.choice(self._had[stack]), False
        self._last += 1
        return self._last, True

    def ended(self, stack, number, is_new):
        self._had[stack].append(number)
        if is_new:
            self._offered[1 - stack].append(number)


class State:
    """What was found while the server was in one state."""

    def __init__(self):
        self.milliseconds, self.tiers, self.faults = [], Counter(), Counter()
        self.wrong = self.failed = 0

    def figures(self, seconds, shared_hits, counters, gets):
        """A hit of the tier that is shared is called one of the disk: the coordinators count it."""
        times = sorted(self.milliseconds)
        disk = self.tiers[Tiers.DISK]
        shared = min(disk, shared_hits)
        by_tier = {
            "memory": self.tiers[Tiers.MEMORY], "disk": disk - shared, "shared": shared,
            "origin": self.tiers[Tiers.NONE]}
        return {
            "requests": len(times), "rps": len(times) / seconds,
            "p50_ms": statistics.median(times), "p99_ms": times[len(times) * 99 // 100],
            "most_ms": times[-1],
            "shares": {name: count / len(times) for name, count in by_tier.items()},
            "gets": gets, "failed": self.failed, "wrong": self.wrong,
            "faults": dict(self.faults), "counters": counters}


class Bench:
    """The stacks, their server, and the load."""

    def __init__(self, held, site, port):
        self._port, self.names = port, Names()
        folder = Path(tempfile.mkdtemp(prefix="ib-", dir="/tmp"))
        held.callback(shutil.rmtree, folder)
        self._make_pictures(Path(site, "shared"))
        self.storage = Storage(folder)
        held.callback(self.storage.kill)
        self.storage.start()
        words = [sys.executable, PROGRAMS / "valkey_cache.py", "--server", self.storage.place]
        file = folder / "imagebus.yaml"
        file.write_text(CONFIGURATION.format(command=", ".join(f'"{word}"' for word in words)))
        origin = SimpleNamespace(server_port=port)
        self.stacks = [Stack(origin, "--config", str(file)) for _ in range(2)]
        for stack in self.stacks:
            held.callback(stack.remove)
            stack.start()

    @staticmethod
    def _make_pictures(folder):
        folder.mkdir()
        for number in range(PICTURES):
            (folder / f"{number}.png").write_bytes(png(120, 90, number))

    def url(self, number):
        return f"http://127.0.0.1:{self._port}/shared/{number % PICTURES}.png?{number}"

    def gets(self):
        """Answers of the origin, but for this one."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/served") as answer:
            requests = int(answer.read().splitlines()[2].split()[2])
        self._asked = getattr(self, "_asked", 0) + 1
        return requests - self._asked

    def counters(self):
        """Of the shared tier, in both stacks together."""
        found = Counter()
        for stack in self.stacks:
            for name, value in stack.counters().items():
                if name.startswith("foreignCache"):
                    found[name.removeprefix("foreignCache").removesuffix(".shared")] += value
        return found

    async def learn(self, client):
        """What each image has to look like: made of the origin's bytes, with no cache asked."""
        self._right = []
        for number in range(PICTURES):
            image = await client.load(
                self.url(number), *STEPS, format="png", options=Options.FROM_LOADER_ONLY,
                store=Tiers.NONE)
            self._right.append(digest(image))
        if len(set(self._right)) != PICTURES:
            sys.exit("two pictures look the same")

    async def load(self, client, stack, state):
        number, is_new = self.names.next(stack)
        request = request_for(STEPS, "png", None, False)
        request.url = self.url(number)
        began = time.perf_counter()
        try:
            with await client._run(request, SECONDS, None, "") as image:
                state.milliseconds.append((time.perf_counter() - began) * 1e3)
                state.tiers[image.cache_type] += 1
                state.wrong += digest(image) != self._right[number % PICTURES]
        except ImagebusError as error:
            state.milliseconds.append((time.perf_counter() - began) * 1e3)
            state.failed += 1
            state.faults[f"{error.name}: {error.message}"[:200]] += 1
        self.names.ended(stack, number, is_new)

    async def measure(self, clients, seconds):
        """All clients load until the time is over; then the loads that are under way end."""
        state, before, asked = State(), self.counters(), self.gets()
        began = time.monotonic()

        async def load(client, stack):
            while time.monotonic() < began + seconds:
                await self.load(client, stack, state)

        async with asyncio.TaskGroup() as group:
            for stack, client in clients:
                group.create_task(load(client, stack))
        took = time.monotonic() - began
        gets, counted = self.gets() - asked, self.counters()
        counted.subtract(before)
        hits = counted["Hits"] - counted["Refused"]
        counted.pop("LeftAlone", None)
        return state.figures(took, hits, dict(counted), gets)

    async def until_shared(self, clients):
        """Both stacks ask the server, and it has what they stored."""
        state, end = State(), time.monotonic() + SECONDS
        for stack in range(2):
            mine = [client for place, client in clients if place == stack]
            while True:
                before = self.stacks[stack].counters()
                for _ in range(CLIENTS):
                    await self.load(mine[0], stack, state)
                after = self.stacks[stack].counters()
                if not after.get("foreignCacheLeftAlone.shared", 0) and (
                    count(after, "Writes") > count(before, "Writes")
                ):
                    break
                if time.monotonic() > end:
                    sys.exit("a stack does not ask the server")
                await asyncio.sleep(0.1)

    def kill_workers(self):
        """Those that hold the shared tier, of both stacks."""
        for stack in self.stacks:
            status = json.loads(stack.run("status", "--json"))
            for process in status["processes"]:
                if process["pool"] == "shared":
                    with suppress(ProcessLookupError):
                        os.kill(process["pid"], signal.SIGKILL)


def count(counters, name):
    return counters.get(f"foreignCache{name}.shared", 0)


def digest(image):
    return hashlib.sha256(image.data).digest()


# ---- States, each from before its loads until after them


@asynccontextmanager
async def as_it_is(bench):
    yield


@asynccontextmanager
async def killed(bench):
    bench.storage.kill()
    yield


@asynccontextmanager
async def restarted(bench):
    """Empty, and some time passes until it is asked again."""
    bench.storage.start()
    yield


@asynccontextmanager
async def full(bench):
    bench.storage.tell("CONFIG", "SET", "maxmemory-policy", "noeviction")
    bench.storage.tell("CONFIG", "SET", "maxmemory", "1")
    yield
    bench.storage.tell("CONFIG", "SET", "maxmemory", "0")


@asynccontextmanager
async def halted(bench):
    bench.storage.halt()
    try:
        yield
    finally:
        bench.storage.go_on()


@asynccontextmanager
async def without_workers(bench):
    """Each is killed once a second: whenever it has come back."""

    async def kill():
        while True:
            await asyncio.to_thread(bench.kill_workers)
            await asyncio.sleep(1)

    task = asyncio.create_task(kill())
    yield
    task.cancel()
    await asyncio.wait([task])


# By name: the state, and whether the server is asked by both stacks before it begins.
STATES = {
    "empty at first": (as_it_is, True), "healthy": (as_it_is, True),
    "killed": (killed, True), "restarted": (restarted, False), "full": (full, True),
    "halted": (halted, True), "workers killed": (without_workers, True),
    "healthy again": (as_it_is, True),
}


async def run(seconds, site, port):
    asyncio.get_running_loop().add_signal_handler(
        signal.SIGTERM, asyncio.current_task().cancel)
    found = {}
    with ExitStack() as held:
        bench = Bench(held, site, port)
        async with AsyncExitStack() as connected:
            clients = [
                (stack, await connected.enter_async_context(
                    Client(bench.stacks[stack].runtime_dir, "mapped")))
                for stack in range(2) for _ in range(CLIENTS)]
            await bench.learn(clients[0][1])
            for name, (state, needs_server) in STATES.items():
                if needs_server:
                    await bench.until_shared(clients)
                async with state(bench):
                    found[name] = await bench.measure(clients, seconds)
    print(json.dumps({"clients": len(clients), "states": found}))


if PROGRAM is None:
    sys.exit("there is no server: scripts/setup installs one")
asyncio.run(run(float(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
