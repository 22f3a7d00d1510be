"""A worker that keeps bytes under keys: SDWebImage's own image cache."""

from __future__ import annotations

from collections.abc import Iterable

import imagebus_pb2 as pb
from imagebus.errors import ImagebusError
from imagebus_worker.inputs import Inputs
from imagebus_worker.records import pack, unpack
from imagebus_worker.report import Report
from imagebus_worker.selection import asks_record, means, means_all, means_record
from imagebus_worker.turns import Turns

DISK = 1  # of tiers: what another program keeps counts as a disk


class Cache:
    """What an author derives from. `credit` calls run at a time, each on a thread of its own. Keys
    are texts of at most 12,288 bytes that differ between caches of one pool; what is kept under one
    is opaque. What raises is a failure: a miss, for a load."""

    credit = 16
    answers_at_once = True
    """A call that nobody waits for is over at once; its thread may end when it will."""

    def __init__(self) -> None:
        self._turns = Turns()

    def get(self, key: str) -> bytes | bytearray | memoryview | None:
        """What `put` was given last, or nothing."""
        raise NotImplementedError

    def put(self, key: str, data: bytes, expires: float | None) -> bool | None:
        """Keeps it, in place of what was there, as long as it likes. `expires`: seconds since 1970
        from which on the origin permits no use. `False`: it is not kept, nor what was there."""
        raise NotImplementedError

    def remove(self, key: str) -> None:
        """Once this returns, `get` does not find it."""
        raise NotImplementedError

    def contains(self, key: str) -> bool:
        return self.get(key) is not None

    def clear(self) -> None:
        """The same of all keys."""
        raise NotImplementedError

    def keys(self) -> Iterable[str] | None:
        """All keys, where it can say them: then entries can be removed by URL, prefix, tag and
        age. Keys that come and go meanwhile may be among them or not."""
        return None

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
        sentence = "this worker is a cache, and nothing else"
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
            report.check()  # what was removed meanwhile stays away
            is_kept = self.put(store.key, pack(store.metadata, body), expires)
        if is_kept is False:
            stored = pb.StoreReport(skipped="the cache does not keep it")
            return pb.Outcome(stored=stored)
        return pb.Outcome(stored=pb.StoreReport(tiers=DISK))

    def _entry(self, entry: pb.Entry, report: Report) -> pb.Outcome:
        if entry.action == pb.ENTRY_ACTION_CONTAINS:
            tiers = DISK if self.contains(entry.key) else 0
            return pb.Outcome(entry=pb.EntryReport(tiers=tiers))
        if entry.action == pb.ENTRY_ACTION_REMOVE:
            with self._turns.of(entry.key, report.check):
                self.remove(entry.key)
            return pb.Outcome(entry=pb.EntryReport(tiers=DISK))
        if entry.action == pb.ENTRY_ACTION_REMOVE_SELECTED:
            with self._turns.of_all(report.check):
                return pb.Outcome(entries=self._remove_selected(entry.selection))
        sentence = "this cache looks for entries and removes them, and nothing else"
        raise ImagebusError(pb.ERROR_CODE_NOT_SUPPORTED, sentence)

    def _remove_selected(self, selection: pb.EntrySelection) -> pb.EntryPage:
        page = pb.EntryPage(memory=pb.EntryCount(), disk=pb.EntryCount())
        keys = self.keys()
        if keys is None:
            if not means_all(selection):
                sentence = "this cache removes one key or all of them"
                raise ImagebusError(pb.ERROR_CODE_NOT_SUPPORTED, sentence)
            self.clear()
            return page
        for key in [key for key in keys if means(selection, key)]:
            data = self.get(key) if asks_record(selection) else b""
            if data is None:
                continue
            record = unpack(data) if data else None
            if record is None or means_record(selection, record):
                self.remove(key)
                page.disk.entries += 1
                page.disk.bytes += len(data)
        return page
