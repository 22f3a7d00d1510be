"""A stack with a gateway in front of it, and nginx in front of that, on the loopback interface."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import socket
import tempfile
import threading
import urllib.error
import urllib.request
from pathlib import Path

from browser import SECONDS

PROGRAMS = Path(os.environ["IMAGEBUS_PROGRAMS"])


class Program:
    """A program that prints a line when it is ready."""

    def __init__(self, *command: str | Path, said: str) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True,
        )  # fmt: skip
        self._name = command[0]
        self._lines: list[str] = []
        self._more = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.line = self._await(said)

    def _read(self) -> None:
        for line in self._process.stdout:
            with self._more:
                self._lines.append(line)
                self._more.notify_all()
        with self._more:
            self._lines.append("(it has ended)")
            self._more.notify_all()

    def _await(self, said: str) -> str:
        def found() -> str | None:
            return next((one for one in self._lines if re.search(said, one)), None)

        def ended() -> bool:
            return self._lines[-1:] == ["(it has ended)"]

        with self._more:
            self._more.wait_for(lambda: found() or ended(), SECONDS)
            line = found()
        if line is None:
            end = f"did not say {said!r} within {SECONDS} s"
            if ended():
                end = f"ended before it said {said!r} (exit {self._process.wait(SECONDS)})"
            self.stop()
            last = [one.rstrip() for one in self._lines if one != "(it has ended)"][-1:]
            raise AssertionError(f"{self._name} {end}: {last[0] if last else 'it wrote nothing'}")
        return line

    def stop(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join()
        self._process.stdout.close()


class Stack:
    """`imagebus serve` with its own directories, and `imagebus-gateway` in front of it."""

    def __init__(self, *arguments: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="ib-", dir="/tmp"))
        self.runtime = self.folder / "run"
        self._programs: list[Program] = []
        try:
            # An origin delayed by a test must not count as too slow, however slow the machine is.
            self._start(
                PROGRAMS / "imagebus", "serve", "--decode", "1", "--transform", "1",
                "--allow-private-networks", "--runtime-dir", self.runtime,
                "--cache-dir", self.folder / "cache", "--low-speed", "0", *arguments,
                said="^ready ",
            )  # fmt: skip
            gateway = self._start(
                PROGRAMS / "imagebus-gateway", "--runtime-dir", self.runtime,
                "--listen", "127.0.0.1:0", "--unsigned", "--allow-origin", "*", said="listening",
            )  # fmt: skip
        except BaseException:
            self.remove()
            raise
        port = re.search(r"port=(\d+)", gateway.line)[1]
        self.gateway = f"http://127.0.0.1:{port}"

    def _start(self, *command: str | Path, said: str) -> Program:
        self._programs.append(Program(*command, said=said))
        return self._programs[-1]

    def image(self, source: str, options: str = "rs:fit:64:64") -> str:
        """The URL of an image in the gateway."""
        return f"{self.gateway}/unsafe/{options}/plain/{source}"

    def figure(self, name: str) -> int:
        """A counter of the stack."""
        said = subprocess.run(
            [PROGRAMS / "imagebus", "status", "--prometheus", "--runtime-dir", self.runtime],
            capture_output=True, text=True, check=True, timeout=SECONDS,
        ).stdout  # fmt: skip
        return int(re.search(rf"^{re.escape(name)} (\d+)", said, re.M)[1])

    def secure(self) -> str:
        """Starts nginx in front of the gateway, with TLS, HTTP/2 and its own certificate. Returns
        its URL.
        """
        (folder := self.folder / "nginx").mkdir()
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
             "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost",
             "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", folder / "key.pem",
             "-out", folder / "own.pem"],
            check=True, capture_output=True, timeout=SECONDS,
        )  # fmt: skip
        port = free_port()
        # No cache there: it would continue to read after its client has gone.
        (folder / "nginx.conf").write_text(f"""
            daemon off; worker_processes 1; pid {folder}/pid; error_log stderr notice;
            events {{ worker_connections 256; }}
            http {{
                access_log off; client_body_temp_path {folder}/1; proxy_temp_path {folder}/2;
                fastcgi_temp_path {folder}/3; uwsgi_temp_path {folder}/4; scgi_temp_path {folder}/5;
                server {{
                    listen 127.0.0.1:{port} ssl http2;
                    ssl_certificate {folder}/own.pem; ssl_certificate_key {folder}/key.pem;
                    location / {{ proxy_pass {self.gateway}; proxy_http_version 1.1; }}
                }}
            }}
        """)
        nginx = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
        self._start(nginx, "-p", folder, "-c", folder / "nginx.conf", said="start worker process ")
        return f"https://127.0.0.1:{port}"

    def remove(self) -> None:
        for program in reversed(self._programs):
            program.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def fetch(url: str, **fields: str) -> tuple[int, dict[str, str], bytes]:
    """The status, the fields in lowercase, and the body."""
    request = urllib.request.Request(
        url, headers={name.replace("_", "-"): value for name, value in fields.items()}
    )
    try:
        answer = urllib.request.urlopen(request, timeout=SECONDS)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        return answer.status, {k.lower(): v for k, v in answer.headers.items()}, answer.read()
