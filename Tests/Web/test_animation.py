"""Animations: a still poster until they are played."""

from __future__ import annotations

import unittest

from cases import WebTests, now, picture
from origin import Answer, Gate
from test_access import animation

POSTER = Answer(picture(20, 10))
# The red value of each drawn frame, and how many another element drew.
DRAWN = """
  window.drawn = [], window.others = 0;
  const draw = CanvasRenderingContext2D.prototype.drawImage;
  CanvasRenderingContext2D.prototype.drawImage = function (...all) {
    draw.apply(this, all);
    if (this.canvas.id !== "animation") return;
    if (this.canvas.getRootNode().host.id !== "it")
      return void (others += 1, dispatchEvent(new Event("drawn")));
    drawn.push(Math.round(this.getImageData(5, 5, 1, 1).data[0] / 60));
    dispatchEvent(new Event("drawn"));
  };
  window.drawnAtLeast = async (count) => {
    while (drawn.length < count)
      await new Promise((next) => addEventListener("drawn", next, { once: true }));
    return drawn;
  };
"""


class AnimationTests(WebTests):
    def shown(self, file: bytes | Gate, attributes: str = "", kind: str = "image/gif") -> None:
        answer = file if isinstance(file, Gate) else Answer(file, kind)
        poster, moving = self.put("a.png", POSTER), self.put("moving", answer)
        self.visit(
            f"""<script>{DRAWN}</script><bus-image id="it" alt="" src="{poster}"
                animated="{moving}" {attributes}></bus-image>"""
        )
        self.told("load", "it")

    def canvas_is_hidden(self) -> bool:
        return self.run_in_page("return $('it').shadowRoot.getElementById('animation').hidden")

    def test_it_is_still_until_it_is_played(self) -> None:
        self.shown(animation())
        self.assertTrue(self.canvas_is_hidden())
        self.assertEqual(self.asked("moving"), 0)
        self.run_in_page("await $('it').play()")
        self.assertFalse(self.canvas_is_hidden())
        drawn = self.run_in_page("return drawnAtLeast(9)")
        # Forever, in order.
        self.assertEqual(drawn[:9], [0, 1, 2, 3, 0, 1, 2, 3, 0])
        self.run_in_page("$('it').pause()")
        self.told("pause", "it")
        last = self.run_in_page("return drawn.at(-1)")
        before = self.run_in_page("await $('it').play(); return drawn.length")
        again = self.run_in_page("return drawnAtLeast(arguments[0] + 2)", before)
        self.assertEqual(again[before - 1], (last + 1) % 4, again)
        self.assertEqual(self.asked("moving"), 1)

    def test_it_ends_after_its_loops(self) -> None:
        # Without a loop extension a GIF plays once; a loop count of 1 means one more.
        for loops, attributes, count in (None, "", 4), (1, "", 8), (0, 'loops="3"', 12):
            with self.subTest(loops=loops, attributes=attributes):
                self.shown(animation(loops=loops), attributes)
                self.run_in_page("$('it').play(); await told('ended', 'it')")
                self.assertEqual(self.run_in_page("return drawn"), [0, 1, 2, 3] * (count // 4))
                self.assertFalse(self.run_in_page("return $('it').playing"))

    def test_it_takes_its_time(self) -> None:
        self.shown(animation(4, 200, None))
        start = now()
        self.run_in_page("$('it').play(); await told('ended', 'it')")
        self.assertGreater(now() - start, 0.75)

    def test_it_ends_whenever_its_bytes_come(self) -> None:
        # Chromium loses the loop count if a chunk arrives while it decodes, which happens in some
        # of
        # these rounds.
        for _ in range(20):
            self.shown(animation(4, 20, None))
            self.run_in_page("$('it').play(); await told('ended', 'it')")
            self.assertEqual(self.run_in_page("return drawn"), [0, 1, 2, 3])

    def test_it_plays_while_it_arrives(self) -> None:
        gate = Gate(animation(40, 20), "image/gif")
        self.addCleanup(gate.open)
        self.shown(gate)
        self.run_in_page("await $('it').play()")
        self.assertEqual(self.run_in_page("return drawnAtLeast(3)")[:3], [0, 1, 2])
        self.assertFalse(gate.is_closed)
        self.run_in_page("$('it').remove()")
        gate.await_closed()

    def test_it_plays_by_itself_unless_motion_is_unwanted(self) -> None:
        self.shown(animation(), "autoplay")
        self.told("play", "it")
        media = [{"name": "prefers-reduced-motion", "value": "reduce"}]
        self.browser.devtools("Emulation.setEmulatedMedia", features=media)
        self.addCleanup(self.browser.devtools, "Emulation.setEmulatedMedia", features=[])
        self.shown(animation(), "autoplay")
        self.assertFalse(self.run_in_page("return $('it').playing"))
        self.assertTrue(self.canvas_is_hidden())

    def test_it_rests_where_nobody_sees_it(self) -> None:
        self.shown(animation())
        self.run_in_page(
            """const other = $("it").cloneNode();
            Object.assign(other, { id: "other" }).style.cssText = "position: fixed; top: 0";
            document.body.append(other);
            document.body.style.paddingBottom = "5000px";
            await Promise.all([$("it").play(), other.play()]);
            scrollTo(0, 3000);
            // Behind the observer of the element, which is told first.
            await new Promise((next) => new IntersectionObserver((all) =>
                all.at(-1).isIntersecting || next()).observe($("it")));
            [window.before, window.othersBefore] = [drawn.length, others];
            while (others < othersBefore + 8)
                await new Promise((next) => addEventListener("drawn", next, { once: true }));"""
        )
        self.assertLessEqual(self.run_in_page("return drawn.length - before"), 1)
        self.run_in_page("scrollTo(0, 0); await drawnAtLeast(before + 4)")
        self.assertTrue(self.run_in_page("return $('it').playing"))

    def test_without_a_decoder_the_image_plays(self) -> None:
        self.shown(animation())
        source = "return $('it').querySelector('img').src"
        poster = self.run_in_page(source)
        self.run_in_page("delete window.ImageDecoder; await $('it').play()")
        self.assertTrue(self.run_in_page(source).startswith("blob:"))
        self.run_in_page("$('it').pause()")
        self.assertEqual(self.run_in_page(source), poster)

    def test_a_file_that_is_none_is_an_error(self) -> None:
        self.shown(b"no animation")
        self.run_in_page("$('it').play()")
        self.told("error", "it")
        self.assertFalse(self.run_in_page("return $('it').playing"))
        self.assertEqual(self.run_in_page("return $('it').state"), "loaded")

    def test_webp_of_a_stack(self) -> None:
        import io

        from PIL import Image

        frames = [Image.new("RGB", (20, 10), (60 * number, 90, 30)) for number in range(4)]
        file = io.BytesIO()
        frames[0].save(file, "WEBP", save_all=True, append_images=frames[1:], duration=40,
                       lossless=True)  # fmt: skip
        source = self.put("moving.webp", Answer(file.getvalue(), "image/webp"))
        url = self.stack.image(source, "raw:1")
        poster = self.stack.image(source, "w:20")
        self.visit(
            f"""<script>{DRAWN}</script><bus-image id="it" alt="" src="{poster}"
                animated="{url}"></bus-image>"""
        )
        self.told("load", "it")
        self.run_in_page("$('it').play()")
        self.assertEqual(self.run_in_page("return drawnAtLeast(5)")[:5], [0, 1, 2, 3, 0])


if __name__ == "__main__":
    unittest.main()
