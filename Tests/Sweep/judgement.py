"""Judges Imagebus by the readers' results for one file."""

from __future__ import annotations

from dataclasses import dataclass, field

from compare import compare
from picture import Picture, Refused

Result = Picture | Refused
#: Errors of Imagebus that no file may cause.
FAULTS = "internalError", "crashed", "no result"


@dataclass(frozen=True)
class Outcome:
    """Imagebus compared with one reference. `reason` and `detail` describe `kind`."""

    kind: str
    reason: str = ""
    detail: str = ""

    @property
    def row(self) -> str:
        """The row of the summary in which it counts."""
        return f"{self.kind}: {self.reason}" if self.reason else self.kind


def outcome(ours: Result, reference: Result, is_damaged: bool) -> Outcome:
    """`is_damaged`: a reader complained, so that readers may show different parts of the rest."""
    if isinstance(reference, Refused):
        kind = "refused by both" if isinstance(ours, Refused) else "refused by the reference"
        return Outcome(kind, detail=f"{reference.reason}: {reference.detail}".rstrip(": "))
    if isinstance(ours, Refused):
        damage = ", damaged" if is_damaged else ""
        return Outcome("refused by Imagebus", ours.reason + damage, ours.detail)
    found = compare(ours, reference)
    if found is None:
        return Outcome("agree")
    if is_damaged and found.reason != "size":
        return Outcome("damaged, shown differently", detail=str(found))
    return Outcome("differ", found.reason, found.detail)


@dataclass
class Judgement:
    """One file. If Chromium shows it, Chromium decides; otherwise one agreeing reference
    suffices.
    """

    ours: Result
    outcomes: dict[str, Outcome] = field(default_factory=dict)

    @classmethod
    def of(cls, ours: Result, references: dict[str, Result]) -> Judgement:
        is_damaged = any(getattr(result, "is_damaged", False) for result in references.values())
        outcomes = {
            name: outcome(ours, result, is_damaged) for name, result in references.items()
        }
        return cls(ours, outcomes)

    @property
    def verdict(self) -> str:
        """agree, differ, fault, refused, refused by all, or shown by Imagebus alone."""
        kinds = {one.kind for one in self.outcomes.values()}
        if isinstance(self.ours, Refused):
            if self.ours.reason in FAULTS:
                return "fault"
            return "refused" if "refused by Imagebus" in kinds else "refused by all"
        if "Chromium" in self.outcomes:
            chromium = self.outcomes["Chromium"].kind
            if chromium in ("agree", "differ"):
                return chromium
        if kinds & {"agree", "damaged, shown differently"}:
            return "agree"
        return "differ" if "differ" in kinds else "shown by Imagebus alone"

    @property
    def is_unanimous(self) -> bool:
        return all(one.kind != "differ" for one in self.outcomes.values())
