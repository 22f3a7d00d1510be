"""Measures what routing and a shared cache save with three machines, and the cost of losing one.

    machines.py PHOTO [--quick]

All three run on this machine with the programs of $IMAGEBUS_PROGRAMS. The last line is one JSON
object.
"""

import itertools
import json
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from fleet import PORT, HAProxy, Machine, Network, Nginx
from load import Client, ask_all, ask_during
from origin import Origin
from processes import Process, cpu_seconds

EXAMPLES = Path(__file__).parents[2] / "Examples/Python"
CONFIGURATION = """
pools:
  shared: {{kind: cache, trust: external, credit: 16, command: [{command}]}}
caches:
  local:
  shared: {{pool: shared, timeout: 250}}
  tiers: {{of: [shared, local], store: serial}}
profiles:
  default: {{cache: tiers, original-cache: tiers}}
"""
STORED = 1.0  # after which a response is stored in the shared cache
HOT = 64  # images, as in wrk-hot.lua
WIDTHS = (512, 384, 256)


class Scale:
    """The size of the measurements."""

    def __init__(self, is_quick):
        self.urls = 4 if is_quick else 30
        self.first_hits = 20 if is_quick else 200
        self.hit_seconds = 1 if is_quick else 4
        self.refresh_seconds = 5 if is_quick else 20
        self.known = 30 if is_quick else 300


class Bench:
    """Three machines with an origin and optionally a shared cache server."""

    def __init__(self, held, photo, is_shared):
        self.network = Network()
        self.origin = Origin(photo)
        held.callback(self.origin.stop)
        options = ["--allow-address", self.origin.place]
        if is_shared:
            options += ["--config", self._start_server(held)]
        self.machines = [Machine(self.network, number, *options) for number in (1, 2, 3)]
        for machine in self.machines:
            held.callback(machine.remove)
            machine.start()

    def _start_server(self, held):
        folder = Path(tempfile.mkdtemp(prefix="ib-", dir="/tmp"))
        held.callback(shutil.rmtree, folder)
        address = self.network.address(9)
        server = Process(
            shutil.which("valkey-server") or "redis-server", "--bind", address, "--port", "6379",
            "--protected-mode", "no", "--save", "", "--appendonly", "no", "--dir", folder,
            said="Ready to accept connections")
        held.callback(server.stop)
        words = [sys.executable, EXAMPLES / "valkey_cache.py", "--server", f"{address}:6379"]
        file = folder / "imagebus.yaml"
        file.write_text(CONFIGURATION.format(command=", ".join(f'"{word}"' for word in words)))
        return file

    def path(self, name, options="rs:fit:512:512/q:80"):
        return f"/unsafe/{options}/plain/{self.origin.url(f'/{name}.jpg')}"

    def addresses(self):
        return [machine.address for machine in self.machines]

    def gets(self):
        return self.origin.gets.total()


def percentile(times, percent):
    return sorted(times)[min(len(times) - 1, len(times) * percent // 100)] * 1e3


def burst(bench, name, addresses, urls):
    """Sends 30 concurrent requests per URL, in three sizes, with an origin that takes 150 ms."""
    before, seconds, failed = bench.gets(), [], 0
    bench.origin.seconds = 0.15
    for number in range(urls):
        paths = [bench.path(f"{name}-{number}", f"w:{width}") for width in WIDTHS]
        answers = ask_all(addresses, [path for path in paths for _ in range(10)], clients=30)
        seconds += answers.seconds
        failed += len(answers.failures)
    bench.origin.seconds = 0.0
    return {
        "gets_per_url": (bench.gets() - before) / urls, "failed": failed,
        "p50_ms": percentile(seconds, 50), "p99_ms": percentile(seconds, 99)}


def lost(bench, name, proxy, known):
    """Kills a machine while known images are requested, then requests each once more."""
    paths = [bench.path(f"{name}-{number}", "w:128") for number in range(known)]
    failures = ask_all([proxy.address], paths).failures
    time.sleep(STORED)
    before, victim = bench.gets(), bench.machines[1]
    answers = ask_during(proxy.address, itertools.cycle(paths), victim.kill, known)
    failures += answers.failures + ask_all([proxy.address], paths).failures
    found = {
        "requests": answers.count, "failed": len(failures), "further_gets": bench.gets() - before,
        "slowest_ms": answers.slowest * 1e3, "failures": failures[:3]}
    victim.start()
    return found


def behind(bench, kind, work):
    """Runs a measurement with a proxy once it sends requests to all machines."""
    proxy = kind(bench.network)
    try:
        time.sleep(3)  # rise of HAProxy, fail_timeout of nginx
        return work(proxy)
    finally:
        proxy.remove()


def hits(machine, path, seconds):
    """Measures hits of 64 hot images over HTTP with 64 connections."""
    session = machine.process.session
    ask_all([machine.address], [path.replace("{n}", str(number)) for number in range(HOT)])
    before = cpu_seconds(session)
    said = subprocess.run(
        ["wrk", "--threads", "1", "--connections", "64", "--duration", f"{seconds}s",
         "--script", "Tests/Benchmarks/wrk-hot.lua", f"http://{machine.address}:{PORT}{path}"],
        check=True, capture_output=True, text=True).stdout
    report = json.loads(said.strip().splitlines()[-1])
    report["cpu_us"] = (cpu_seconds(session) - before) / (report["rps"] * seconds) * 1e6
    return report


def second_hits(bench, seconds):
    """Measures hits on the machine that produced the images, then on one that got them shared."""
    found, path = {}, bench.path("hot-{n}")
    for name, machine in zip(("own", "other"), bench.machines):
        found[name] = hits(machine, path, seconds)
        time.sleep(STORED)
    return found


def one_by_one(machine, paths):
    """Measures sequential requests: the latency and the CPU time per request."""
    client, times, failed = Client(machine.address), [], 0
    before = cpu_seconds(machine.process.session)
    for path in paths:
        began = time.perf_counter()
        status, _ = client.get(path)
        times.append(time.perf_counter() - began)
        failed += status != 200
    client.close()
    spent = cpu_seconds(machine.process.session) - before
    return {
        "p50_ms": percentile(times, 50), "p99_ms": percentile(times, 99), "failed": failed,
        "cpu_us": spent / len(paths) * 1e6}


def first_hits(bench, count):
    """Requests one machine's images from another one, sequentially: first time, and again."""
    maker, other = bench.machines[:2]
    paths = [bench.path(f"first-{number}") for number in range(count)]
    made = one_by_one(maker, paths)
    time.sleep(STORED)
    gets = bench.gets()
    found = {"made": made, "first": one_by_one(other, paths), "again": one_by_one(other, paths)}
    return {**found, "gets": bench.gets() - gets}


def confirmations(bench, seconds):
    """Counts 304s of an origin with a max-age of 2 s, with one or three machines in use."""
    bench.origin.max_age = 2
    found = {}
    for name, machines in (("one", bench.machines[:1]), ("three", bench.machines)):
        paths = [bench.path(f"fresh-{name}-{number}", "w:64") for number in range(10)]
        before = bench.origin.confirmations.total()
        for _ in range(seconds):
            began = time.monotonic()
            for machine in machines:
                ask_all([machine.address], paths)
            time.sleep(max(0, began + 1 - time.monotonic()))
        found[name] = (bench.origin.confirmations.total() - before) / len(paths)
    bench.origin.max_age = 3_600
    return found


def measure(photo, scale):
    found = {"burst": {}, "lost": {}}
    for is_shared in (False, True):
        tier = "shared" if is_shared else "alone"
        with ExitStack() as held:
            bench = Bench(held, photo, is_shared)
            found["burst"][f"direct.{tier}"] = burst(
                bench, "direct", bench.addresses(), scale.urls)
            for kind in (HAProxy, Nginx):
                name = f"{kind.name}.{tier}"
                found["burst"][name] = behind(
                    bench, kind,
                    lambda proxy: burst(bench, proxy.name, [proxy.address], scale.urls))
                found["lost"][name] = behind(
                    bench, kind,
                    lambda proxy: lost(bench, f"{proxy.name}-lost", proxy, scale.known))
            if is_shared:
                found["first"] = first_hits(bench, scale.first_hits)
                found["second"] = second_hits(bench, scale.hit_seconds)
                found["confirmations"] = confirmations(bench, scale.refresh_seconds)
    return found


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]).read_bytes(), Scale("--quick" in sys.argv))))
