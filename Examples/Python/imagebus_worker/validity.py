"""What a cache knows of the freshness of its entries beside their own records (SEMANTICS §6.7).

An entry is never written again when its origin has confirmed it: that could bring back what was
removed meanwhile, or replace what is newer. The words of the origin are a small record under a key
of their own, which counts only beside an entry of the same bytes.
"""

from __future__ import annotations

import imagebus_pb2 as pb
from imagebus_worker.records import Record

END = "\x1d"  # of the key of what confirms an entry; no stored text has it


def key_of_validity(key: str) -> str:
    return key + END


def key_of_entry(key: str) -> str:
    return key.removesuffix(END)


def are_same(left: pb.Metadata | pb.Validity, right: pb.Metadata | pb.Validity) -> bool:
    """Whether both are of the same bytes, as their origin identifies them."""
    return all(
        left.HasField(field) == right.HasField(field)
        and getattr(left, field) == getattr(right, field)
        for field in ("etag", "last_modified")
    )


def is_later(metadata: pb.Metadata, other: pb.Metadata | pb.Validity) -> bool:
    """Whether its origin said so of the same bytes after it said the other."""
    return are_same(metadata, other) and metadata.caching.age.born > other.caching.age.born


def renewed(metadata: pb.Metadata, renewal: pb.Validity) -> pb.Metadata:
    """That of the same bytes with what their origin says now."""
    new = pb.Metadata()
    new.CopyFrom(metadata)
    new.caching.CopyFrom(renewal.caching)
    return new


def newest(record: Record, confirmation: Record | None) -> pb.Validity:
    """What is known of an entry: the later one of two words of its origin counts."""
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
    """Seconds since 1970 from which on the origin permits no use; `None`: it does not say."""
    if not renewal.HasField("expiry"):
        return None
    expiry = renewal.expiry
    end = expiry.born + expiry.fresh_for + max(expiry.stale_for, expiry.error_for)
    return end / 1000
