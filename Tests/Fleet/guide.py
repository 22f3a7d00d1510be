"""Follows the commands of `docs/fleet.md` on one machine.

Each host of the document is a folder with a checkout and directories such as /etc, and has an
address in 127.0.0.0/8. Packages and users aren't installed or created; services are started as
their units specify.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from fleet import (
    DOCUMENTED, PATH, PORT, REPOSITORY, Network, found, listens, nginx_text, programs, until,
)
from processes import SECONDS, Process

DOCUMENT = REPOSITORY / "docs/fleet.md"
PICTURE = "https://www.swift.org/apple-touch-icon.png"
OTHER_NETWORK = "192.168.7."  # in the command that changes the network

# Replacements for commands that change the system.
STAND_INS = {
    "sudo": 'if [ "$1" = -u ]; then shift 2; fi; exec "$@"',
    "apt-get": "exit 0",
    "useradd": "exit 0",
    "systemctl": "echo 'not handled here' >&2; exit 1",
    # Without the users.
    "install": """words=()
        while [ $# -gt 0 ]; do
            case $1 in -o | -g) shift 2 ;; *) words+=("$1"); shift ;; esac
        done
        case ${words[@]: -1} in */) mkdir -p "${words[@]: -1}" ;; esac
        exec /usr/bin/install "${words[@]}" """,
}


class Host:
    """One of the machines of the document."""

    def __init__(self, folder: Path, network: Network, number: int, allowed: str) -> None:
        self.folder, self.address = folder / str(number), network.address(number)
        self._network, self._allowed = network, allowed
        self.checkout = self.folder / "checkout"
        self.services: dict[str, Process] = {}
        for folder in ("deploy", "systemd/shared-cache"):
            shutil.copytree(REPOSITORY / folder, self.checkout / folder)
        examples = self.checkout / "Examples/Python"
        examples.mkdir(parents=True)
        shutil.copy(REPOSITORY / "Examples/Python/valkey_cache.py", examples)
        for name in ("redis", "haproxy", "nginx/conf.d", "systemd/system", "imagebus"):
            (self.folder / "etc" / name).mkdir(parents=True)
        self._make_stand_ins()

    def change_network(self, command: str) -> None:
        """Runs the document's own command, then changes what else differs on one machine."""
        self._bash(command.replace(OTHER_NETWORK, self._network.start))
        for file in self.checkout.glob("deploy/*/*"):
            text = file.read_text()
            assert DOCUMENTED not in text, file
            text = self._with_folders(text).replace("bind :80\n", f"bind {self.address}:{PORT}\n")
            text = text.replace("127.0.0.1:8404", f"{self.address}:8404")
            text = text.replace('listen: ":8080"', f'listen: "{self.address}:{PORT}"')
            file.write_text(text.replace("listen 80;", f"listen {self.address}:{PORT};"))

    def follow(self, block: str) -> str:
        """Runs the commands of a block. Returns their output."""
        printed, together = "", []
        for line in [*block.splitlines(), ""]:
            if line and not self._is_special(line):
                together.append(line)
                continue
            if together:
                printed += self.run("\n".join(together))
                together = []
            self._do_special(line)
        return printed

    def run(self, script: str) -> str:
        return self._bash(self._placed(script))

    def _bash(self, script: str) -> str:
        ended = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", script],
            cwd=self.checkout, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=SECONDS, env={"PATH": f"{self.folder}/bin:{programs()}:{PATH}"},
        )  # fmt: skip
        assert ended.returncode == 0, f"{script}: {ended.returncode}: {ended.stderr}"
        return ended.stdout

    def stop(self) -> None:
        for service in self.services.values():
            service.stop()

    # ---- The document's commands on this machine

    def _placed(self, text: str) -> str:
        text = text.replace(f"http://{DOCUMENTED}10", f"http://{DOCUMENTED}10:{PORT}")
        text = self._with_folders(self._network.placed(text))
        text = text.replace(f"localhost:{PORT}", f"{self.address}:{PORT}")
        return text.replace("127.0.0.1:8404", f"{self.address}:8404")

    def _with_folders(self, text: str) -> str:
        return re.sub(r"(?<![\w.>/])/(?=(?:etc|srv|run|var)/)", f"{self.folder}/", text)

    @staticmethod
    def _is_special(line: str) -> bool:
        return "systemctl" in line or " -m venv " in line or bool(
            re.search(r"pip install|^scripts/", line))

    def _do_special(self, line: str) -> None:
        if " -m venv " in line:
            place = self._with_folders(line.split()[-1])
            Path(place).parent.mkdir(parents=True)
            Path(place).symlink_to(sys.prefix)
        match re.findall(r"systemctl (\S+)(?: --\S+)? ?(\S*)", line):
            case [("restart", "redis-server")]:
                self._start("redis-server", ["redis.conf"], "Ready to accept connections")
            case [("restart", "haproxy")]:
                self._start("haproxy", ["haproxy.cfg"], "polling mechanism")
                until(lambda: listens(self.address, 8404), "HAProxy listens")
            case [("disable", "haproxy")]:
                self.services["haproxy"].stop()
            case [("restart", "nginx")]:
                self._start_nginx()
            case [("enable", "imagebus")]:
                self.start_stack()
            case [("kill", "imagebus")]:
                self.services["imagebus"].kill()
            case [] | [("daemon-reload", "")]:
                pass
            case other:
                raise AssertionError(f"{line}: {other}")

    def _start(self, name: str, files: list[str], said: str) -> None:
        folder = self.folder / "etc" / name.removesuffix("-server")
        words = ["-db", "-V", "-f"] if name == "haproxy" else []
        self.services[name] = Process(
            found(name), *words, *(folder / file for file in files), said=said)

    def _start_nginx(self) -> None:
        """Starts nginx with a file that includes the files that Debian's configuration includes."""
        folder = self.folder / "etc/nginx"
        (folder / "nginx.conf").write_text(nginx_text(folder, f"{folder}/conf.d/*.conf"))
        self.services["nginx"] = Process(
            found("nginx"), "-p", folder, "-c", folder / "nginx.conf",
            said="start worker process ")

    def start_stack(self) -> None:
        """Starts the stack as its unit specifies."""
        unit = (self.folder / "etc/systemd/system/imagebus.service").read_text()
        command = re.search(r"^ExecStart=(.+)$", unit, re.M)[1].split()
        assert command[0] == "/usr/local/bin/imagebus"
        pairs = re.findall(r"(?:^Environment=| )(IMAGEBUS_\w+)=(\S+)", unit, re.M)
        environment = dict(pairs) | {"IMAGEBUS_ALLOW_ADDRESS": self._allowed}
        for name in ("RuntimeDirectory", "CacheDirectory"):
            assert f"\n{name}=imagebus\n" in unit
        self.services["imagebus"] = Process(
            programs() / "imagebus", *command[1:], "--decode", "1", "--transform", "1",
            said="^gateway http", environment=environment,
        )  # fmt: skip

    def has_shared_cache(self) -> bool:
        said = self.run("imagebus status --json --runtime-dir /run/imagebus")
        return any(process["pool"] == "shared" for process in json.loads(said)["processes"])

    def _make_stand_ins(self) -> None:
        (self.folder / "bin").mkdir()
        for name, script in STAND_INS.items():
            file = self.folder / "bin" / name
            file.write_text(f"#!/bin/bash\n{script}\n")
            file.chmod(0o755)


def blocks() -> list[tuple[list[int], str]]:
    """The host numbers and the commands of each block of commands."""
    found = []
    for block in re.findall(r"^```sh\n(.*?)^```$", DOCUMENT.read_text(), re.S | re.M):
        first, _, rest = block.partition("\n")
        hosts = re.findall(rf"{re.escape(DOCUMENTED)}(\d+)", first)
        assert first.startswith("# on ") and hosts, first
        found.append(([int(host) for host in hosts], rest))
    return found


def network_command() -> str:
    return re.search(r"^    (sed -i .+)$", DOCUMENT.read_text(), re.M)[1]
