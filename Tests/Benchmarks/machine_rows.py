"""The rows of `scripts/bench machines`; the reference is another build, if there is one."""

from row import Row

HEADLINES = {"direct": "asked in turn", "HAProxy": "behind HAProxy", "nginx": "behind nginx"}
TIERS = {"alone": "", "shared": ", shared cache"}


def rows(samples):
    def row(title, unit, *path, less_is_better=True, **promise):
        return Row(
            title, unit, samples.median("machines.ours", *path),
            samples.median("machines.before", *path), "the build before" if has_before else "",
            less_is_better=less_is_better, spread=samples.spread("machines.ours", *path),
            **promise)

    has_before = "machines.before" in samples.all
    for tier, beside in TIERS.items():
        for proxy, headline in HEADLINES.items():
            path = ("burst", f"{proxy}.{tier}")
            promise = {} if proxy == "direct" else {"limit": 1.02}
            yield row(
                f"30 requests at once, three machines {headline}{beside}: GETs a URL", "",
                *path, "gets_per_url", **promise)
            yield row("  p50", "ms", *path, "p50_ms")
            yield row("  p99", "ms", *path, "p99_ms")
            yield row("  failed", "", *path, "failed", limit=0, exactly=True)
        for proxy in ("HAProxy", "nginx"):
            path = ("lost", f"{proxy}.{tier}")
            yield row(
                f"a machine killed under load {HEADLINES[proxy]}{beside}: failed", "", *path,
                "failed", limit=0, exactly=True)
            yield row("  slowest answer", "ms", *path, "slowest_ms")
            promise = {} if tier == "alone" else {"limit": 0, "exactly": True}
            yield row("  further GETs", "", *path, "further_gets", **promise)
    yield from hits(samples, row)
    one = samples.median("machines.ours", "confirmations", "one")
    yield row("304s of three machines, max-age=2, asked every second", "", "confirmations", "three")
    yield Row(
        "  as a multiple of one machine", "", samples.median(
            "machines.ours", "confirmations", "three"), one, "one machine", 1.1,
        less_is_better=True)


def hits(samples, row):
    yield row("first hit from the shared cache, p50", "ms", "first", "first", "p50_ms")
    yield row("  CPU of the machine", "µs", "first", "first", "cpu_us")
    yield row("  the same image again, p50", "ms", "first", "again", "p50_ms")
    yield row("  GETs", "", "first", "gets", limit=0, exactly=True)
    for side, where in (("own", "on the machine that made them"), ("other", "on another one")):
        yield row(f"hits, 64 hot, {where}", "/s", "second", side, "rps", less_is_better=False)
        yield row("  p50", "ms", "second", side, "p50_ms")
        yield row("  CPU of the machine", "µs", "second", side, "cpu_us")
    yield Row(
        "  on another one beside the one that made them", "/s",
        samples.median("machines.ours", "second", "other", "rps"),
        samples.median("machines.ours", "second", "own", "rps"), "the machine", 0.9)
