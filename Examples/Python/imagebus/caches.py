"""Operator commands on the caches (PROTOCOL §8.2, CacheCommand)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from google.protobuf.message import Message

import imagebus_pb2 as pb
from imagebus.errors import ImagebusError, error_from
from imagebus.options import Tiers

SECRET_BYTES = 32


@dataclass(frozen=True)
class Count:
    """The content of a tier."""

    entries: int
    bytes: int


class Commands:
    """Commands without a report yet. `send` sends a message to the coordinator."""

    def __init__(self, send: Callable[[Message], object]) -> None:
        self._send = send
        self._open: dict[int, asyncio.Future[pb.CacheReport]] = {}
        self._last = 0

    async def run(self, command: pb.CacheCommand) -> pb.CacheReport:
        """Sends a command and returns its outcome. Raises the error of the report."""
        self._last += 1
        command.number = self._last
        done: asyncio.Future[pb.CacheReport] = asyncio.get_running_loop().create_future()
        self._open[command.number] = done
        self._send(command)
        try:
            report = await done
        finally:
            self._open.pop(command.number, None)
        if report.HasField("failure"):
            raise error_from(report.failure)
        return report

    def on_report(self, report: pb.CacheReport) -> None:
        done = self._open.get(report.number)
        if done is not None and not done.done():
            done.set_result(report)

    def fail_all(self, error: ImagebusError) -> None:
        for done in self._open.values():
            if not done.done():
                done.set_exception(error)


def secret_of(folder: Path) -> bytes:
    """The secret of the operators' socket: empty if it requires none, or if this process may not
    read it."""
    try:
        file = os.open(folder / "secret", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b""
    try:
        return os.read(file, SECRET_BYTES)
    finally:
        os.close(file)


def named(
    action: pb.EntryAction, key: str, cache: str = "", tiers: Tiers = Tiers.ALL
) -> pb.CacheCommand:
    """A command on one entry."""
    return pb.CacheCommand(action=action, key=key, cache=cache, tiers=tiers)
