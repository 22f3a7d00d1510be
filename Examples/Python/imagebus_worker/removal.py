"""Removes the entries of a selection, in steps if the author can list keys that way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import imagebus_pb2 as pb
from imagebus.errors import ImagebusError
from imagebus_worker.records import Record, unpack, unpack_head
from imagebus_worker.selection import asks_record, means, means_all, means_record
from imagebus_worker.validity import key_of_entry, key_of_validity

if TYPE_CHECKING:
    from imagebus_worker.cache import Cache

STEP = 0.1  # seconds after which a step ends
BATCH = 256  # keys that are checked together
PEEK = 4096  # bytes of an entry that are read first


def remove_selected(
    cache: Cache, entry: pb.Entry, check: Callable[[], None]
) -> pb.EntryPage:
    """Removes everything, or performs one step: then `next` is where the next one starts."""
    page = pb.EntryPage(memory=pb.EntryCount(), disk=pb.EntryCount())
    after, end = entry.after, time.monotonic() + STEP
    while True:
        check()
        found = cache.scan(after)
        if found is None:
            return _remove_without_steps(cache, entry.selection, page)
        keys, after = found
        _remove(cache, entry.selection, keys, page)
        if after == 0 or (entry.in_steps and time.monotonic() >= end):
            page.next, page.total = after, cache.count() or 0
            return page


def _remove_without_steps(
    cache: Cache, selection: pb.EntrySelection, page: pb.EntryPage
) -> pb.EntryPage:
    keys = cache.keys()
    if keys is None:
        if not means_all(selection):
            sentence = "this cache supports only the removal of single keys or of all keys"
            raise ImagebusError(pb.ERROR_CODE_NOT_SUPPORTED, sentence)
        cache.clear()
        return page
    keys = list(keys)
    _remove(cache, selection, keys, page)
    page.total = page.examined - page.disk.entries
    return page


def _remove(
    cache: Cache, selection: pb.EntrySelection, keys: Iterable[str], page: pb.EntryPage
) -> None:
    keys = list(keys)
    for start in range(0, len(keys), BATCH):
        batch = keys[start : start + BATCH]
        texts = dict.fromkeys(key_of_entry(key) for key in batch)
        entries = {key for key in batch if key in texts}
        page.examined += len(entries)
        gone = list(_meant(cache, selection, texts, entries, page))
        if gone:
            cache.remove_many([key for text in gone for key in (text, key_of_validity(text))])


def _meant(
    cache: Cache,
    selection: pb.EntrySelection,
    texts: Iterable[str],
    entries: set[str],
    page: pb.EntryPage,
) -> Iterator[str]:
    """The keys to remove; a confirmation is removed by its key alone."""
    meant = [text for text in texts if means(selection, text)]
    if not asks_record(selection):
        page.disk.entries += sum(text in entries for text in meant)
        yield from meant
        return
    meant = [text for text in meant if text in entries]
    for text, data in zip(meant, cache.peek(meant, PEEK)):
        if data is None:
            continue
        record = record_of(cache, text, *data)
        # An unreadable record would be a miss anyway.
        if record is None or means_record(selection, record):
            page.disk.entries += 1
            page.disk.bytes += data[1]
            yield text


def record_of(cache: Cache, key: str, data: bytes, size: int) -> Record | None:
    """The record under a key whose first bytes are known; at least its metadata."""
    record = unpack_head(data, size)
    if record is not None or len(data) == size:
        return record
    whole = cache.get(key)
    return None if whole is None else unpack(whole)
