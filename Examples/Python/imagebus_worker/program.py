"""The process of a worker: how it starts and ends."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import sys
from pathlib import Path

from imagebus_worker.extension import Extension
from imagebus_worker.life import Life
from imagebus_worker.session import Worker

RUNTIME_DIR, POOL = "IMAGEBUS_RUNTIME_DIR", "IMAGEBUS_POOL"
RESTARTS, LIFE = "IMAGEBUS_RESTARTS", "IMAGEBUS_LIFE_FD"  # set by `serve` if it starts the process


def run(extension: Extension, arguments: list[str] | None = None) -> None:
    """Works until told to stop, then exits the process. If `imagebus serve` starts it, the
    environment has the stack and the pool: IMAGEBUS_RUNTIME_DIR and IMAGEBUS_POOL."""
    parser = argparse.ArgumentParser(description=(type(extension).__doc__ or "").split("\n")[0])
    parser.add_argument("--runtime-dir", type=Path, default=os.environ.get(RUNTIME_DIR))
    parser.add_argument("--pool", default=os.environ.get(POOL))
    options = parser.parse_args(sys.argv[1:] if arguments is None else arguments)
    if options.runtime_dir is None or options.pool is None:
        parser.error("--runtime-dir and --pool are required")
    logging.basicConfig(format="%(name)s: %(message)s", level=logging.INFO)
    status = asyncio.run(_work(extension, Path(options.runtime_dir), options.pool))
    # A thread that ignores a cancel must not keep the process alive.
    logging.shutdown()
    sys.stdout.flush()
    os._exit(status)


async def _work(extension: Extension, runtime_dir: Path, pool: str) -> int:
    life: Life | None = None
    restarts = int(os.environ.get(RESTARTS, "0"))
    worker = Worker(extension, runtime_dir, pool, restarts, lambda: life and life.welcome())
    if descriptor := os.environ.get(LIFE):
        life = Life(int(descriptor), worker.incarnation, worker.terminate)
        life.begin()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, worker.terminate)
    return await worker.work()
