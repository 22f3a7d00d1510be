"""Measures the cost of an external step between two built-in ones, in a stack that has one.

    ext-hop.py PROGRAM SECONDS URL SIDE…

For each size it loads images of SIDE × SIDE pixels, one at a time and alternately: with the step,
without it, and sending the pixel bytes through a Unix socket to another process and back. PROGRAM
reports the bytes that passed the pool's socket. The last line is one JSON object.
"""

import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import time

from imagebus import Options, Tiers, custom, flip
from imagebus.aio import Client

POOL = "back/step"
WARM_UP = 3  # of each, not counted
TURNS_MIN = 3

BEFORE, BEHIND = flip(horizontal=True), flip(vertical=True)
WITHOUT, WITH = (BEFORE, BEHIND), (BEFORE, custom("bench.unchanged"), BEHIND)


class Echo:
    """Another process that echoes what it receives."""

    def __init__(self):
        self._socket, other = socket.socketpair()
        self._child = os.fork()
        if self._child == 0:
            self._socket.close()
            self._answer(other)
            os._exit(0)
        other.close()

    @staticmethod
    def _answer(connection):
        with connection, connection.makefile("rb") as said:
            while head := said.read(8):
                connection.sendall(said.read(int.from_bytes(head, "little")))

    def microseconds(self, payload, into):
        """Returns the round-trip time of the payload."""
        began = time.perf_counter()
        self._socket.sendall(len(payload).to_bytes(8, "little"))
        self._socket.sendall(payload)
        view = memoryview(into)
        while view:
            count = self._socket.recv_into(view)
            if count == 0:
                raise ConnectionError("the echo has ended")
            view = view[count:]
        return (time.perf_counter() - began) * 1e6

    def close(self):
        self._socket.close()
        os.waitpid(self._child, 0)


def bytes_on_socket(program):
    """Returns the bytes in both directions, as counted by the coordinator."""
    status = json.loads(subprocess.check_output([program, "status", "--json"]))
    found = [one for one in status["sockets"] if one["name"] == POOL]
    return found[0]["bytesReceived"] + found[0]["bytesSent"]


class Hop:
    """The measurement of one size."""

    def __init__(self, client, url, side):
        self._client, self._url, self.side = client, url, side
        self.wrong = 0

    async def load(self, steps):
        """Returns the duration in microseconds and the pixels, in the memory of the stack."""
        began = time.perf_counter()
        image = await self._client.load(
            self._url, *steps, format="pam", query=Tiers.ALL, store=Tiers.NONE, timeout=60)
        return (time.perf_counter() - began) * 1e6, image

    async def check(self):
        """Checks that the size is right and the step doesn't change the pixels."""
        with (await self.load(WITHOUT))[1] as plain, (await self.load(WITH))[1] as hopped:
            pixels = bytes(plain.pixels.data)
            self.wrong += pixels != bytes(hopped.pixels.data)
            self.wrong += hopped.pixels.size != (self.side, self.side)
            return pixels

    async def microseconds(self, steps):
        took, image = await self.load(steps)
        image.release()
        return took


async def measure(client, program, url, side, seconds, echo):
    hop = Hop(client, url, side)
    (await client.load(url, options=Options.WAIT_STORE_CACHE)).release()
    pixels = await hop.check()
    into = bytearray(len(pixels))
    for _ in range(WARM_UP):
        for steps in (WITH, WITHOUT):
            await hop.microseconds(steps)
        echo.microseconds(pixels, into)
    before = bytes_on_socket(program)
    turns, end = [], time.monotonic() + seconds
    while time.monotonic() < end or len(turns) < TURNS_MIN:
        hopped = await hop.microseconds(WITH)
        plain = await hop.microseconds(WITHOUT)
        turns.append((hopped, plain, echo.microseconds(pixels, into)))
    carried = (bytes_on_socket(program) - before) / len(turns)
    costs = sorted(hopped - plain for hopped, plain, _ in turns)
    quarter = len(costs) // 4
    return hop.wrong, {
        "turns": len(turns),
        "with_us": statistics.median(one[0] for one in turns),
        "without_us": statistics.median(one[1] for one in turns),
        "cost_us": statistics.median(costs),
        "cost_quartiles_us": [costs[quarter], costs[-1 - quarter]],
        "socket_copy_us": statistics.median(one[2] for one in turns),
        "pixel_bytes": len(pixels),
        "socket_bytes": carried,
    }


async def main(echo, program, seconds, url, *sides):
    wrong, found = 0, {}
    async with Client() as client:
        for side in sides:
            source = f"{url}-{side}.jpg"
            faults, found[side] = await measure(
                client, program, source, int(side), float(seconds), echo)
            wrong += faults
    print(json.dumps({"errors": wrong, "sizes": found}))


echo = Echo()  # before there are threads
try:
    asyncio.run(main(echo, *sys.argv[1:]))
finally:
    echo.close()
