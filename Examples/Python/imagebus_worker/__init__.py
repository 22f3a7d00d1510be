"""The SDK for plug-ins: loaders, coders, transformers and caches for Imagebus as workers of an
external pool (PROTOCOL §8.1.1).

The author writes one function; this package handles the protocol and passes on the bytes.

    class Photos(Loader):
        schemes = ("photos",)

        def load(self, url, headers, report):
            return Path("/srv/photos", url.removeprefix("photos://")).read_bytes()

    if __name__ == "__main__":
        run(Photos())

The rules for such a process, and what it may trust, are in Examples/ForeignWorkers.md.
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
