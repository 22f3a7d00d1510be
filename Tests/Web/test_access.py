"""Keyboard and screen reader."""

from __future__ import annotations

import unittest

from cases import WebTests, picture
from origin import Answer

TAB, ENTER, SPACE = "\ue004", "\ue007", " "
SMALL = Answer(picture(40, 30))


class AccessTests(WebTests):
    def nodes(self, *roles: str) -> list[dict]:
        return [node for node in self.browser.accessible() if node["role"] in roles]

    def test_an_image_has_its_name_all_the_time(self) -> None:
        gate, url = self.gate("a.png")
        self.visit(f'<bus-image id="it" alt="A boat" src="{url}" progress></bus-image>')
        gate.await_asked()
        self.assertEqual([one["name"] for one in self.nodes("image")], ["A boat"])
        (bar,) = self.nodes("progressbar")
        self.assertEqual(bar["name"], "Loading: A boat")
        busy = [one for one in self.browser.accessible() if one.get("busy")]
        self.assertEqual(len(busy), 1)
        gate.open()
        self.told("load", "it")
        self.assertEqual([one["name"] for one in self.nodes("image")], ["A boat"])
        self.assertEqual(self.nodes("progressbar", "button"), [])
        self.assertEqual([one for one in self.browser.accessible() if one.get("busy")], [])

    def test_an_image_that_says_nothing_is_silent(self) -> None:
        self.visit(f'<bus-image id="it" alt="" src="{self.put("a.png", SMALL)}"></bus-image>')
        self.told("load", "it")
        self.assertEqual(self.nodes("image", "button", "progressbar"), [])

    def test_a_failure_is_read_and_tried_again_by_keys(self) -> None:
        missing = Answer(b"", "text/plain", 404)
        url = self.put("a.png", missing, missing, SMALL)
        self.visit(f'<bus-image id="it" alt="A boat" src="{url}" progress></bus-image>')
        self.told("error", "it")
        self.assertEqual([one["name"] for one in self.nodes("button")], ["Try again: A boat"])
        texts = [one["name"] for one in self.nodes("StaticText")]
        self.assertIn("This image does not exist", texts)
        self.browser.press(TAB, ENTER)
        self.told("error", "it", 2)
        # The focus stayed where it was.
        focus = "return $('it').shadowRoot.activeElement?.id ?? document.activeElement.id"
        self.assertEqual(self.run_in_page(focus), "retry")
        self.browser.press(SPACE)
        self.told("load", "it")
        self.assertEqual(self.run_in_page(focus), "it")

    def test_an_animation_is_played_by_keys(self) -> None:
        url = self.put("a.png", SMALL)
        moving = self.put("moving.gif", Answer(animation(), "image/gif"))
        self.visit(
            f'<bus-image id="it" alt="A boat" src="{url}" animated="{moving}"></bus-image>'
        )
        self.told("load", "it")
        names = []
        for event in "play", "pause":
            names += [one["name"] for one in self.nodes("button")]
            # The button keeps the focus from the first round.
            self.browser.press(*([TAB] if event == "play" else []), SPACE)
            self.told(event, "it")
        self.assertEqual(names, ["Play: A boat", "Pause: A boat"])
        self.assertEqual(
            self.run_in_page("return $('it').shadowRoot.activeElement.id"), "toggle"
        )

    def test_labels_are_those_of_the_page(self) -> None:
        self.visit("<p>")
        self.run_in_page(
            """const { BusImage } = await import(document.querySelector("[type=module]").src);
            BusImage.labels = { ...BusImage.labels, missing: "Dieses Bild gibt es nicht",
                retry: "Noch einmal" };
            document.body.innerHTML =
                `<bus-image id="it" alt="Boot" src="${arguments[0]}"></bus-image>`;""",
            self.origin.url(self.path("missing.png")),
        )
        self.assertEqual(self.told("error", "it")["text"], "Dieses Bild gibt es nicht")
        self.assertEqual([one["name"] for one in self.nodes("button")], ["Noch einmal: Boot"])


def animation(count: int = 4, milliseconds: int = 40, loops: int | None = 0) -> bytes:
    """A GIF with frames of one color each: the red value is the index, of four."""
    import io

    from PIL import Image

    frames = [Image.new("RGB", (20, 10), (60 * (number % 4), 90, 30)) for number in range(count)]
    file = io.BytesIO()
    more = {} if loops is None else {"loop": loops}
    frames[0].save(file, "GIF", save_all=True, append_images=frames[1:],
                   duration=milliseconds, **more)  # fmt: skip
    return file.getvalue()


if __name__ == "__main__":
    unittest.main()
