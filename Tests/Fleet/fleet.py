"""Several machines behind a proxy, on the loopback interface.

Each fleet has its own addresses in 127.0.0.0/8, which correspond to those of the machines in
`docs/fleet.md`: 10.0.0.11 becomes 127.X.Y.11. Apart from that, the files of `deploy/` are tested
unchanged.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from processes import SECONDS, Process

REPOSITORY = Path(__file__).resolve().parents[2]
PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"
DOCUMENTED = "10.0.0."  # the prefix of the addresses in deploy/ and docs/fleet.md
PORT = 8080


def programs() -> Path:
    """The paths of the programs that a fleet consists of."""
    return Path(os.environ["IMAGEBUS_PROGRAMS"])


class Network:
    """A /24 network that nothing else uses."""

    def __init__(self) -> None:
        self.start = f"127.{random.randint(1, 250)}.{random.randint(1, 250)}."

    def address(self, number: int) -> str:
        return f"{self.start}{number}"

    def placed(self, text: str) -> str:
        """A text of the documents with these addresses substituted."""
        return text.replace(DOCUMENTED, self.start)


class Machine:
    """`imagebus serve` with a gateway."""

    def __init__(self, network: Network, number: int, *options: str | Path) -> None:
        self.name, self.address = f"machine{number}", network.address(10 + number)
        self.folder = Path(tempfile.mkdtemp(prefix="ib-", dir="/tmp"))
        self.runtime_dir = self.folder / "run"
        self._command = [
            programs() / "imagebus", "serve", "--decode", "1", "--transform", "1",
            "--runtime-dir", self.runtime_dir, "--cache-dir", self.folder / "cache",
            "--gateway", f"{self.address}:{PORT}", "--gateway-unsigned",
            "--gateway-trusted-proxy", "127.0.0.0/8", "--user-agent", self.name, *options,
        ]  # fmt: skip
        self.process: Process | None = None

    def start(self) -> None:
        self.process = Process(*self._command, said="^gateway http")

    def kill(self) -> None:
        self.process.kill()

    def stop(self) -> None:
        """Sends SIGTERM, as a restart or an update does."""
        self.process.stop()

    def remove(self) -> None:
        if self.process is not None:
            self.process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, *words: str) -> str:
        """The output of an operator command."""
        return subprocess.run(
            [programs() / "imagebus", *words, "--runtime-dir", self.runtime_dir],
            check=True, capture_output=True, text=True, timeout=SECONDS,
        ).stdout  # fmt: skip


class Proxy:
    """A proxy from Debian with the configuration of `deploy/`, in its own folder."""

    name: str
    number: int  # of its address

    def __init__(
        self, network: Network, grammar: str = "imgproxy", source_field: str = "",
        without: int | None = None,
    ) -> None:  # fmt: skip
        """`source_field`: a field in which machines receive the hashed value. `without`: the number
        of a machine that the file doesn't name.
        """
        self.address = network.address(self.number)
        self._without = None if without is None else network.address(10 + without)
        self.folder = Path(tempfile.mkdtemp(prefix="ib-", dir="/tmp"))
        os.chmod(self.folder, 0o755)  # its workers run as another user
        self.process = self._start(network, grammar, source_field)

    def _servers(self, text: str) -> str:
        if self._without is None:
            return text
        return re.sub(rf"^ +server .*{re.escape(self._without)}:.*\n", "", text, flags=re.M)

    def _start(self, network: Network, grammar: str, source_field: str) -> Process:
        raise NotImplementedError

    def remove(self) -> None:
        self.process.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


class HAProxy(Proxy):
    name, number = "HAProxy", 9

    def _start(self, network: Network, grammar: str, source_field: str) -> Process:
        text = self._servers(haproxy_text(network, self.address))
        if source_field:
            line = "    balance hash var(txn.source)\n"
            field = f"    http-request set-header {source_field} %[var(txn.source)]\n"
            text = replaced(text, line, line + field)
        file = self.folder / "haproxy.cfg"
        file.write_text(text)
        process = Process(
            found("haproxy"), "-db", "-V", "-f", file, said="polling mechanism",
            environment={"IMAGEBUS_GRAMMAR": grammar},
        )  # fmt: skip
        until(
            lambda: listens(self.address, PORT) or not process.is_running,
            f"HAProxy listens: {process.lines()[-3:]}",
        )
        return process


class Nginx(Proxy):
    name, number = "nginx", 10

    def _start(self, network: Network, grammar: str, source_field: str) -> Process:
        text = network.placed((REPOSITORY / "deploy/nginx/imagebus.conf").read_text())
        text = self._servers(text)
        text = replaced(text, "    listen 80;", f"    listen {self.address}:{PORT};")
        variable = "$" + ("thumbor" if grammar == "imagor" else grammar) + "_source"
        text = replaced(text, "hash $imgproxy_source", f"hash {variable}")
        if source_field:
            line = '        proxy_set_header traceparent "";\n'
            field = f"        proxy_set_header {source_field} {variable};\n"
            text = replaced(text, line, line + field)
        (self.folder / "imagebus.conf").write_text(text)
        (self.folder / "nginx.conf").write_text(
            nginx_text(self.folder, f"{self.folder}/imagebus.conf"))
        return Process(
            found("nginx"), "-p", self.folder, "-c", self.folder / "nginx.conf",
            said="start worker process ",
        )  # fmt: skip


def nginx_text(folder: Path, included: str) -> str:
    """An nginx configuration that keeps all of its files in a folder."""
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = " ".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    return f"""
        daemon off; worker_processes 1; pid {folder}/pid; error_log stderr notice;
        events {{ worker_connections 1024; }}
        http {{ access_log off; {places} include {included}; }}
    """


def haproxy_text(network: Network, address: str) -> str:
    """The configuration of `deploy/` for an address."""
    text = network.placed((REPOSITORY / "deploy/haproxy/haproxy.cfg").read_text())
    text = replaced(text, "    bind :80\n", f"    bind {address}:{PORT}\n")
    text = replaced(text, "bind 127.0.0.1:8404", f"bind {address}:8404")
    if os.getuid() != 0:  # only root can switch to another user
        text = replaced(text, "    user haproxy\n    group haproxy\n", "")
    return text


def replaced(text: str, old: str, new: str) -> str:
    """The text with a line replaced, which must occur exactly once."""
    if text.count(old) != 1:
        raise AssertionError(f"{old!r} stands {text.count(old)} times in:\n{text}")
    return text.replace(old, new)


def found(program: str) -> str:
    path = shutil.which(program, path=PATH)
    if path is None:
        raise AssertionError(f"there is no {program}: scripts/setup --test installs it")
    return path


def listens(address: str, port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex((address, port)) == 0


def until(condition: object, what: str) -> None:
    """Waits until a function returns true."""
    end = time.monotonic() + SECONDS
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"not within {SECONDS} s: {what}")
        time.sleep(0.02)
