"""A headless Chromium, controlled through WebDriver's HTTP protocol (W3C WebDriver)."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import urllib.error
import urllib.request
from typing import Any

SECONDS = 300  # the timeout for expected events


class BrowserError(AssertionError):
    pass


class Browser:
    """One window with one tab; `open_tab` opens more."""

    def __init__(self, folder: str) -> None:
        self._driver = subprocess.Popen(
            ["chromedriver", "--port=0", f"--log-path={folder}/chromedriver.log"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self._url = f"http://127.0.0.1:{self._port()}/session"
        arguments = [
            "--headless=new", "--window-size=1280,900", "--disable-dev-shm-usage",
            "--force-device-scale-factor=1", "--hide-scrollbars", "--disable-extensions",
            "--no-first-run", "--disable-background-networking", f"--user-data-dir={folder}/data",
        ]  # fmt: skip
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")
        try:
            value = self._ask("POST", "", {"capabilities": {"alwaysMatch": {
                "browserName": "chrome",
                "acceptInsecureCerts": True,
                # Images waiting at gates delay the end of loading.
                "pageLoadStrategy": "eager",
                "timeouts": {"script": SECONDS * 1_000, "pageLoad": SECONDS * 1_000},
                "goog:chromeOptions": {"args": arguments},
            }}})  # fmt: skip
        except BaseException:
            self._end_driver()
            raise
        self._url += "/" + value["sessionId"]

    def _port(self) -> int:
        for line in self._driver.stdout:
            if "started successfully on port" in line:
                return int(line.rstrip(".\n ").split()[-1])
        status = self._driver.wait(SECONDS)
        raise BrowserError(f"chromedriver ended before it listened (exit {status})")

    def close(self) -> None:
        try:
            self._ask("DELETE", "")
        finally:
            self._end_driver()

    def _end_driver(self) -> None:
        self._driver.terminate()
        self._driver.wait(SECONDS)
        self._driver.stdout.close()

    def _ask(self, method: str, path: str, body: dict | None = None) -> Any:
        data = None if method != "POST" else json.dumps(body or {}).encode()
        request = urllib.request.Request(
            self._url + path, data, {"Content-Type": "application/json"}, method=method
        )
        try:
            with urllib.request.urlopen(request, timeout=2 * SECONDS) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            with error:
                value = json.load(error)["value"]
            raise BrowserError(f"{value['error']}: {value['message']}") from None

    # Pages and tabs

    def visit(self, url: str) -> None:
        """Returns when the page has finished loading."""
        self._ask("POST", "/url", {"url": url})

    def back(self) -> None:
        self._ask("POST", "/back")

    def run(self, script: str, *arguments: Any) -> Any:
        """The value of a function's body; promises are awaited."""
        wrapped = f"return (async () => {{ {script} }})()"
        return self._ask("POST", "/execute/sync", {"script": wrapped, "args": arguments})

    @property
    def tab(self) -> str:
        return self._ask("GET", "/window")

    def open_tab(self) -> str:
        """Opens a tab without switching to it."""
        return self._ask("POST", "/window/new", {"type": "tab"})["handle"]

    def switch(self, tab: str) -> None:
        self._ask("POST", "/window", {"handle": tab})

    def close_tab(self) -> None:
        self._ask("DELETE", "/window")

    # User input and output

    def press(self, *keys: str) -> None:
        """Presses keys by their WebDriver codes, such as `\\uE004` for Tab."""
        actions = [
            {"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")
        ]
        self._ask("POST", "/actions", {
            "actions": [{"type": "key", "id": "keys", "actions": actions}]
        })  # fmt: skip

    def point(self, x: int, y: int) -> None:
        """Moves the mouse."""
        move = {"type": "pointerMove", "duration": 0, "x": x, "y": y}
        self._ask("POST", "/actions", {
            "actions": [{"type": "pointer", "id": "mouse", "actions": [move]}]
        })  # fmt: skip

    def devtools(self, command: str, **parameters: Any) -> Any:
        return self._ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def screenshot(self) -> bytes:
        """A PNG of the visible part."""
        return base64.b64decode(self._ask("GET", "/screenshot"))

    def accessible(self) -> list[dict]:
        """The accessibility tree: role, name and properties of each relevant node."""
        nodes = self.devtools("Accessibility.getFullAXTree")["nodes"]
        return [
            {
                "role": node["role"]["value"],
                "name": node.get("name", {}).get("value", ""),
                **{one["name"]: one["value"].get("value") for one in node.get("properties", [])},
            }
            for node in nodes
            if not node["ignored"]
        ]
