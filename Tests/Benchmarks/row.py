"""One row of the table of scripts/bench."""

from dataclasses import dataclass, field


@dataclass
class Row:
    title: str
    unit: str
    ours: float | None
    reference: float | None = None
    reference_name: str = ""
    # The promised ratio: a minimum if more is better, a maximum if less is.
    target: float | None = None
    # A promise without a reference: an upper bound, or the exact value.
    limit: float | None = None
    exactly: bool = False
    less_is_better: bool = False
    note: str = ""
    spread: str = ""
    command: str = ""
    ratio_digits: int = 2
    ratio: float | None = field(init=False, default=None)

    def __post_init__(self):
        # For decibels the difference counts, not the ratio.
        if self.ours is not None and self.reference and self.unit != "dB":
            self.ratio = self.ours / self.reference

    @property
    def ratio_text(self):
        if self.ratio is None:
            return "-"
        # Small ratios keep one significant digit.
        return f"{self.ratio:.{self.ratio_digits}f}" if self.ratio >= 0.01 else f"{self.ratio:.1g}"

    @property
    def target_text(self):
        if self.target is not None:
            return f"{'≤' if self.less_is_better else '≥'} {self.target:g} ×"
        if self.limit is not None:
            sign = "=" if self.exactly else "≤" if self.less_is_better else "≥"
            return f"{sign} {self.limit:,g} {self.unit}".strip()
        return "-"

    @property
    def verdict(self):
        if self.command:
            return f"not run here: {self.command}"
        if self.ours is None:
            return "not measured"
        if self.target is None and self.limit is None:
            return "-"
        value, wanted = self.ratio, self.target
        if wanted is None:
            value, wanted = self.ours, self.limit
        if value is None:
            return "no reference"
        if self.exactly:
            return "met" if value == wanted else "short"
        return "met" if (value <= wanted if self.less_is_better else value >= wanted) else "short"

    def facts(self):
        return {
            "what": self.title, "unit": self.unit, "ours": self.ours, "spread": self.spread,
            "reference": self.reference, "reference_name": self.reference_name,
            "ratio": self.ratio, "target": self.target_text, "verdict": self.verdict,
        }
