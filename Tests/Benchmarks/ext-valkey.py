"""Measures two stacks that share a tier on a Valkey or Redis server, while it works and while it
fails.

    ext-valkey.py SECONDS SITE PORT

In each state a fixed number of clients load for SECONDS: a third of the images are new, a third
were fetched by the other stack, and a third were loaded by the same stack before. Initially all
caches are empty. SITE is the directory of the origin on PORT of 127.0.0.1, which reports its number
of requests at /served. The last line is one JSON object.
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

PICTURES = 256  # distinct ones; each has any number of names
CLIENTS = 8  # per stack, each with one load at a time
# The age, in newer names, at which names are offered to the other stack: newer ones may not be
# stored yet, and older ones belong to an earlier state.
NEWER = range(64, 128)
RECENT = 2_000  # recent names from which a stack's own ones are chosen
STEPS = (resize(48, 48),)
PROGRAMS = Path(__file__).parents[2] / "Examples/Python"
# A stack's local memory tier is too small for everything, so its disk is used as well.
CONFIGURATION = """
pools:
  shared: {{kind: cache, trust: external, credit: 16, command: [{command}]}}
caches:
  local: {{memory-limit: 2M}}
  shared: {{pool: shared, timeout: 250}}
  tiers: {{of: [shared, local], store: serial}}
profiles:
  default: {{cache: tiers, original-cache: tiers}}
"""


class Names:
    """Chooses the next image for each of the stacks."""

    def __init__(self):
        self._last, self._choice = 0, random.Random(1)
        self._had = [deque(maxlen=RECENT), deque(maxlen=RECENT)]
        # To each stack, by the other one.
        self._offered = [deque(maxlen=NEWER.stop), deque(maxlen=NEWER.stop)]

    def next(self, stack):
        """Returns the number of an image and whether it is new."""
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
    """The results for one state of the server."""

    def __init__(self):
        self.milliseconds, self.tiers, self.faults = [], Counter(), Counter()
        self.wrong = self.failed = 0

    def figures(self, seconds, shared_hits, counters, gets):
        """Returns the results. Clients see shared hits as disk hits; counters tell them apart."""
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
        """Returns the number of requests to the origin, excluding this one."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/served") as answer:
            requests = int(answer.read().splitlines()[2].split()[2])
        self._asked = getattr(self, "_asked", 0) + 1
        return requests - self._asked

    def counters(self):
        """Returns the counters of the shared tier, summed over both stacks."""
        found = Counter()
        for stack in self.stacks:
            for name, value in stack.counters().items():
                if name.startswith("foreignCache"):
                    found[name.removeprefix("foreignCache").removesuffix(".shared")] += value
        return found

    async def learn(self, client):
        """Records the expected results, produced from the origin's bytes without any cache."""
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
        """Loads with all clients until the time is over and waits for the loads in flight."""
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
        """Waits until both stacks use the server and have stored entries on it."""
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
        """Kills both stacks' workers of the shared tier."""
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
    """Empties the server by a restart; it takes some time until the stacks use it again."""
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
    """Kills each worker once a second, whenever it has been restarted."""

    async def kill():
        while True:
            await asyncio.to_thread(bench.kill_workers)
            await asyncio.sleep(1)

    task = asyncio.create_task(kill())
    yield
    task.cancel()
    await asyncio.wait([task])


# By name: the state, and whether both stacks must be using the server before it begins.
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
