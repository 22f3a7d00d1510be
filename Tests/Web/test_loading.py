"""What is visible before, during and after loading an image."""

from __future__ import annotations

import base64
import io
import json
import re
import subprocess
import unittest
from pathlib import Path

from PIL import Image

from cases import WebTests, picture
from demo import REPOSITORY
from origin import Answer
from web_stack import PROGRAMS, fetch

COMPONENT = Path(REPOSITORY, "Sources", "Fronts", "WebFront", "Component")
SMALL = Answer(picture(40, 30))


class LoadingTests(WebTests):
    def frame(self, script: str) -> object:
        """A property of the frame inside the element."""
        return self.run_in_page(
            f"const frame = $('it').shadowRoot.getElementById('frame'); {script}"
        )

    def test_the_modules_are_those_of_the_gateway(self) -> None:
        names = [path.relative_to(COMPONENT) for path in COMPONENT.rglob("*.js")]
        self.assertEqual(len(names), 12)
        for name in names:
            status, fields, data = fetch(f"{self.stack.gateway}/-/{name}")
            self.assertEqual((status, data), (200, (COMPONENT / name).read_bytes()), name)
            self.assertTrue(fields["content-type"].startswith("text/javascript"))
            again, _, rest = fetch(
                f"{self.stack.gateway}/-/{name}?2", If_None_Match=fields["etag"]
            )
            self.assertEqual((again, rest), (304, b""))

    def test_its_types_are_what_it_has(self) -> None:
        self.visit('<bus-image id="it"></bus-image>')
        text = (COMPONENT / "bus-image.d.ts").read_text()
        body = re.search(r"class BusImage .*?\n}", text, re.S)[0]
        said = set(re.findall(r"^  (?:readonly )?(\w+)[:(]", body, re.M)) - {"addEventListener"}
        has = self.run_in_page(
            "return Object.getOwnPropertyNames(customElements.get('bus-image').prototype)"
        )
        hidden = {"constructor", "connectedCallback", "disconnectedCallback",
                  "attributeChangedCallback"}  # fmt: skip
        self.assertEqual(said, set(has) - hidden)

    def test_progress_until_the_end(self) -> None:
        data = picture(300, 200)
        gate, _ = self.gate("unused.png")
        gate.data = data
        url = self.origin.put(self.path("a.png"), gate)
        self.visit(f'<bus-image id="it" alt="A boat" src="{url}" progress></bus-image>')
        self.run_in_page(
            "await until(() => seen.some((one) => one.type === 'progress' && one.loaded > 0))"
        )
        bar = "const bar = frame.querySelector('[role=progressbar]');"
        now, label = self.frame(
            bar + "return [bar.getAttribute('aria-valuenow'), bar.getAttribute('aria-label')]"
        )
        self.assertTrue(0 < int(now) <= 50, now)
        self.assertEqual(label, "Loading: A boat")
        self.assertEqual(self.run_in_page("return $('it').getAttribute('aria-busy')"), "true")
        gate.open()
        self.assertEqual(self.told("load", "it")["bytes"], len(data))
        progress = self.run_in_page("return seen.filter((one) => one.type === 'progress')")
        self.assertEqual((progress[0]["loaded"], progress[-1]["loaded"]), (0, len(data)))
        self.assertEqual(progress[-1]["total"], len(data))
        self.assertTrue(self.frame(bar + "return bar.hidden && !$('it').ariaBusy"))

    def test_it_asks_for_what_the_browser_can_show(self) -> None:
        asked = []
        for lane, attributes in ("img", ""), ("fetch", "progress"):
            url = self.put(f"{lane}.png", SMALL)
            self.visit(f'<bus-image id="it" alt="" src="{url}" {attributes}></bus-image>')
            self.told("load", "it")
            asked.append(self.origin.asked[self.path(f"{lane}.png")][0][1]["Accept"])
        # The same text in both lanes, since a cache keeps one variant.
        self.assertIn("image/avif", asked[0])
        self.assertEqual(*asked)
        # So the gateway sends the smallest format.
        source = self.put("a.jpg", Answer(picture(80, 60, "JPEG"), "image/jpeg"))
        self.visit('<bus-image id="it" alt="" progress></bus-image>')
        kind = self.run_in_page(
            """const real = fetch;
            let kind;
            window.fetch = async (...all) => {
                const answer = await real(...all);
                kind = answer.headers.get("Content-Type");
                return answer;
            };
            $("it").src = arguments[0];
            await told("load", "it");
            return kind;""",
            self.stack.image(source),
        )
        self.assertEqual(kind, "image/avif")

    def test_a_thumb_hash_is_seen_first(self) -> None:
        # Four colors that can be distinguished even in an image of 25 bytes.
        image = Image.new("RGB", (120, 80))
        quarters = {(0, 0): (220, 60, 40), (60, 0): (40, 170, 70), (0, 40): (50, 70, 200),
                    (60, 40): (230, 210, 90)}  # fmt: skip
        for place, colour in quarters.items():
            image.paste(colour, (*place, place[0] + 60, place[1] + 40))
        file = io.BytesIO()
        image.save(file, "PNG")
        source = self.put("four.png", Answer(file.getvalue()))
        said = subprocess.run(
            [PROGRAMS / "imagebus", "get", source, "--properties", "thumbhash", "--json",
             "--runtime-dir", self.stack.runtime],
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        thumb = json.loads(said)["facts"]["thumbHash"]
        gate, url = self.gate("a.png")
        self.visit(
            f'<bus-image id="it" alt="" src="{url}" thumbhash="{thumb}" progress></bus-image>'
        )
        gate.await_asked()
        pixels = self.frame(
            """const canvas = frame.querySelector("#placeholder canvas");
            const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width,
                canvas.height);
            return [canvas.width, canvas.height, [...data]];"""
        )
        width, height, data = pixels
        # Its aspect ratio has a resolution of eighths.
        self.assertTrue(width == 32 and 20 <= height <= 24, (width, height))
        for (x, y), colour in quarters.items():
            at = ((height * (1 + 2 * (y > 0)) // 4) * width + width * (1 + 2 * (x > 0)) // 4) * 4
            for wanted, got in zip(colour, data[at : at + 3]):
                self.assertLess(abs(wanted - got), 64, (colour, data[at : at + 4]))
        gate.open()
        self.told("load", "it")

    def test_other_placeholders(self) -> None:
        gate, url = self.gate("a.png")
        preview = self.stack.image(self.put("small.png", SMALL), "w:16")
        self.visit(
            f"""<bus-image id="it" alt="" src="{url}" color="rgb(1, 2, 3)" preview="{preview}"
                progress><b slot="placeholder">Soon</b></bus-image>"""
        )
        gate.await_asked()
        seen = self.frame(
            """const small = frame.querySelector("#preview");
            await small.decode();
            return [frame.style.backgroundColor, getComputedStyle(small).filter,
                $("it").querySelector("b").offsetHeight > 0];"""
        )
        self.assertEqual(seen, ["rgb(1, 2, 3)", "blur(14px)", True])
        gate.open()
        self.told("load", "it")

    def test_a_placeholder_that_waits_for_a_failure(self) -> None:
        gate, url = self.gate("a.png")
        self.visit(
            f'<bus-image id="it" alt="" src="{url}" thumbhash="3OcRJYB4d3h/iIeHeEh3eIhw+j2w"'
            " delay-placeholder progress></bus-image>"
        )
        gate.await_asked()
        hidden = "return frame.querySelector('#placeholder').hidden"
        self.assertTrue(self.frame(hidden))
        missing = self.stack.image(self.origin.url(self.path("missing.png")))
        self.run_in_page(f"$('it').src = '{missing}'")
        self.told("error", "it")
        self.assertFalse(self.frame(hidden))

    def fades(self, body: str, name: str = "page.html") -> bool:
        self.visit(body, name)
        self.told("load", "it")
        return self.frame("return frame.classList.contains('fading')")

    def test_it_fades_in_once(self) -> None:
        url = self.put("a.png", Answer(SMALL.data, Cache_Control="max-age=600"))
        body = f'<bus-image id="it" alt="" src="{url}" progress></bus-image>'
        self.assertTrue(self.fades(body, "1.html"))
        # From the browser's cache: at once, unless a fade is requested.
        self.assertFalse(self.fades(body, "2.html"))
        self.assertTrue(self.run_in_page("return one('load', 'it').cached"))
        forced = body.replace("progress", "progress force-transition")
        self.assertTrue(self.fades(forced, "3.html"))
        self.assertFalse(self.fades(forced.replace("progress", 'transition="none"'), "4.html"))
        media = [{"name": "prefers-reduced-motion", "value": "reduce"}]
        self.browser.devtools("Emulation.setEmulatedMedia", features=media)
        self.addCleanup(self.browser.devtools, "Emulation.setEmulatedMedia", features=[])
        self.assertFalse(self.fades(forced, "5.html"))

    def test_an_image_of_the_page_is_left_alone(self) -> None:
        data = base64.b64encode(SMALL.data).decode()
        self.visit(
            f'<bus-image id="it"><img src="data:image/png;base64,{data}" alt="A boat"></bus-image>'
        )
        self.told("load", "it")
        self.assertTrue(self.run_in_page("return $('it').querySelector('img').src")
                        .startswith("data:"))  # fmt: skip
        self.run_in_page("$('it').querySelector('img').src = arguments[0]",
                         self.put("other.png", SMALL))  # fmt: skip
        self.assertTrue(self.told("load", "it", 2)["url"].endswith("other.png"))

    def test_the_width_is_that_of_the_place(self) -> None:
        ladder = ", ".join(
            f"{self.put(f'{width}.png', Answer(picture(width, width // 2)))} {width}w"
            for width in (80, 160, 320, 640)
        )
        body = f'<bus-image id="it" alt="" srcset="{ladder}" progress></bus-image>'
        shown = "return $('it').currentSrc.split('/').at(-1)"
        for scale, attributes, wanted in (1, "", "160"), (2, "", "320"), (3, "max-dpr=2", "320"):
            with self.subTest(scale=scale, attributes=attributes):
                self.browser.devtools(
                    "Emulation.setDeviceMetricsOverride",
                    width=800, height=600, deviceScaleFactor=scale, mobile=False,
                )  # fmt: skip
                self.addCleanup(self.browser.devtools, "Emulation.clearDeviceMetricsOverride")
                self.visit(body.replace("progress", f"progress {attributes}"))
                self.told("load", "it")
                self.assertEqual(self.run_in_page(shown), f"{wanted}.png")
        # If its box grows, a larger image is loaded; no smaller one if it shrinks.
        self.run_in_page(
            """$("it").style.width = "300px";
            const image = $("it").querySelector("img");
            while (!$("it").currentSrc.endsWith("640.png"))
                await new Promise((next) => image.addEventListener("load", next, { once: true }));
            $("it").style.width = "100px";"""
        )
        self.assertEqual(self.run_in_page(shown), "640.png")

    def test_candidates_are_read_as_the_browser_does(self) -> None:
        self.visit("<p>")
        cases = [
            "a.jpg 1x, b.jpg 2x", "a.jpg, b.jpg 3x", "a.jpg 100w,b.jpg 900w",
            "http://h/f(1,2)/a.jpg 100w, http://h/f(3,4)/b.jpg 900w", "  a.jpg   50w  ,  ",
            "data:,a 100w, data:,b 900w",
        ]  # fmt: skip
        for text in cases:
            with self.subTest(text):
                browser, ours = self.run_in_page(
                    """const { choose } = await import(arguments[1]);
                    const image = Object.assign(new Image(), { sizes: "400px" });
                    image.srcset = arguments[0];
                    const settled = new Promise((next) => (image.onload = image.onerror = next));
                    await settled;
                    const url = choose({ srcset: arguments[0] }, 400, devicePixelRatio);
                    return [image.currentSrc, new URL(url, document.baseURI).href];""",
                    text, f"{self.stack.gateway}/-/bus-image/choice.js",
                )  # fmt: skip
                self.assertEqual(ours, browser)

    def test_prefetch_and_its_end(self) -> None:
        urls = [self.put(f"{n}.png", Answer(SMALL.data, Cache_Control="max-age=600"))
                for n in range(3)]  # fmt: skip
        gate, gated = self.gate("gated.png")
        self.visit('<bus-image id="it" alt="" progress></bus-image>')
        start = "const { BusImage } = await import(document.querySelector('[type=module]').src);"
        counts = self.run_in_page(start + "return BusImage.prefetch(arguments[0]).done", urls)
        self.assertEqual(counts, {"loaded": 3, "skipped": 0})
        self.run_in_page("$('it').src = arguments[0]", urls[0])
        self.assertTrue(self.told("load", "it")["cached"])
        self.assertEqual(self.asked("0.png"), 1)
        self.run_in_page(start + "window.ahead = BusImage.prefetch(arguments)", gated, urls[1])
        gate.await_asked()
        counts = self.run_in_page("ahead.cancel(); return ahead.done")
        gate.await_closed()
        self.assertEqual(counts["skipped"], 1)

    def test_prefetch_gives_way(self) -> None:
        busy = self.put("busy.png", Answer(b"", "text/plain", 503))
        more = [self.put(f"{n}.png", SMALL) for n in range(3)]
        self.visit("<p>")
        counts = self.run_in_page(
            """const { BusImage } = await import(document.querySelector("[type=module]").src);
            return BusImage.prefetch(arguments[0], { concurrency: 1 }).done;""",
            [busy, *more],
        )
        self.assertEqual(counts, {"loaded": 0, "skipped": 4})
        self.assertEqual(self.asked("0.png"), 0)

    def test_what_is_pointed_at_is_prefetched(self) -> None:
        gate, url = self.gate("large.png")
        self.visit(f'<bus-image id="it" alt="" prefetch="{url}"></bus-image>')
        self.run_in_page("await customElements.whenDefined('bus-image')")
        self.browser.point(50, 50)
        gate.await_asked()
        self.browser.point(600, 400)
        gate.await_closed()


if __name__ == "__main__":
    unittest.main()
