"""Loaders, coders, transformers and caches for Imagebus by other programs: workers of a foreign
pool (PROTOCOL §8.1.1).

An author writes one function; this package speaks to the coordinator and hands the bytes over.

    class Photos(Loader):
        schemes = ("photos",)

        def load(self, url, headers, report):
            return Path("/srv/photos", url.removeprefix("photos://")).read_bytes()

    if __name__ == "__main__":
        run(Photos())

What such a process has to keep, and what it may trust, is in Examples/ForeignWorkers.md.
"""

from imagebus_worker.cache import Cache
from imagebus_worker.coder import Coder, Header
from imagebus_worker.encoder import Encoder
from imagebus_worker.failure import Cancelled, Failure
from imagebus_worker.loader import Loaded, Loader
from imagebus_worker.program import run
from imagebus_worker.report import Report
from imagebus_worker.session import Worker
from imagebus_worker.transformer import Transformer

__all__ = [
    "Cache", "Cancelled", "Coder", "Encoder", "Failure", "Header", "Loaded", "Loader", "Report",
    "Transformer", "Worker", "run",
]  # fmt: skip
