"""Which entries an operator selects (SEMANTICS §5.7). In doubt it selects more, at the cost of a
miss."""

from __future__ import annotations

import time

import imagebus_pb2 as pb
from imagebus_worker.records import Record

CACHE_END, OWNER_START = "\x1f", "\x1e"  # of stored keys (SEMANTICS §4.7)


def means_all(selection: pb.EntrySelection) -> bool:
    """Whether it only selects by cache."""
    others = ("maybe_url", "maybe_prefix", "maybe_older_than", "maybe_tag")
    return all(selection.WhichOneof(other) is None for other in others)


def means(selection: pb.EntrySelection, text: str) -> bool:
    """Whether a stored key matches, as far as the key alone determines it."""
    cache, _, key = text.rpartition(CACHE_END) if CACHE_END in text else ("", "", text)
    key = key.partition(OWNER_START)[0]
    if selection.WhichOneof("maybe_cache") and cache != selection.cache:
        return False
    if selection.WhichOneof("maybe_prefix") and not key.startswith(selection.prefix):
        return False
    return not selection.WhichOneof("maybe_url") or is_of(selection.url, key)


def asks_record(selection: pb.EntrySelection) -> bool:
    return any(selection.WhichOneof(one) for one in ("maybe_older_than", "maybe_tag"))


def means_record(selection: pb.EntrySelection, record: Record) -> bool:
    if selection.WhichOneof("maybe_tag") and selection.tag not in record.metadata.tags:
        return False
    age = time.time() - record.stored / 1000
    return not selection.WhichOneof("maybe_older_than") or age >= selection.older_than


def is_of(url: str, key: str) -> bool:
    """Whether a key is that of the URL, or of something made from it: with suffixes before its
    extension (SEMANTICS §4.3)."""
    if key.endswith(")") and (place := key.rfind("-Vary(")) >= 0:
        key = key[:place]
    end = min((i for i in (url.find("?"), url.find("#")) if i >= 0), default=len(url))
    segment = url.rfind("/", 0, end) + 1
    dot = url.rfind(".", segment, end)
    place = dot if segment < dot < end - 1 and "/" in url[url.find("://") + 3 : end] else len(url)
    stem, rest = url[:place], url[place:]
    return key == url or (key.startswith(f"{stem}-") and key.endswith(rest))
