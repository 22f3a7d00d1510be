"""The freshness of entries, stored separately from their records (SEMANTICS §6.7).

An entry is never rewritten when its origin confirms it: that could restore a removed entry, or
replace a newer one. The confirmation is a small record under its own key, which applies only to an
entry with the same bytes.
"""

from __future__ import annotations

import imagebus_pb2 as pb
from imagebus_worker.records import Record

END = "\x1d"  # suffix of the key of a confirmation; stored keys never contain it


def key_of_validity(key: str) -> str:
    return key + END


def key_of_entry(key: str) -> str:
    return key.removesuffix(END)


def are_same(left: pb.Metadata | pb.Validity, right: pb.Metadata | pb.Validity) -> bool:
    """Whether both refer to the same bytes, as their origin identifies them."""
    return all(
        left.HasField(field) == right.HasField(field)
        and getattr(left, field) == getattr(right, field)
        for field in ("etag", "last_modified")
    )


def is_later(metadata: pb.Metadata, other: pb.Metadata | pb.Validity) -> bool:
    """Whether the origin stated it later than the other, about the same bytes."""
    return are_same(metadata, other) and metadata.caching.age.born > other.caching.age.born


def renewed(metadata: pb.Metadata, renewal: pb.Validity) -> pb.Metadata:
    """The validity of the same bytes, renewed by the origin's latest statement."""
    new = pb.Metadata()
    new.CopyFrom(metadata)
    new.caching.CopyFrom(renewal.caching)
    return new


def newest(record: Record, confirmation: Record | None) -> pb.Validity:
    """The validity of an entry: the later of two statements of its origin."""
    metadata, known = record.metadata, record.metadata
    if confirmation is not None and is_later(confirmation.metadata, metadata):
        known = confirmation.metadata
    validity = pb.Validity()
    for field in ("etag", "last_modified"):
        if metadata.HasField(field):
            setattr(validity, field, getattr(metadata, field))
    if known.HasField("caching"):
        validity.caching.CopyFrom(known.caching)
    return validity


def last_use(renewal: pb.Validity) -> float | None:
    """Seconds since 1970 after which the origin permits no use; `None`: not stated."""
    if not renewal.HasField("expiry"):
        return None
    expiry = renewal.expiry
    end = expiry.born + expiry.fresh_for + max(expiry.stale_for, expiry.error_for)
    return end / 1000
