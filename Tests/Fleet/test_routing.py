"""Three machines behind each proxy: which machine fetches which source, and what happens to
requests if a machine fails.
"""

from __future__ import annotations

import csv
import itertools
import signal
import unittest
import urllib.request
from collections import Counter
from collections.abc import Iterator

from fleet import HAProxy, Machine, Network, Nginx, Proxy, until
from load import Client, ask_all, ask_during
from origin import Origin
from pictures import jpeg

SOURCES = 60
SIZES = ["rs:fit:64:64", "rs:fill:48:48", "w:80/f:webp", "w:33/f:png"]


class RoutingTests:
    """The tests of one proxy."""

    kind: type[Proxy]
    # The number of machines that a source may reach after the loss of its own one.
    others: int

    @classmethod
    def setUpClass(cls) -> None:
        cls.origin = Origin(jpeg(160, 120), seconds=0.02)
        cls.addClassCleanup(cls.origin.stop)
        network = Network()
        cls.machines = [
            Machine(network, number, "--allow-address", cls.origin.place)
            for number in (1, 2, 3)
        ]
        for machine in cls.machines:
            cls.addClassCleanup(machine.remove)
            machine.start()
        cls.proxy = cls.kind(network)
        cls.addClassCleanup(cls.proxy.remove)

    def setUp(self) -> None:
        self.until_all_are_used()

    def path(self, name: str, options: str) -> str:
        return f"/unsafe/{options}/plain/{self.origin.url(f'/{self.id()}/{name}.jpg')}"

    def askers(self, name: str) -> list[str]:
        """The machines that fetched a source, in order."""
        return self.origin.askers.get(f"/{self.id()}/{name}.jpg", [])

    def ask_for_all_sizes(self) -> None:
        """Requests several sizes of a source at once, and each size several times."""
        paths = [
            self.path(str(number), size)
            for number in range(SOURCES) for size in SIZES for _ in range(3)
        ]  # fmt: skip
        answers = ask_all([self.proxy.address], paths)
        self.assertEqual(answers.failures, [])

    def owners(self) -> dict[str, str]:
        """The machine of each source; each source must have been fetched once."""
        found = {}
        for name in map(str, range(SOURCES)):
            askers = self.askers(name)
            self.assertEqual(len(askers), 1, f"{name}: {askers}")
            found[name] = askers[0]
        return found

    def until_all_are_used(self) -> None:
        """Requests new sources until each machine has been used."""
        numbers, seen = itertools.count(), set()

        def ask() -> bool:
            client, name = Client(self.proxy.address), f"probe-{next(numbers)}"
            client.get(self.path(name, "w:9"))
            client.close()
            seen.update(self.askers(name))
            return len(seen) == len(self.machines)

        until(ask, "each machine gets requests")

    def unending(self) -> Iterator[str]:
        """New sizes of known sources, mixed with new sources."""
        for number in itertools.count():
            yield self.path(str(number % SOURCES), f"w:{9 + number // SOURCES}")
            if number % 4 == 0:
                yield self.path(f"new-{number}", "w:50")

    def test_each_source_is_fetched_once_by_one_of_three_machines(self) -> None:
        self.ask_for_all_sizes()
        gets = sum(len(self.askers(str(number))) for number in range(SOURCES))
        self.assertLessEqual(gets / SOURCES, 1.02)
        shares = Counter(self.owners().values())
        self.assertEqual(len(shares), 3, shares)
        self.assertGreater(min(shares.values()), SOURCES / 10, shares)

    def test_a_killed_machine_fails_no_request_and_moves_its_sources_only(self) -> None:
        self.check_loss(self.machines[1].kill)

    def test_a_machine_that_shuts_down_fails_no_request(self) -> None:
        self.check_loss(self.machines[1].stop)

    def check_loss(self, lose: object) -> None:
        self.ask_for_all_sizes()
        owners = self.owners()
        lost = self.machines[1]
        try:
            answers = ask_during(self.proxy.address, self.unending(), lose)
        finally:
            lost.start()
        self.assertEqual(answers.failures, [])
        for name, owner in owners.items():
            askers = self.askers(name)
            if owner == lost.name:
                self.assertEqual(askers[0], lost.name)
                self.assertLessEqual(len(askers), 1 + self.others, f"{name}: {askers}")
            else:
                self.assertEqual(askers, [owner], name)
        moved = [name for name in owners if len(self.askers(name)) > 1]
        self.assertTrue(moved, "the machine was lost")


class HAProxyTests(RoutingTests, unittest.TestCase):
    kind = HAProxy
    # Before it notices the loss, it may choose another machine than afterwards.
    others = 2

    def test_a_machine_that_hangs_gets_no_requests_once_its_checks_have_failed(self) -> None:
        self.ask_for_all_sizes()
        owners, hung = self.owners(), self.machines[1]
        hung.process.signal(signal.SIGSTOP)
        try:
            until(lambda: not self.is_up(hung), f"{hung.name} is down")
            paths = [self.path(name, "w:21") for name in owners]
            answers = ask_all([self.proxy.address], paths)
        finally:
            hung.process.signal(signal.SIGCONT)
        self.assertEqual(answers.failures, [])
        for name, owner in owners.items():
            self.assertEqual(len(self.askers(name)), 2 if owner == hung.name else 1, name)

    def is_up(self, machine: Machine) -> bool:
        """Whether HAProxy considers a machine to be up."""
        with urllib.request.urlopen(f"http://{self.proxy.address}:8404/;csv") as answer:
            table = csv.DictReader(answer.read().decode().removeprefix("# ").splitlines())
        return any(
            row["status"].startswith("UP") for row in table
            if (row["pxname"], row["svname"]) == ("machines", machine.name)
        )  # fmt: skip


class NginxTests(RoutingTests, unittest.TestCase):
    kind = Nginx
    others = 1


if __name__ == "__main__":
    unittest.main()
