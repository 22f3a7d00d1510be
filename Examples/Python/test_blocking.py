"""The blocking client with a real stack."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from example_stack import SECONDS, ExampleTests, png
from imagebus import Client, Loaded, Progress, errors, new_token, resize

INTERRUPTED = """
import sys
from imagebus import Client
with Client(sys.argv[1], connect_timeout=60) as client:
    try:
        client.load(sys.argv[2])
    except KeyboardInterrupt:
        print("interrupted")
        sys.stdin.read()  # the client is open still
"""


class BlockingTests(ExampleTests):
    def connect(self, delivery: str = "mapped") -> Client:
        return Client(self.stack.runtime_dir, delivery, connect_timeout=SECONDS)

    def test_it_loads_uploads_and_prefetches(self) -> None:
        data = png(320, 200, 1)
        url = self.serve(data)
        told: list[tuple[int, int]] = []
        with self.connect() as client:
            report = client.prefetch([url])
            self.assertEqual((report.finished, report.skipped), (1, 0))
            small = client.load(url, resize(64, 64), format="webp")
            self.assertEqual((small.format, small.pillow().size), ("webp", (64, 40)))
            other = self.serve(png(320, 200, 2))
            client.load(other, progress=lambda *counts: told.append(counts))
            self.assertEqual(told[-1][0], told[-1][1])
            again = client.upload(data, resize(64, 64), format="png")
            self.assertEqual(again.pillow().size, (64, 40))
        self.assertEqual(self.gets(url), 1)

    def test_errors_have_classes(self) -> None:
        with self.connect() as client:
            with self.assertRaises(errors.AddressForbidden):
                client.load("http://127.0.0.1:1/private.png")
            with self.assertRaises(errors.InvalidDownloadStatusCode):
                client.load(self.origin.url("/missing.png"))
            with self.assertRaises(errors.BadImageData):
                client.upload(b"no image" * 10, resize(8, 8))
            url, _ = self.serve_slowly(png(64, 48, 3))
            with self.assertRaises(errors.DeadlineExceeded):
                client.load(url, timeout=0.2)
        with self.assertRaises(errors.Unavailable):
            client.load(url)
        with tempfile.TemporaryDirectory(prefix="ib-", dir="/tmp") as folder:
            with self.assertRaises(errors.Unavailable):
                Client(folder, connect_timeout=0.1).__enter__()

    def test_threads_share_it_and_one_cancels_for_another(self) -> None:
        url, picture = self.serve_slowly(png(320, 200, 4))
        others = [self.serve(png(64, 48, seed)) for seed in range(5, 13)]
        with self.connect() as client, ThreadPoolExecutor(12) as threads:
            token = new_token()
            slow = threads.submit(client.load, url, token=token)
            self.assertTrue(picture.asked.acquire(timeout=SECONDS))
            loads = [threads.submit(client.load, other) for other in others]
            self.assertEqual({load.result(SECONDS).width for load in loads}, {64})
            client.cancel(token)
            with self.assertRaises(errors.Cancelled):
                slow.result(SECONDS)
            self.assertTrue(picture.broken.wait(SECONDS))

    def test_large_results_are_given_back_from_whatever_thread(self) -> None:
        url = self.serve(png(1400, 1100, 13))
        with self.connect() as client:
            held = [client.load(url) for _ in range(16)]
            self.assertIs(type(held[-1].data), bytes, "beyond 64 MiB it comes as a copy")
            releasing = [threading.Thread(target=image.release) for image in held]
            for thread in releasing:
                thread.start()
            for thread in releasing:
                thread.join()
            with client.load(url) as image:
                self.assertIs(type(image.data), memoryview, "all was released")

    def test_events_come_one_by_one_and_leaving_them_cancels(self) -> None:
        data = png(320, 200, 14)
        with self.connect() as client:
            url, picture = self.serve_slowly(data)
            for event in client.events(url):
                if isinstance(event, Progress) and event.received:
                    picture.open()
            assert isinstance(event, Loaded)
            self.assert_same(event.image.data, data)
            url, picture = self.serve_slowly(png(320, 200, 15))
            for event in client.events(url):
                break
            self.assertTrue(picture.broken.wait(SECONDS), "the connection to the origin goes on")

    def test_a_client_that_is_closed_ends_what_waits(self) -> None:
        url, picture = self.serve_slowly(png(320, 200, 16))
        with ThreadPoolExecutor(1) as threads:
            with self.connect() as client:
                load = threads.submit(client.load, url)
                self.assertTrue(picture.asked.acquire(timeout=SECONDS))
            with self.assertRaises(errors.Cancelled):
                load.result(SECONDS)
            self.assertTrue(picture.broken.wait(SECONDS))

    def test_threads_that_come_while_it_closes_are_told(self) -> None:
        url = self.serve(png(64, 48, 19))

        def load_until(closed: threading.Event, client: Client) -> None:
            while not closed.is_set():
                with suppress(errors.Cancelled, errors.Unavailable):
                    client.load(url)

        for _ in range(8):
            closed = threading.Event()
            with ThreadPoolExecutor(4) as threads:
                with self.connect() as client:
                    client.load(url)
                    loads = [threads.submit(load_until, closed, client) for _ in range(4)]
                closed.set()
                for load in loads:
                    load.result(SECONDS)

    def test_a_callback_that_waits_for_its_own_client_is_told_so(self) -> None:
        said: list[str] = []
        with self.connect() as client:

            def note(*_: int) -> None:
                try:
                    client.load("http://127.0.0.1:1/")
                except ValueError as error:
                    said.append(str(error))

            client.load(self.serve(png(64, 48, 17)), progress=note)
        self.assertIn("a callback must not wait for its own client", said)

    def test_an_interrupt_cancels_its_load(self) -> None:
        url, picture = self.serve_slowly(png(320, 200, 18))
        command = [sys.executable, "-c", INTERRUPTED, self.stack.runtime_dir, url]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        ) as process:  # fmt: skip
            self.assertTrue(picture.asked.acquire(timeout=SECONDS))
            process.send_signal(signal.SIGINT)
            self.assertTrue(picture.broken.wait(SECONDS))
            said, errors_said = process.communicate(b"", timeout=SECONDS)
        self.assertEqual((said, errors_said, process.returncode), (b"interrupted\n", b"", 0))


if __name__ == "__main__":
    unittest.main()
