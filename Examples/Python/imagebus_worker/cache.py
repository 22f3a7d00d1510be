"""A worker that stores bytes by key: SDWebImage's custom image cache."""

from __future__ import annotations

from collections.abc import Iterable

import imagebus_pb2 as pb
from imagebus.errors import ImagebusError
from imagebus_worker.inputs import Inputs
from imagebus_worker.records import Record, pack, unpack
from imagebus_worker.removal import PEEK, record_of, remove_selected
from imagebus_worker.report import Report
from imagebus_worker.turns import Turns
from imagebus_worker.validity import are_same, is_later, key_of_validity, last_use, newest, renewed

DISK = 1  # as a tier, an external cache counts as a disk


class Cache:
    """The base class of caches. `credit` calls run at a time, each in its own thread. Keys are
    texts of at most 12,289 bytes that differ between caches of one pool; values are opaque. An
    exception is a failure: a miss, for a load."""

    credit = 16
    answers_at_once = True
    """A cancelled call ends at once; its thread may finish at any time."""

    def __init__(self) -> None:
        self._turns = Turns()

    def get(self, key: str) -> bytes | bytearray | memoryview | None:
        """Returns the latest value passed to `put`, or `None`."""
        raise NotImplementedError

    def put(self, key: str, data: bytes, expires: float | None) -> bool | None:
        """Stores the value, in place of any previous one, for any time. `expires`: seconds since
        1970 after which the origin permits no use. Returns `False` if neither it nor the previous
        value is stored."""
        raise NotImplementedError

    def remove(self, key: str) -> None:
        """Removes the value: once this returns, `get` doesn't find it."""
        raise NotImplementedError

    def contains(self, key: str) -> bool:
        return self.get(key) is not None

    def clear(self) -> None:
        """Removes all values."""
        raise NotImplementedError

    def keys(self) -> Iterable[str] | None:
        """All keys, if the cache can list them: entries can then be removed by URL, prefix, tag and
        age. Keys added or removed meanwhile may be included or not. Not called if `scan` lists
        them."""
        return None

    def scan(self, after: int) -> tuple[Iterable[str], int] | None:
        """Some keys, about a thousand, and where to continue (below 2^64; 0: these were the last
        ones). `after` is 0 at first, then the value that the previous call returned, possibly in
        another process of the pool. A cache with many entries implements this instead of `keys`:
        other requests are served between the calls."""
        return None

    def count(self) -> int | None:
        """The approximate number of keys, used to report the progress of a removal to operators."""
        return None

    def peek(self, keys: list[str], length: int) -> list[tuple[bytes, int] | None]:
        """The first `length` bytes of the value of each key, and its size. Implemented with `get`,
        unless the author has a faster way."""
        found = [self.get(key) for key in keys]
        return [data and (bytes(data[:length]), len(data)) or None for data in found]

    def remove_many(self, keys: list[str]) -> None:
        """Calls `remove` for each key, unless the author has a faster way."""
        for key in keys:
            self.remove(key)

    def extend(self, key: str, expires: float | None) -> None:
        """The origin has confirmed the value: from now on `expires` replaces that of `put`. Must
        not restore a removed value."""

    # ---- For the session

    @property
    def capabilities(self) -> pb.Capabilities:
        return pb.Capabilities()

    def bytes_max(self, job: pb.Job) -> int:
        return job.query.bytes_max

    def perform(
        self, job: pb.Job, report: Report, inputs: Inputs
    ) -> tuple[pb.Outcome, memoryview | None]:
        match job.WhichOneof("work"):
            case "query":
                return self._query(job.query)
            case "store":
                return self._store(job.store, report, inputs), None
            case "entry":
                return self._entry(job.entry, report), None
        sentence = "this worker only handles cache jobs"
        raise ImagebusError(pb.ERROR_CODE_INVALID_REQUEST, sentence)

    def refer(self, outcome: pb.Outcome, reference: pb.Reference) -> None:
        outcome.hit.reference.CopyFrom(reference)

    def _query(self, query: pb.Query) -> tuple[pb.Outcome, memoryview | None]:
        data = self.get(query.key)
        record = None if data is None else unpack(data)
        if record is None or not 0 < len(record.body) <= query.bytes_max:
            return pb.Outcome(miss=pb.Unit()), None
        hit = pb.CacheHit(tier=DISK, metadata=record.metadata)
        return pb.Outcome(hit=hit), record.body

    def _store(self, store: pb.Store, report: Report, inputs: Inputs) -> pb.Outcome:
        body = inputs.read(store.source)
        expires = store.expires / 1000 if store.HasField("expires") else None
        with self._turns.of(store.key, report.check):
            report.check()  # a value removed meanwhile must not be restored
            is_kept = self.put(store.key, pack(store.metadata, body), expires)
        if is_kept is False:
            stored = pb.StoreReport(skipped="the cache did not store the entry")
            return pb.Outcome(stored=stored)
        return pb.Outcome(stored=pb.StoreReport(tiers=DISK))

    def _entry(self, entry: pb.Entry, report: Report) -> pb.Outcome:
        if entry.action == pb.ENTRY_ACTION_CONTAINS and entry.wants_validity:
            return self._validity(entry.key)
        if entry.action == pb.ENTRY_ACTION_CONTAINS:
            return _tiers(self.contains(entry.key))
        if entry.action == pb.ENTRY_ACTION_REMOVE:
            with self._turns.of(entry.key, report.check):
                self.remove_many([entry.key, key_of_validity(entry.key)])
            return _tiers(True)
        if entry.action == pb.ENTRY_ACTION_RENEW:
            with self._turns.of(entry.key, report.check):
                report.check()  # a value removed meanwhile isn't confirmed
                return _tiers(self._renew(entry.key, entry.renewal))
        if entry.action == pb.ENTRY_ACTION_REMOVE_SELECTED:
            with self._turns.of_all(report.check):
                return pb.Outcome(entries=remove_selected(self, entry, report.check))
        sentence = "this cache supports only lookups and removals"
        raise ImagebusError(pb.ERROR_CODE_NOT_SUPPORTED, sentence)

    def _records(self, key: str) -> tuple[Record | None, Record | None]:
        """The records of an entry and of its confirmation; at least their metadata."""
        keys = [key, key_of_validity(key)]
        entry, confirmation = (
            data and record_of(self, name, *data) for name, data in zip(keys, self.peek(keys, PEEK))
        )
        return entry, confirmation

    def _validity(self, key: str) -> pb.Outcome:
        entry, confirmation = self._records(key)
        if entry is None:
            return _tiers(False)
        return pb.Outcome(validity=newest(entry, confirmation))

    def _renew(self, key: str, renewal: pb.Validity) -> bool:
        """Records a confirmation. Returns whether there is an entry with those bytes. A later
        confirmation is kept."""
        entry, known = self._records(key)
        if entry is None or not are_same(entry.metadata, renewal):
            return False
        if known is not None and is_later(known.metadata, renewal):
            return True
        expires = last_use(renewal)
        self.extend(key, expires)
        confirmation = pack(renewed(entry.metadata, renewal), b"")
        return self.put(key_of_validity(key), confirmation, expires) is not False


def _tiers(has_it: bool) -> pb.Outcome:
    return pb.Outcome(entry=pb.EntryReport(tiers=DISK if has_it else 0))
