"""The gallery of `scripts/demo --web`, and screenshots of it for review."""

from __future__ import annotations

import io
import os
import time
import unittest
from pathlib import Path

from PIL import Image

from browser import SECONDS
from cases import RECORDER, browser, now
from demo import REPOSITORY, Demo

SHOTS = Path(REPOSITORY, ".build", "screenshots")
ESCAPE, ENTER = "\ue00c", "\ue007"
COUNT = 16


class GalleryTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.browser = browser()
        cls.demo = Demo()
        cls.addClassCleanup(cls.demo.stop)
        SHOTS.mkdir(parents=True, exist_ok=True)
        cls.browser.devtools("Page.enable")
        cls.script = cls.browser.devtools(
            "Page.addScriptToEvaluateOnNewDocument",
            source=RECORDER,
        )["identifier"]
        cls.addClassCleanup(
            cls.browser.devtools, "Page.removeScriptToEvaluateOnNewDocument", identifier=cls.script
        )

    def setUp(self) -> None:
        self.addCleanup(self.browser.visit, "about:blank")
        self.addCleanup(self.browser.devtools, "Emulation.setEmulatedMedia", features=[])
        self.addCleanup(self.browser.devtools, "Emulation.clearDeviceMetricsOverride")

    def show(
        self, query: str, width: int = 1280, height: int = 1500, scale: int = 1, dark: bool = False
    ) -> None:
        self.browser.devtools(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=scale, mobile=width < 600,
        )  # fmt: skip
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.browser.devtools("Emulation.setEmulatedMedia", features=features)
        # URLs that haven't been requested yet.
        run = self.id().rpartition(".")[2].replace("_", "")
        self.browser.visit(f"{self.demo.url}?run={run}&{query}")

    def run_in_page(self, script: str, *arguments: object) -> object:
        return self.browser.run(script, *arguments)

    def await_count(self, type: str, count: int) -> None:
        """Waits until `count` elements have sent the event."""
        self.run_in_page(
            """const [type, count] = arguments;
            await until(() => new Set(seen.filter((event) => event.type === type)
                .map((event) => event.id)).size >= count);""",
            type, count,
        )  # fmt: skip

    def await_still(self) -> None:
        """Waits until fades are over and nothing spins."""
        self.run_in_page(
            """const frame = () => new Promise((next) => requestAnimationFrame(next));
            await frame(), await frame();
            const roots = [...document.querySelectorAll("bus-image")].map((one) => one.shadowRoot);
            const running = () => [document, ...roots].flatMap((one) => one.getAnimations())
                .filter((one) => one.effect.getComputedTiming().iterations < 1e6);
            while (running().length) await Promise.allSettled(running().map((one) => one.finished));
            await frame(), await frame();"""
        )

    def shot(self, name: str) -> Image.Image:
        self.await_still()
        data = self.browser.screenshot()
        (SHOTS / f"{name}.png").write_bytes(data)
        return Image.open(io.BytesIO(data)).convert("RGB")

    def figure(self, name: str) -> int:
        return int(self.run_in_page(
            "return document.querySelector(`[data-figure=${arguments[0]}]`).textContent", name
        ))  # fmt: skip

    def await_figure(self, name: str, least: int) -> None:
        self.run_in_page(
            """const figure = document.querySelector(`[data-figure=${arguments[0]}]`);
            await new Promise((resolve) => {
                const check = () => Number(figure.textContent) >= arguments[1] && resolve();
                new MutationObserver(check).observe(figure, { childList: true });
                check();
            });""",
            name, least,
        )  # fmt: skip

    def test_light(self) -> None:
        self.show("", height=1420)
        self.await_count("load", COUNT)
        self.await_figure("made", COUNT)
        image = self.shot("light")
        self.assertGreater(min(image.getpixel((5, 5))), 220)
        self.assertEqual(
            self.run_in_page("return document.querySelectorAll('#workers li').length"), 4
        )
        self.assertFalse(self.run_in_page("return document.getElementById('none').offsetHeight"))

    def test_dark(self) -> None:
        self.show("", dark=True)
        self.await_count("load", 8)
        self.assertLess(max(self.shot("dark").getpixel((5, 5))), 40)

    def test_phone(self) -> None:
        self.show("", 390, 844, 2)
        self.await_count("load", 1)
        self.shot("phone")
        self.assertEqual(self.run_in_page("return document.documentElement.scrollWidth"), 390)
        # 358 CSS pixels are 716 pixels of the screen.
        url = self.run_in_page("return document.querySelector('.tile bus-image').currentSrc")
        self.assertIn("/rs:fit:720:0/", url)

    def test_slow_origin_and_cancel_on_scroll(self) -> None:
        self.show("origin=stuck", height=700)
        self.await_count("loadstart", 8)
        self.await_figure("cancelled", 0)
        before = self.figure("cancelled")
        self.shot("slow")
        busy = "return document.querySelectorAll('.tile [aria-busy], .tile[aria-busy]').length"
        self.assertGreaterEqual(self.run_in_page(busy), 8)
        self.run_in_page("scrollTo(0, document.body.scrollHeight)")
        self.await_count("abort", 3)
        self.await_figure("cancelled", before + 3)
        self.shot("slow-scrolled")

    def test_failing_origin(self) -> None:
        self.show("origin=failing", height=1300)
        self.await_count("error", 6)
        self.await_count("load", 2)
        self.shot("failing")
        said = self.run_in_page(
            """return [...document.querySelectorAll(":state(failed)")].map((one) =>
                one.shadowRoot.getElementById("message").textContent)"""
        )
        self.assertLessEqual(
            {"This image does not exist", "This is not an image", "The source does not answer"},
            set(said),
        )

    def test_slow_network(self) -> None:
        self.browser.devtools("Network.enable")
        self.addCleanup(self.browser.devtools, "Network.disable")

        def pace(bytes_a_second: int) -> None:
            self.browser.devtools(
                "Network.emulateNetworkConditions",
                offline=False, latency=0, downloadThroughput=bytes_a_second, uploadThroughput=-1,
            )  # fmt: skip

        self.addCleanup(pace, -1)
        self.show("limit=0")
        pace(12_000)
        self.run_in_page("history.replaceState(null, '', '?slow-network')")
        self.show("", 1280, 760, 2)
        self.run_in_page(
            """await until(() => seen.some((one) =>
                one.type === "progress" && one.total && one.loaded / one.total > 0.3))"""
        )
        values = """return [...document.querySelectorAll(".tile bus-image")].map((one) =>
            one.shadowRoot.querySelector("[role=progressbar]").getAttribute("aria-valuenow"))
            .filter((value) => value !== null)"""
        self.assertTrue(self.run_in_page(values))
        self.shot("slow-network")

    def test_nothing_to_show(self) -> None:
        self.show("limit=0", height=900)
        self.run_in_page("await customElements.whenDefined('bus-image')")
        self.assertTrue(self.run_in_page("return document.getElementById('none').offsetHeight"))
        self.shot("empty")

    def test_one_picture_large(self) -> None:
        self.show("", height=900)
        self.await_count("load", 2)
        self.run_in_page("document.querySelector('.tile a').focus()")
        self.browser.press(ENTER)
        self.run_in_page(
            """const large = document.querySelector("dialog bus-image");
            await until(() => large.state === "loaded");"""
        )
        self.assertIn(
            "/rs:fit:1440:0/",
            self.run_in_page("return document.querySelector('dialog bus-image').currentSrc"),
        )
        self.shot("large")
        self.run_in_page(
            """window.dialogCloses = new Promise((next) =>
                document.querySelector("dialog").addEventListener("close", next));"""
        )
        self.browser.press(ESCAPE)
        self.assertEqual(
            self.run_in_page(
                """await dialogCloses;
                return [document.querySelector("dialog").open, document.activeElement.localName,
                    document.querySelector("dialog bus-image").src]"""
            ),
            [False, "a", ""],
        )

    def test_an_animation_plays_and_stops(self) -> None:
        self.show("", height=1100)
        self.await_count("load", 6)
        moving = self.run_in_page("return document.querySelector('[animated]').id")
        toggle = f"$('{moving}').shadowRoot.getElementById('toggle')"
        self.run_in_page(f"{toggle}.click()")
        self.run_in_page(f"await told('play', '{moving}')")
        self.assertEqual(
            self.run_in_page(f"return {toggle}.getAttribute('aria-label').split(':')[0]"), "Pause"
        )
        self.shot("animation")
        self.run_in_page(f"{toggle}.click()")
        self.run_in_page(f"await told('pause', '{moving}')")

    def test_without_script(self) -> None:
        self.browser.devtools("Emulation.setScriptExecutionDisabled", value=True)
        self.addCleanup(self.browser.devtools, "Emulation.setScriptExecutionDisabled", value=False)
        self.show("", height=1100)
        end = now() + SECONDS
        while True:
            # There is no event for that: poll until the colors of an image are visible.
            image = Image.open(io.BytesIO(self.browser.screenshot())).convert("RGB")
            tile = image.crop((460, 330, 820, 560))
            if len(tile.getcolors(1 << 20)) > 2_000:
                break
            self.assertLess(now(), end, "no picture is shown")
            time.sleep(0.05)
        image.save(SHOTS / "without-script.png")


if __name__ == "__main__":
    unittest.main()
