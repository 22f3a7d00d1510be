"""Leaving an image ends its transfer at the origin: through component, browser, gateway and
stack.
"""

from __future__ import annotations

import unittest

from cases import WebTests, now, picture, secure_gateway
from origin import Answer

# By the <img> and by fetch.
LANES = {"img": "", "fetch": "progress"}


class LeavingTests(WebTests):
    def shown(self, name: str, attributes: str):
        """A page with one gated image, which has been requested from the origin."""
        gate, url = self.gate(name)
        self.visit(
            f'<bus-image id="it" alt="it" src="{url}" {attributes}></bus-image>', f"{name}.html"
        )
        gate.await_asked()
        return gate

    def each_lane(self, act: str, what: str) -> None:
        for lane, attributes in LANES.items():
            with self.subTest(lane):
                gate = self.shown(f"{lane}.png", attributes)
                start = now()
                self.run_in_page(act)
                self.say_closed(gate, start, f"{what} ({lane})")

    def test_a_new_source(self) -> None:
        other = self.stack.image(self.put("other.png", Answer(picture(20, 20))))
        self.each_lane(f"$('it').src = '{other}'", "a new source")
        self.assertEqual(self.told("load", "it")["url"], other)

    def test_an_empty_source(self) -> None:
        self.each_lane("$('it').src = ''", "an empty source")
        self.assertEqual(self.run_in_page("return $('it').state"), "empty")

    def test_removal(self) -> None:
        self.each_lane("$('it').remove()", "removed from the page")

    def test_removal_of_an_image_of_the_page(self) -> None:
        gate, url = self.gate("a.png")
        self.visit(f'<bus-image id="it"><img src="{url}" alt="it"></bus-image>')
        gate.await_asked()
        start = now()
        self.run_in_page("$('it').remove()")
        self.say_closed(gate, start, "removed with its <img>")

    def test_a_move_is_no_removal(self) -> None:
        gate = self.shown("a.png", "progress")
        self.run_in_page("document.body.append(Object.assign($('it'), { title: 'moved' }))")
        gate.open()
        self.told("load", "it")
        self.assertEqual(self.asked("a.png"), 1)
        self.assertFalse(gate.is_closed)
        self.assertIsNone(self.run_in_page("return one('abort', 'it')"))

    def test_navigation_away_and_back(self) -> None:
        for lane, attributes in LANES.items():
            with self.subTest(lane):
                gate = self.shown(f"{lane}.png", attributes)
                start = now()
                self.browser.visit("about:blank")
                self.say_closed(gate, start, f"navigation away ({lane})")
                gate.open()
                self.browser.back()
                # The page was kept, or is loaded again: both show it.
                self.run_in_page("await until(() => $('it').state === 'loaded' ? 1 : 0)")

    def test_a_page_that_is_kept_goes_on(self) -> None:
        gate = self.shown("a.png", "progress")
        self.run_in_page("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))")
        gate.await_closed()
        self.assertEqual(self.run_in_page("return $('it').state"), "idle")
        gate.open()
        self.run_in_page("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
        self.told("load", "it")

    def test_a_tab_is_closed(self) -> None:
        first = self.browser.tab
        for lane, attributes in LANES.items():
            with self.subTest(lane):
                self.browser.switch(self.browser.open_tab())
                gate = self.shown(f"{lane}.png", attributes)
                start = now()
                self.browser.close_tab()
                self.say_closed(gate, start, f"tab closed ({lane})")
                self.browser.switch(first)

    def test_of_two_tabs_one_is_closed(self) -> None:
        first = self.browser.tab
        gate, url = self.gate("a.png")
        body = f'<bus-image id="it" alt="it" src="{url}" progress></bus-image>'
        self.visit(body)
        gate.await_asked()
        self.browser.switch(self.browser.open_tab())
        # The browser would delay its second request until the first response is known.
        coalesced = self.coalesced()
        other = self.stack.image(self.origin.url(self.path("a.png")), "cb:2/rs:fit:64:64")
        self.visit(body.replace(url, other), "other.html")
        self.run_in_page("await until(() => $('it').state === 'loading' ? 1 : 0)")
        self.until(lambda: self.coalesced() > coalesced)
        cancelled = self.stack.figure("imagebus_requests_cancelled_total")
        self.browser.close_tab()
        self.browser.switch(first)
        self.until(lambda: self.stack.figure("imagebus_requests_cancelled_total") > cancelled)
        self.assertFalse(gate.is_closed)
        gate.open()
        self.told("load", "it")
        self.assertEqual(self.asked("a.png"), 1)

    def coalesced(self) -> int:
        return sum(
            self.stack.figure(f'imagebus_coalesced_total{{level="{level}"}}')
            for level in ("lookup", "result", "decode", "source")
        )

    def test_scrolled_past(self) -> None:
        gate, url = self.gate("a.png")
        self.visit(
            f'<bus-image id="it" alt="it" src="{url}" lazy="10px" progress></bus-image>'
            '<div style="height: 5000px"></div>'
        )
        gate.await_asked()
        start = now()
        self.run_in_page("scrollTo(0, 4000)")
        self.say_closed(gate, start, "scrolled past")
        self.told("abort", "it")
        gate.open()
        self.run_in_page("scrollTo(0, 0)")
        self.told("load", "it")

    def test_what_is_far_away_is_not_asked_for(self) -> None:
        gate, url = self.gate("a.png")
        near = self.stack.image(self.put("near.png", Answer(picture(20, 20))))
        self.visit(
            f'<bus-image id="near" alt="near" src="{near}" lazy></bus-image>'
            '<div style="height: 5000px"></div>'
            f'<bus-image id="it" lazy><img src="{url}" loading="lazy" alt="it"></bus-image>'
        )
        self.told("load", "near")
        self.assertEqual(self.run_in_page("return $('it').state"), "idle")
        self.assertEqual(self.asked("a.png"), 0)

    def test_through_http_2(self) -> None:
        gateway = secure_gateway()
        for lane, attributes in LANES.items():
            with self.subTest(lane):
                gate, url = self.gate(f"{lane}.png")
                url = url.replace(self.stack.gateway, gateway)
                self.visit(
                    f'<bus-image id="it" alt="it" src="{url}" {attributes}></bus-image>',
                    f"{lane}.html", gateway,
                )  # fmt: skip
                gate.await_asked()
                start = now()
                self.run_in_page("$('it').src = ''")
                self.say_closed(gate, start, f"behind nginx, HTTP/2 ({lane})")
                gate.open()
                self.run_in_page("$('it').src = arguments[0]", url)
                self.told("load", "it")
                protocol = self.run_in_page(
                    "return performance.getEntriesByName(arguments[0]).at(-1).nextHopProtocol", url
                )
                self.assertEqual(protocol, "h2")


if __name__ == "__main__":
    unittest.main()
