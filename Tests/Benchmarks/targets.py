"""The rows of the table: the sides that are compared, and the promised results."""

import machine_rows
from row import Row


def hit(samples):
    """One image under that many names; nginx has it under one."""
    nginx = samples.median("hit.nginx", "rps")
    for hot, target in ((1, None), (64, 8), (2_000, 5), (10_000, None)):
        for threads in (1, 2):
            name = f"hit.{hot}.{threads}"
            yield Row(
                f"hit by voucher, {hot:,} hot, {threads} thread{'s' * (threads > 1)}", "/s",
                samples.median(name, "rps"), nginx, "nginx proxy_cache", target,
                spread=samples.spread(name, "rps"))
    ours = samples.median("hit.ours", "rps")
    yield Row(
        "hit by message, 64 hot, 64 in flight", "/s", ours, nginx, "nginx proxy_cache", 3.5,
        spread=samples.spread("hit.ours", "rps"))
    yield Row(
        "  coordinator CPU a hit", "µs", samples.median("hit.ours", "coordinator_us"), limit=3,
        less_is_better=True)
    yield Row(
        "  client CPU a hit", "µs", samples.median("hit.ours", "client_us"), limit=5,
        less_is_better=True)
    yield Row(
        "  10,000 hot", "/s", samples.median("hit.10000.message", "rps"), nginx,
        "nginx proxy_cache")


def one(samples):
    echo = samples.median("one.echo", "p50_us")

    def micro(*path):
        value = samples.median("one.ours", *path)
        return None if value is None else value * 1e3

    voucher = samples.median("one.voucher", "p50_ms")
    yield Row(
        "hit by voucher, one at a time, p50", "µs", voucher and voucher * 1e3, echo, "ROUTER echo",
        1 / 15, less_is_better=True, spread=samples.spread("one.voucher", "p50_ms"))
    yield Row(
        "hit by message, one at a time, blocking, p50", "µs", micro("p50_ms"), echo,
        "ROUTER echo", 1.25,
        less_is_better=True, spread=samples.spread("one.ours", "p50_ms"))
    yield Row(
        "hit by message, one at a time, async, p50", "µs", micro("async", "p50_ms"), echo,
        "ROUTER echo", 1.6,
        less_is_better=True, spread=samples.spread("one.ours", "async", "p50_ms"))
    nginx = samples.median("one.nginx", "p50_ms")
    yield Row(
        "  the same beside nginx", "µs", micro("p50_ms"), nginx and nginx * 1e3,
        "nginx, 1 connection", less_is_better=True)
    if "hit.ours" in samples.all:
        yield Row(
            "  hits beside ROUTER echo, 64 in flight", "/s", samples.median("hit.ours", "rps"),
            samples.median("one.echo64", "rps"), "ROUTER echo")


def cold(samples, name, title, target_thumbor, target_loop=None):
    ours = samples.median(f"{name}.ours", "rps")
    yield Row(
        title, "/s", ours, samples.median(f"{name}.thumbor", "rps"), "thumbor", target_thumbor,
        spread=samples.spread(f"{name}.ours", "rps"))
    yield Row(
        title, "/s", ours, samples.median(f"{name}.loop", "rps"), "bare libvips loop", target_loop)
    each = samples.median(f"{name}.ours", "bytes_each")
    yield Row(
        "  bytes of one", "", each, samples.median(f"{name}.thumbor", "bytes"), "thumbor",
        less_is_better=True)
    yield Row(
        "  bytes of one", "", each, samples.median(f"{name}.loop", "bytes"), "bare libvips loop",
        less_is_better=True)
    yield from closeness(samples, name)


def cold_jpeg(samples):
    yield from cold(samples, "cold-jpeg", "cold, to JPEG", 1.8, 1.2)
    yield Row(
        "  coordinator CPU a cold image, 64 in flight", "µs",
        samples.median("cold-64.ours", "cpu_us", "coordinator"), limit=60, less_is_better=True)


def closeness(samples, name):
    """Decibels: the difference counts, not the ratio. Our JPEG must be as good as libvips'."""
    ours, loop = samples.median(f"{name}.psnr", "ours"), samples.median(f"{name}.psnr", "loop")
    row = Row("  PSNR", "dB", ours, limit=loop if name == "cold-jpeg" else None)
    row.reference, row.reference_name = loop, "bare libvips loop"
    yield row
    yield Row("  PSNR", "dB", ours, samples.median(f"{name}.psnr", "thumbor"), "thumbor")
    if name == "cold-jpeg":
        yield Row(
            "  PSNR", "dB", ours, samples.median(f"{name}.psnr", "q80"), "quality 80 itself")


def animation(samples, name, title):
    """A whole animation reduced. Bytes and frames are shown, since dropped frames save bytes."""
    ours = samples.median(f"{name}.ours", "rps")
    for side, called in (("thumbor", "thumbor"), ("magick", "ImageMagick")):
        row = Row(title, "/s", ours, samples.median(f"{name}.{side}", "rps"), called, 1)
        row.spread = samples.spread(f"{name}.ours", "rps")
        yield row
        kept = samples.values(f"{name}.kept.{side}", "bytes")
        yield Row(
            "  bytes of one", "", samples.median(f"{name}.kept.ours", "bytes"),
            kept[0] if kept else None, called, less_is_better=True)
    for what, field in (
            ("frames", "frames"), ("durations are those of the source", "durations_kept"),
            ("loops are those of the source", "loops_kept")):
        found = samples.values(f"{name}.kept.ours", field)
        yield Row(
            f"  {what}", "", float(found[0]) if found else None,
            limit=60 if field == "frames" else 1, exactly=True)


def play(samples):
    ours, again = samples.median("play.ours", "rps"), samples.median("play.ours", "again", "rps")
    players = samples.median("play.ours", "players")
    frames, animations = (samples.median("play.ours", name) for name in ("frames", "animations"))
    for title, rate in (("frames for players, first time", ours), ("  again", again)):
        for way, called in (
                ("each", "libvips, page by page"), ("all", "libvips, all pages at once")):
            target = 1 if way == "each" else None
            yield Row(title, "/s", rate, samples.median(f"play.{way}", "rps"), called, target)
    yield Row(
        f"  decodes of an animation beyond its frames, {players or 0:.0f} players", "",
        # One more decode per animation reads its properties.
        samples.median("play.ours", "decodes") / animations - frames if frames else None,
        limit=1, exactly=True)


def cancel(samples):
    stages = samples.values("cancel", "stages")
    if not stages:
        yield Row("cancel → worker free", "ms", None)
    for stage in stages[0] if stages else []:
        yield Row(
            f"cancel → worker free, {stage['work']}, p99", "ms",
            stage["p99_ms"] if stage["cancels"] else None, limit=stage["target_ms"],
            less_is_better=True)


def web_hit(samples):
    """Compares the rate, and the CPU time of the responding process alone."""
    for name, title, target in (("web-hit", "HTTP hit", 0.8), ("web-304", "HTTP 304", 1)):
        yield Row(
            f"{title}, 64 connections", "/s", samples.median(f"{name}.ours", "rps"),
            samples.median(f"{name}.nginx", "rps"), "nginx proxy_cache", target,
            spread=samples.spread(f"{name}.ours", "rps"))
        yield Row(
            "  CPU of the front a request", "µs", samples.median(f"{name}.ours", "cpu_us"),
            samples.median(f"{name}.nginx", "cpu_us"), "nginx", less_is_better=True)
    counts = samples.values("web-hit.ours", "requests")
    yield Row("  requests in all", "", sum(counts) if counts else None)


def web_cold(samples):
    yield Row(
        "HTTP cold, to JPEG", "/s", samples.median("web-cold.ours", "rps"),
        samples.median("web-cold.thumbor", "rps"), "thumbor", 1.7,
        spread=samples.spread("web-cold.ours", "rps"))


def web_idle(samples):
    yield Row(
        "connections that stay open", "", samples.median("web-idle", "connections"), limit=10_000)
    yield Row("  memory of each", "kB", samples.median("web-idle", "kilobytes_each"))
    yield Row("  a hit beside them, p50", "µs", samples.median("web-idle", "p50_us"))


def web_fair(samples):
    yield Row(
        "a visitor beside one with 5,000 requests, p99", "ms",
        samples.median("web-fair", "beside_p99_ms"), samples.median("web-fair", "alone_p99_ms"),
        "the visitor alone", 3, less_is_better=True)
    yield Row(
        "  p50", "ms", samples.median("web-fair", "beside_p50_ms"),
        samples.median("web-fair", "alone_p50_ms"), "the visitor alone", less_is_better=True)


def storm(samples):
    requests = samples.median("storm", "requests")
    yield Row(
        "requests at once for one URL: right replies", "", samples.median("storm", "right"),
        limit=requests, exactly=True)
    yield Row("  GETs", "", samples.median("storm", "gets"), limit=1, exactly=True)
    yield Row("  decodes", "", samples.median("storm", "decodes"), limit=1, exactly=True)
    yield Row("  time", "s", samples.median("storm", "seconds"))
    grid = "many"
    urls = samples.median("storm", grid, "urls")
    yield Row(
        "many URLs × sizes at once: right replies", "", samples.median("storm", grid, "right"),
        limit=samples.median("storm", grid, "requests"), exactly=True)
    yield Row("  GETs", "", samples.median("storm", grid, "gets"), limit=urls, exactly=True)
    yield Row("  decodes", "", samples.median("storm", grid, "decodes"))
    yield Row("  time", "s", samples.median("storm", grid, "seconds"))


def idle(samples):
    yield Row(
        "idle memory, one worker of each kind", "MB", samples.median("idle", "megabytes"), limit=90,
        less_is_better=True)
    yield Row("  after 1,000 requests", "MB", samples.median("idle-after", "megabytes"))


def start(samples):
    yield Row("exec → first byte of get --private", "ms", samples.median("start", "p50_ms"))
    for kind in ("coordinator", "cache", "download", "decode", "transform"):
        yield Row(f"  exec → welcome, {kind}", "ms", samples.median("start-workers", kind))


def scaling(samples):
    def rate(count):
        return samples.median(f"scaling.{count}", "rps")

    for more, fewer in ((2, 1), (4, 2)):
        yield Row(
            f"decode and transform, {fewer} → {more}, 25 % of a core each", "/s", rate(more),
            rate(fewer), f"{fewer} of each", 1.8)


def ext_cost(samples):
    """Loads that use no external pools, in a stack with some; medians of alternating rounds."""
    for load, title in (
            ("message", "hit by message, 64 in flight"), ("voucher", "hit by voucher, 64 hot"),
            ("cold", "cold, to JPEG")):
        without = f"ext-cost.{load}.without"
        for side, name, target in (
                ("with", f"{title}, foreign pools beside", 0.97),
                ("again", "  another stack without any", None)):
            side = f"ext-cost.{load}.{side}"
            yield Row(
                name, "/s", samples.median(side, "rps"), samples.median(without, "rps"),
                f"none ({samples.spread(without, 'rps') or '1 turn'})", target,
                spread=samples.spread(side, "rps"), ratio_digits=3)
        spent = {"message": ("coordinator_us",), "cold": ("cpu_us", "coordinator")}.get(load)
        if spent:
            yield Row(
                f"  coordinator CPU a {'hit' if load == 'message' else 'cold image'}", "µs",
                samples.median(f"ext-cost.{load}.with", *spent), samples.median(without, *spent),
                "none", less_is_better=True, spread=samples.spread(
                    f"ext-cost.{load}.with", *spent))


def ext_hop(samples):
    sizes = samples.values("ext-hop", "sizes")
    for side in sizes[0] if sizes else ("any",):

        def median(field):
            return samples.median("ext-hop", "sizes", side, field)

        yield Row(
            f"a foreign step between two of ours, {side} px", "µs", median("cost_us"),
            median("socket_copy_us"), "its pixels through a socket", less_is_better=True)
        yield Row(
            "  the request with it", "µs", median("with_us"), median("without_us"),
            "the same without", less_is_better=True)
        yield Row(
            "  bytes through its socket", "", median("socket_bytes"), median("pixel_bytes"),
            "bytes of pixels", limit=4096, less_is_better=True)


def ext_valkey(samples):
    states = samples.values("ext-valkey", "states")
    if not states:
        yield Row("two stacks, one Valkey", "/s", None)
        return
    healthy = states[0]["healthy"]
    for name, state in states[0].items():
        yield Row(
            f"two stacks, one Valkey: {name}", "/s", state["rps"], healthy["rps"], "healthy")
        for field in ("p50_ms", "p99_ms"):
            yield Row(
                f"  {field[:3]}", "ms", state[field], healthy[field], "healthy",
                less_is_better=True)
        yield Row("  loads that failed", "", state["failed"], limit=0, exactly=True)
        yield Row("  images with wrong bytes", "", state["wrong"], limit=0, exactly=True)


LONG = (
    ("a process killed every 100 ms: lost or wrong", "RealProcesses/FireTests"),
    ("100,000 mixed requests: no growth", "RealProcesses/GrowthTests"),
)


def elsewhere(samples):
    for title, test in LONG:
        yield Row(title, "", None, command=f"IMAGEBUS_LONG=1 scripts/test --filter {test}")
    yield Row("scaling of workers", "", None, command="scripts/bench scaling")
    yield Row("several machines", "", None, command="scripts/bench machines")


BY_NAME = {
    "hit": hit,
    "one": one,
    "cold-jpeg": cold_jpeg,
    "cold-png": lambda samples: cold(samples, "cold-png", "cold, to PNG", 4),
    "cold-webp": lambda samples: cold(samples, "cold-webp", "cold, to WebP", 1),
    "cold-avif": lambda samples: cold(samples, "cold-avif", "cold, to AVIF", 1),
    "in-heic": lambda samples: cold(samples, "in-heic", "cold, HEIC to JPEG", 1),
    "in-avif": lambda samples: cold(samples, "in-avif", "cold, AVIF to JPEG", 1),
    "in-tiff": lambda samples: cold(samples, "in-tiff", "cold, TIFF to JPEG", 1),
    "in-svg": lambda samples: cold(samples, "in-svg", "cold, SVG to JPEG", 1),
    "anim-gif": lambda samples: animation(samples, "anim-gif", "60 frames, GIF to GIF"),
    "anim-webp": lambda samples: animation(samples, "anim-webp", "60 frames, GIF to WebP"),
    "play": play,
    "cancel": cancel,
    "web-hit": web_hit,
    "web-cold": web_cold,
    "web-idle": web_idle,
    "web-fair": web_fair,
    "storm": storm,
    "idle": idle,
    "start": start,
    "ext-cost": ext_cost,
    "ext-hop": ext_hop,
    "ext-valkey": ext_valkey,
    "scaling": scaling,
    "machines": machine_rows.rows,
}


def rows_for(samples, asked):
    """Returns the requested rows, and the lines of text below the table."""
    rows = [row for name in asked for row in BY_NAME[name](samples)]
    if "scaling" not in asked and "machines" not in asked:
        rows += elsewhere(samples)
    return rows, list(notes(samples))


def notes(samples):
    for frames in samples.all.get("frames", []):
        yield "messages of a hit, bytes: " + listed(frames)
    cold_samples = samples.all.get("cold-jpeg.ours")
    if cold_samples:
        last = cold_samples[-1]
        if "cpu_us" in last:
            yield "CPU of a cold JPEG, µs: " + listed(last["cpu_us"])
        if "timings_ms" in last:
            yield "stages of a cold JPEG, median ms: " + listed(last["timings_ms"])
    for name in ("anim-gif", "anim-webp"):
        for side in ("ours", "thumbor", "magick"):
            for kept in samples.all.get(f"{name}.kept.{side}", []):
                yield f"{name}, {side}: " + ", ".join(f"{key} {kept[key]}" for key in kept)
    for storm_sample in samples.all.get("storm", []):
        for title, part in (("storm", storm_sample), ("many", storm_sample.get("many") or {})):
            if "memory" in part:
                peaks = {one["kind"]: one["peak_bytes"] / 1e6 for one in part["memory"]}
                yield f"peak memory, {title}, MB: " + listed(peaks)
    for name in ("idle", "idle-after"):
        for one in samples.values(name, "processes"):
            yield f"memory, {name}, MB: " + listed(one)
    yield from extension_notes(samples)


def extension_notes(samples):
    for load in ("message", "voucher", "cold"):
        turns = zip(*(
            samples.values(f"ext-cost.{load}.{side}", "rps") for side in ("with", "without")))
        ratios = sorted(ours / without for ours, without in turns)
        if ratios:
            yield f"ext-cost, {load}, ratios of turns: " + " ".join(f"{one:.3f}" for one in ratios)
    for sizes in samples.values("ext-hop", "sizes"):
        for side, one in sizes.items():
            least, most = one["cost_quartiles_us"]
            yield (
                f"ext-hop, {side} px: {one['turns']} turns, the middle half costs "
                f"{least:,.0f} to {most:,.0f} µs")
    for states in samples.values("ext-valkey", "states"):
        for name, one in states.items():
            shares = {tier: f"{share:.1%}" for tier, share in one["shares"].items()}
            yield f"ext-valkey, {name}: " + ", ".join(
                f"{key} {value}" for key, value in {
                    **shares, "loads": one["requests"], "GETs": one["gets"],
                    "longest ms": round(one["most_ms"]), **one["faults"], **one["counters"],
                }.items())


def listed(values):
    return ", ".join(
        f"{name} {round(value, 1):,}" for name, value in values.items() if value is not None)
