"""The environment of all tests of the component: a browser, a stack, an origin, and pages."""

from __future__ import annotations

import atexit
import io
import shutil
import tempfile
import time
import unittest
from collections.abc import Callable
from functools import cache

from PIL import Image

from browser import SECONDS, Browser
from origin import Answer, Gate, Origin
from web_stack import Stack

# Records the events of elements, and lets tests wait for them.
RECORDER = """
  const seen = [], waiting = new Set();
  const types = ["loadstart", "load", "error", "progress", "retry", "abort", "play", "pause",
    "ended"];
  for (const type of types) document.addEventListener(type, (event) => {
    if (event.target.localName !== "bus-image") return;
    const { loaded, total } = event;
    event.target.id ||= `auto${seen.length}`;
    seen.push({ type, id: event.target.id, ...event.detail, loaded, total });
    for (const check of waiting) check();
  }, true);
  const one = (type, id, count = 1) => seen.filter((event) =>
    event.type === type && event.id === id)[count - 1];
  const until = (what) => new Promise((resolve) => {
    const check = () => { const value = what(); if (value) waiting.delete(check), resolve(value); };
    waiting.add(check);
    check();
  });
  const told = (type, id, count) => until(() => one(type, id, count));
  Object.assign(window, { seen, one, until, told, $: (id) => document.getElementById(id) });
"""


@cache
def folder() -> str:
    path = tempfile.mkdtemp(prefix="ib-web.", dir="/tmp")
    atexit.register(shutil.rmtree, path, True)
    return path


@cache
def stack() -> Stack:
    made = Stack()
    atexit.register(made.remove)
    return made


@cache
def secure_gateway() -> str:
    return stack().secure()


@cache
def browser() -> Browser:
    made = Browser(folder())
    atexit.register(made.close)
    return made


@cache
def origin() -> Origin:
    made = Origin()
    atexit.register(made.stop)
    return made


def picture(width: int = 160, height: int = 120, form: str = "PNG") -> bytes:
    """Noise, which stays large with any compression."""
    file = io.BytesIO()
    noise = Image.effect_noise((width, height), 90)
    Image.merge("RGB", (noise, noise.rotate(180), noise)).save(file, form)
    return file.getvalue()


class WebTests(unittest.TestCase):
    """One page at a time; each test has its own paths at the origin."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.stack, cls.browser, cls.origin = stack(), browser(), origin()

    def path(self, name: str) -> str:
        return f"/{self.id().rpartition('.')[2]}/{name}"

    def put(self, name: str, *answers: Answer | Gate) -> str:
        """Serves the answers at the origin and returns the URL."""
        return self.origin.put(self.path(name), *answers)

    def gate(self, name: str) -> tuple[Gate, str]:
        """A gated image and its URL in the gateway."""
        gate = Gate(picture())
        self.addCleanup(gate.open)
        return gate, self.stack.image(self.put(name, gate))

    def asked(self, name: str) -> int:
        return len(self.origin.times(self.path(name)))

    def visit(self, body: str, name: str = "page.html", gateway: str | None = None) -> str:
        """Shows a page with the component. Returns its URL."""
        html = f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>{self.id()}</title>
            <link rel="icon" href="data:,">
            <script>{RECORDER}</script>
            <script type="module" src="{gateway or self.stack.gateway}/-/bus-image.js"></script>
            <style>body {{ margin: 0 }} bus-image {{ width: 160px; height: 120px }}</style>
            {body}"""
        url = self.put(name, Answer(html.encode(), "text/html; charset=utf-8"))
        self.browser.visit(url)
        return url

    def run_in_page(self, script: str, *arguments: object) -> object:
        return self.browser.run(script, *arguments)

    def told(self, type: str, id: str, count: int = 1) -> dict:
        """Waits until an element has sent an event `count` times."""
        return self.browser.run("return told(...arguments)" , type, id, count)

    def until(self, is_so: Callable[[], bool]) -> None:
        """Polls a state for which there is no event."""
        end = now() + SECONDS
        while not is_so():
            self.assertLess(now(), end, "it does not come about")
            time.sleep(0.02)

    def say_closed(self, gate: Gate, since: float, what: str) -> None:
        """Waits until the origin's connection is closed, and prints how long that took."""
        seconds = gate.await_closed() - since
        print(f"    {what}: the origin's connection closes after {seconds * 1_000:.0f} ms")


def now() -> float:
    return time.monotonic()
