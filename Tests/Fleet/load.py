"""Clients of a proxy."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Callable, Iterable

from fleet import PORT, until
from processes import SECONDS

CLIENTS = 8


class Client:
    """One connection, which is reopened if a server has closed it between two requests."""

    def __init__(self, address: str) -> None:
        self._connection = http.client.HTTPConnection(address, PORT, timeout=SECONDS)

    def get(self, path: str) -> tuple[int, bytes]:
        """The status and the whole body."""
        self._connection.request("GET", path)
        answer = self._connection.getresponse()
        return answer.status, answer.read()

    def close(self) -> None:
        self._connection.close()


class Answers:
    """The responses that several clients received."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.failures: list[str] = []
        self._lock = threading.Lock()

    @property
    def count(self) -> int:
        return len(self.seconds)

    @property
    def slowest(self) -> float:
        return max(self.seconds)

    def add(self, path: str, seconds: float, failure: str | None) -> None:
        with self._lock:
            self.seconds.append(seconds)
            if failure is not None:
                self.failures.append(f"{path}: {failure}")


def ask(client: Client, path: str, answers: Answers) -> None:
    """Requests an image; any other response is a failure."""
    began, failure = time.monotonic(), None
    try:
        status, body = client.get(path)
        if status != 200 or not body:
            failure = f"{status} {body[:100]!r}"
    except (OSError, http.client.HTTPException) as error:
        failure = repr(error)
        client.close()
    answers.add(path, time.monotonic() - began, failure)


class Shared:
    """An iterator shared by several threads."""

    def __init__(self, values: Iterable[str]) -> None:
        self._values, self._lock = iter(values), threading.Lock()

    def next(self) -> str | None:
        with self._lock:
            return next(self._values, None)


def ask_all(addresses: list[str], paths: Iterable[str], clients: int = CLIENTS) -> Answers:
    """Requests each path once, several at a time; clients use the addresses in turn."""
    answers, waiting = Answers(), Shared(paths)

    def work(address: str) -> None:
        client = Client(address)
        while (path := waiting.next()) is not None:
            ask(client, path, answers)
        client.close()

    run_all([
        threading.Thread(target=work, args=(addresses[number % len(addresses)],))
        for number in range(clients)
    ])
    return answers


def ask_during(
    address: str, paths: Iterable[str], event: Callable[[], None], more: int = 300
) -> Answers:
    """Requests one path after another. `event` runs after `more` responses, and the clients
    continue until they have `more` further ones. The paths are infinite.
    """
    answers, waiting, over = Answers(), Shared(paths), threading.Event()

    def work() -> None:
        client = Client(address)
        while not over.is_set():
            ask(client, waiting.next(), answers)
        client.close()

    def act() -> None:
        try:
            wait_for(answers, more)
            event()
            wait_for(answers, answers.count + more)
        finally:
            over.set()

    run_all([threading.Thread(target=one) for one in [act, *[work] * CLIENTS]])
    return answers


def run_all(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def wait_for(answers: Answers, count: int) -> None:
    until(lambda: answers.count >= count, f"{count} answers")
