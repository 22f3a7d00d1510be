"""The hash keys of the proxies: all URLs of a source reach one machine."""

from __future__ import annotations

import http.client
import json
import shutil
import subprocess
import tempfile
import threading
import unittest
from collections import Counter, defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from fleet import PORT, HAProxy, Network, Nginx, Proxy, programs
from processes import SECONDS
from sources import Row, rows

FIELD = "X-Source"


# In the format of --gateway-keys.
KEYS = {
    "imgproxy": "736563726574 68656C6C6F\n",
    "thumbor": "MY_SECURE_KEY\n",
    "imagor": "MY_SECURE_KEY\n",
}


def is_signed(row: Row) -> bool:
    return row.grammar in KEYS and not row.url.startswith(("/unsafe/", "/info/unsafe/"))


class Echo(BaseHTTPRequestHandler):
    """Responds with the index of the machine and the value that the proxy hashed."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        hashed = self.headers.get(FIELD, "")
        body = json.dumps([self.server.server_address[0], hashed]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class EchoServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Ignores errors: HAProxy closes the connection of a check before it has read the body."""


class EchoMachines:
    """Stand-ins for the machines."""

    def __init__(self, network: Network) -> None:
        self._servers = [
            EchoServer((network.address(number), PORT), Echo) for number in (11, 12, 13)
        ]
        for server in self._servers:
            threading.Thread(target=server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        for server in self._servers:
            server.shutdown()
            server.server_close()


class SourceTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.network = Network()
        cls.machines = EchoMachines(cls.network)
        cls.addClassCleanup(cls.machines.stop)

    def test_the_gateway_reads_these_sources(self) -> None:
        folder = Path(tempfile.mkdtemp(prefix="ib-", dir="/tmp"))
        self.addCleanup(shutil.rmtree, folder)
        for row in rows():
            options = ["--gateway-grammar", row.grammar]
            if row.grammar in KEYS:
                (folder / row.grammar).write_text(KEYS[row.grammar])
                options += ["--gateway-keys", str(folder / row.grammar)]
            if not is_signed(row):
                options.append("--gateway-unsigned")
            if row.grammar == "iiif":
                options += ["--gateway-iiif-source", "https://example.com/scans/{id}"]
            said = subprocess.run(
                [programs() / "imagebus", "url", "explain", row.url, "--json", *options],
                capture_output=True, text=True, timeout=SECONDS,
            )  # fmt: skip
            with self.subTest(row.url):
                self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
                self.assertEqual(json.loads(said.stdout)["source"], row.source)

    def test_haproxy_hashes_a_source_alike_however_it_is_spelled(self) -> None:
        self.check(HAProxy, lambda row: row.source)

    def test_nginx_hashes_a_source_alike_if_it_is_spelled_alike(self) -> None:
        self.check(Nginx, lambda row: (row.source, row.spelling))

    def test_other_paths_are_hashed_as_they_are(self) -> None:
        for kind in (HAProxy, Nginx):
            with self.subTest(kind.name):
                paths = [f"/-/{name}" for name in ("bus-image.js", "frames.js", "lanes.js")]
                found = self.hashed(kind, "imgproxy", [*paths, "/", "/unsafe"])
                self.assertEqual(len({hashed for _, hashed in found.values()}), 5)

    def test_a_machine_that_is_removed_moves_its_own_sources_only(self) -> None:
        paths = [f"/unsafe/w:9/plain/https://example.com/{number}.jpg" for number in range(300)]
        removed = self.network.address(12)
        for kind in (HAProxy, Nginx):
            with self.subTest(kind.name):
                before = self.hashed(kind, "imgproxy", paths)
                after = self.hashed(kind, "imgproxy", paths, without=2)
                shares = Counter(machine for machine, _ in before.values())
                self.assertGreater(min(shares.values()), len(paths) / 5, shares)
                for path in paths:
                    self.assertNotEqual(after[path][0], removed)
                    if before[path][0] != removed:
                        self.assertEqual(after[path][0], before[path][0], path)

    def check(self, kind: type[Proxy], group: object) -> None:
        """URLs of one group have the same hash key and reach one machine; URLs of different sources
        have different keys.
        """
        for grammar in ("imgproxy", "thumbor", "imagor", "iiif", "weserv"):
            table = [row for row in rows() if row.grammar == grammar]
            found = self.hashed(kind, grammar, [row.url for row in table])
            groups: dict[object, set[tuple[str, str]]] = defaultdict(set)
            sources: dict[str, set[str]] = defaultdict(set)
            for row in table:
                groups[group(row)].add(found[row.url])
                sources[found[row.url][1]].add(row.source)
            for name, members in groups.items():
                with self.subTest(kind.name, group=name):
                    self.assertEqual(len(members), 1, members)
            for hashed, names in sources.items():
                with self.subTest(kind.name, hashed=hashed):
                    self.assertEqual(len(names), 1, names)
            self.assertGreater(len(groups), 1)

    def hashed(
        self, kind: type[Proxy], grammar: str, urls: list[str], without: int | None = None
    ) -> dict[str, tuple[str, str]]:
        """The machine that received each URL, and the value that the proxy hashed for it."""
        proxy = kind(self.network, grammar, FIELD, without)
        found = {}
        try:
            connection = http.client.HTTPConnection(proxy.address, PORT, timeout=SECONDS)
            for url in urls:
                connection.request("GET", url)
                answer = connection.getresponse()
                body = answer.read()
                self.assertEqual(answer.status, 200, f"{url}: {body!r}")
                found[url] = tuple(json.loads(body))
            connection.close()
        finally:
            proxy.remove()
        return found


if __name__ == "__main__":
    unittest.main()
