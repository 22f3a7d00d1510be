"""What is retried, when, and what isn't."""

from __future__ import annotations

import unittest

from cases import WebTests, picture
from origin import Answer, Gate
from web_stack import Stack

GOOD = Answer(picture(40, 30))


class RetryTests(WebTests):
    def shown(self, *answers: Answer, attributes: str = "progress") -> None:
        """An image directly from an origin with these responses."""
        url = self.put("a.png", *answers)
        self.visit(f'<bus-image id="it" alt="A boat" src="{url}" {attributes}></bus-image>')

    def pauses(self) -> list[float]:
        times = self.origin.times(self.path("a.png"))
        return [after - before for before, after in zip(times, times[1:])]

    def test_retry_after_is_honoured(self) -> None:
        for status in 429, 503:
            with self.subTest(status):
                self.origin.asked.clear()
                self.shown(Answer(b"later", "text/plain", status, Retry_After="2"), GOOD)
                retry = self.told("retry", "it")
                self.assertEqual((retry["status"], retry["attempt"]), (status, 1))
                self.assertTrue(2 <= retry["seconds"] <= 2.5, retry)
                self.assertEqual(self.told("load", "it")["bytes"], len(GOOD.data))
                (pause,) = self.pauses()
                # The browser's timer has a resolution of milliseconds.
                self.assertGreaterEqual(pause, 1.95)

    def test_it_is_honoured_where_the_img_was_refused(self) -> None:
        later = Answer(b"later", "text/plain", 503, Retry_After="1")
        self.shown(later, later, GOOD, attributes="")
        self.assertTrue(1 <= self.told("retry", "it")["seconds"] <= 1.25)
        self.told("load", "it")
        # By the <img>, then to read the error, then the announced retry.
        self.assertEqual(len(self.pauses()), 2)

    def test_other_errors_are_final(self) -> None:
        for status, text in (404, "exist"), (403, "cannot"), (422, "not an image"), (500, "cannot"):
            with self.subTest(status):
                self.origin.asked.clear()
                self.shown(Answer(b"the reason", "text/plain", status), GOOD)
                error = self.told("error", "it")
                self.assertEqual((error["status"], error["message"]), (status, "the reason"))
                self.assertIn(text, error["text"])
                self.assertEqual(self.asked("a.png"), 1)
                self.assertIsNone(self.run_in_page("return one('retry', 'it')"))

    def test_there_is_an_end_to_it(self) -> None:
        self.shown(
            Answer(b"", "text/plain", 503, Retry_After="0"), attributes='progress retries="2"'
        )
        self.assertEqual(self.told("error", "it")["status"], 503)
        self.assertEqual(self.asked("a.png"), 3)

    def test_nobody_waits_for_an_hour(self) -> None:
        self.shown(Answer(b"", "text/plain", 503, Retry_After="3600"))
        self.assertEqual(self.told("error", "it")["status"], 503)

    def test_a_lost_connection_is_tried_again(self) -> None:
        self.shown(GOOD)
        self.told("load", "it")
        self.browser.devtools("Network.enable")
        self.addCleanup(self.browser.devtools, "Network.disable")
        self.offline(True)
        self.addCleanup(self.offline, False)
        self.run_in_page("$('it').src += '?2'")
        self.assertEqual(self.told("retry", "it")["status"], 0)
        self.offline(False)
        self.told("load", "it", 2)

    def offline(self, is_so: bool) -> None:
        self.browser.devtools(
            "Network.emulateNetworkConditions",
            offline=is_so, latency=0, downloadThroughput=-1, uploadThroughput=-1,
        )  # fmt: skip

    def test_what_is_no_image_is_said_to_be_none(self) -> None:
        for data, kind in (b"<html>", "text/html"), (b"no image at all", "image/png"):
            with self.subTest(kind):
                self.shown(Answer(data, kind))
                self.assertEqual(self.told("error", "it")["text"], "This is not an image")

    def test_a_visitor_tries_again(self) -> None:
        self.shown(Answer(b"", "text/plain", 404), GOOD)
        self.told("error", "it")
        self.run_in_page("$('it').shadowRoot.getElementById('retry').click()")
        self.told("load", "it")
        self.assertEqual(self.run_in_page("return document.activeElement.id"), "it")

    def test_a_busy_stack_says_when(self) -> None:
        # One transfer at a time and one in the queue: the next one is rejected.
        stack = Stack("--fetches-per-host", "1", "--queue-limit", "1")
        self.addCleanup(stack.remove)
        gates = [Gate(picture()) for _ in range(3)]
        for number, gate in enumerate(gates):
            self.addCleanup(gate.open)
        urls = [
            stack.image(self.put(f"{number}.png", gate)) for number, gate in enumerate(gates)
        ]
        self.visit("".join(
            f'<bus-image id="i{number}" alt="" progress></bus-image>' for number in range(3)
        ))  # fmt: skip
        show = "Object.assign($(arguments[0]), { src: arguments[1] })"
        self.run_in_page(show, "i0", urls[0])
        gates[0].await_asked()
        self.run_in_page(show, "i1", urls[1])
        self.until(
            lambda: stack.figure('imagebus_stage_queued_jobs{stage="fetch"}') == 1
        )
        self.run_in_page(show, "i2", urls[2])
        retry = self.told("retry", "i2")
        self.assertEqual(retry["status"], 429)
        for gate in gates:
            gate.open()
        for number in range(3):
            self.told("load", f"i{number}")
        self.assertGreaterEqual(retry["seconds"], 1)


if __name__ == "__main__":
    unittest.main()
