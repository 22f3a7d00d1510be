"""The rows of the table of scripts/bench: the sides that are compared, and the promised results.

A value is given by its path: the name of a measurement and of its members, between slashes.
"""

NGINX, ECHO, LOOP = "nginx proxy_cache", "ROUTER echo", "bare libvips loop"
LESS, EXACTLY = {"less_is_better": True}, {"exactly": True}


def hit(table):
    """One image under that many names; nginx has it under one."""
    nginx = "hit.nginx/rps"
    for hot, target in ((1, None), (64, 8), (2_000, 5), (10_000, None)):
        for threads in (1, 2):
            table.row(
                f"hit by voucher, {hot:,} hot, {threads} thread{'s' * (threads > 1)}", "/s",
                f"hit.{hot}.{threads}/rps", nginx, NGINX, target, spread=True)
    table.row(
        "hit by message, 64 hot, 64 in flight", "/s", "hit.ours/rps", nginx, NGINX, 3.5,
        spread=True)
    table.row("  coordinator CPU a hit", "µs", "hit.ours/coordinator_us", limit=3, **LESS)
    table.row("  client CPU a hit", "µs", "hit.ours/client_us", limit=5, **LESS)
    table.row("  10,000 hot", "/s", "hit.10000.message/rps", nginx, NGINX)


def one(table):
    for what, ours, target in (
            ("voucher, one at a time, p50", "one.voucher/p50_ms", 1 / 15),
            ("message, one at a time, blocking, p50", "one.ours/p50_ms", 1.25),
            ("message, one at a time, async, p50", "one.ours/async/p50_ms", 1.6)):
        table.row(
            f"hit by {what}", "µs", ours, "one.echo/p50_us", ECHO, target, scale=1e3, spread=True,
            **LESS)
    table.row(
        "  the same beside nginx", "µs", "one.ours/p50_ms", "one.nginx/p50_ms",
        "nginx, 1 connection", scale=1e3, reference_scale=1e3, **LESS)
    if "hit.ours" in table.samples:
        table.row(
            "  hits beside ROUTER echo, 64 in flight", "/s", "hit.ours/rps", "one.echo64/rps",
            ECHO)


def cold(name, title, target_thumbor, target_loop=None):
    def rows(table):
        ours = f"{name}.ours/rps"
        table.row(
            title, "/s", ours, f"{name}.thumbor/rps", "thumbor", target_thumbor, spread=True)
        table.row(title, "/s", ours, f"{name}.loop/rps", LOOP, target_loop)
        for side, called in (("thumbor", "thumbor"), ("loop", LOOP)):
            table.row(
                "  bytes of one", "", f"{name}.ours/bytes_each", f"{name}.{side}/bytes", called,
                **LESS)
        # Decibels: the difference counts, not the ratio. Our JPEG must be as good as libvips'.
        psnr = f"{name}.psnr"
        limit = f"{psnr}/loop" if name == "cold-jpeg" else None
        table.row("  PSNR", "dB", f"{psnr}/ours", f"{psnr}/loop", LOOP, limit=limit)
        table.row("  PSNR", "dB", f"{psnr}/ours", f"{psnr}/thumbor", "thumbor")
        if name == "cold-jpeg":
            table.row("  PSNR", "dB", f"{psnr}/ours", f"{psnr}/q80", "quality 80 itself")
            table.row(
                "  coordinator CPU a cold image, 64 in flight", "µs",
                "cold-64.ours/cpu_us/coordinator", limit=60, **LESS)

    return rows


def animation(name, title):
    """A whole animation reduced. Bytes and frames are shown, since dropped frames save bytes."""
    def rows(table):
        for side, called in (("thumbor", "thumbor"), ("magick", "ImageMagick")):
            table.row(
                title, "/s", f"{name}.ours/rps", f"{name}.{side}/rps", called, 1, spread=True)
            table.row(
                "  bytes of one", "", f"{name}.kept.ours/bytes", f"{name}.kept.{side}/bytes",
                called, **LESS)
        for what, member, limit in (
                ("frames", "frames", 60),
                ("durations are those of the source", "durations_kept", 1),
                ("loops are those of the source", "loops_kept", 1)):
            found = table.values(f"{name}.kept.ours/{member}")
            table.row(
                f"  {what}", "", float(found[0]) if found else None, limit=limit, **EXACTLY)

    return rows


def play(table):
    players, frames, animations, decodes = (
        table.median(f"play.ours/{name}")
        for name in ("players", "frames", "animations", "decodes"))
    for title, rate in (
            ("frames for players, first time", "play.ours/rps"),
            ("  again", "play.ours/again/rps")):
        table.row(title, "/s", rate, "play.each/rps", "libvips, page by page", 1)
        table.row(title, "/s", rate, "play.all/rps", "libvips, all pages at once")
    table.row(
        f"  decodes of an animation beyond its frames, {players or 0:.0f} players", "",
        # One more decode per animation reads its properties.
        decodes / animations - frames if frames else None, limit=1, **EXACTLY)


def cancel(table):
    stages = table.values("cancel/stages")
    if not stages:
        table.row("cancel → worker free", "ms")
    for stage in stages[0] if stages else []:
        table.row(
            f"cancel → worker free, {stage['work']}, p99", "ms",
            stage["p99_ms"] if stage["cancels"] else None, limit=stage["target_ms"], **LESS)


def web_hit(table):
    """Compares the rate, and the CPU time of the responding process alone."""
    for name, title, target in (("web-hit", "HTTP hit", 0.8), ("web-304", "HTTP 304", 1)):
        table.row(
            f"{title}, 64 connections", "/s", f"{name}.ours/rps", f"{name}.nginx/rps", NGINX,
            target, spread=True)
        table.row(
            "  CPU of the front a request", "µs", f"{name}.ours/cpu_us", f"{name}.nginx/cpu_us",
            "nginx", **LESS)
    table.row("  requests in all", "", sum(table.values("web-hit.ours/requests")) or None)


def web_cold(table):
    table.row(
        "HTTP cold, to JPEG", "/s", "web-cold.ours/rps", "web-cold.thumbor/rps", "thumbor", 1.7,
        spread=True)


def web_idle(table):
    table.row("connections that stay open", "", "web-idle/connections", limit=10_000)
    table.row("  memory of each", "kB", "web-idle/kilobytes_each")
    table.row("  a hit beside them, p50", "µs", "web-idle/p50_us")


def web_fair(table):
    for title, part, target in (
            ("a visitor beside one with 5,000 requests, p99", "p99", 3), ("  p50", "p50", None)):
        table.row(
            title, "ms", f"web-fair/beside_{part}_ms", f"web-fair/alone_{part}_ms",
            "the visitor alone", target, **LESS)


def storm(table):
    table.row(
        "requests at once for one URL: right replies", "", "storm/right", limit="storm/requests",
        **EXACTLY)
    table.row("  GETs", "", "storm/gets", limit=1, **EXACTLY)
    table.row("  decodes", "", "storm/decodes", limit=1, **EXACTLY)
    table.row("  time", "s", "storm/seconds")
    table.row(
        "many URLs × sizes at once: right replies", "", "storm/many/right",
        limit="storm/many/requests", **EXACTLY)
    table.row("  GETs", "", "storm/many/gets", limit="storm/many/urls", **EXACTLY)
    table.row("  decodes", "", "storm/many/decodes")
    table.row("  time", "s", "storm/many/seconds")


def idle(table):
    table.row("idle memory, one worker of each kind", "MB", "idle/megabytes", limit=90, **LESS)
    table.row("  after 1,000 requests", "MB", "idle-after/megabytes")


def start(table):
    table.row("exec → first byte of get --private", "ms", "start/p50_ms")
    for kind in ("coordinator", "cache", "download", "decode", "transform"):
        table.row(f"  exec → welcome, {kind}", "ms", f"start-workers/{kind}")


def scaling(table):
    for more, fewer in ((2, 1), (4, 2)):
        table.row(
            f"decode and transform, {fewer} → {more}, 25 % of a core each", "/s",
            f"scaling.{more}/rps", f"scaling.{fewer}/rps", f"{fewer} of each", 1.8)


def ext_cost(table):
    """Loads that use no external pools, in a stack with some; medians of alternating rounds."""
    for load, title, spent in (
            ("message", "hit by message, 64 in flight", "a hit/coordinator_us"),
            ("voucher", "hit by voucher, 64 hot", None),
            ("cold", "cold, to JPEG", "a cold image/cpu_us/coordinator")):
        ours, without = f"ext-cost.{load}.with", f"ext-cost.{load}.without"
        none = f"none ({table.spread(f'{without}/rps') or '1 turn'})"
        table.row(
            f"{title}, foreign pools beside", "/s", f"{ours}/rps", f"{without}/rps", none, 0.97,
            spread=True, ratio_digits=3)
        table.row(
            "  another stack without any", "/s", f"ext-cost.{load}.again/rps", f"{without}/rps",
            none, spread=True, ratio_digits=3)
        if spent:
            work, _, path = spent.partition("/")
            table.row(
                f"  coordinator CPU {work}", "µs", f"{ours}/{path}", f"{without}/{path}", "none",
                spread=True, **LESS)


def machines(table):
    """The reference is another build, if there is one."""
    def row(title, unit, path, less_is_better=True, **promise):
        table.row(
            title, unit, f"machines.ours/{path}", f"machines.before/{path}",
            "the build before" if "machines.before" in table.samples else "", spread=True,
            less_is_better=less_is_better, **promise)

    none = {"limit": 0, "exactly": True}
    headlines = {"direct": "asked in turn", "HAProxy": "behind HAProxy", "nginx": "behind nginx"}
    for tier, beside in (("alone", ""), ("shared", ", shared cache")):
        for proxy, headline in headlines.items():
            path = f"burst/{proxy}.{tier}"
            row(f"30 requests at once, three machines {headline}{beside}: GETs a URL", "",
                f"{path}/gets_per_url", **({} if proxy == "direct" else {"limit": 1.02}))
            row("  p50", "ms", f"{path}/p50_ms")
            row("  p99", "ms", f"{path}/p99_ms")
            row("  failed", "", f"{path}/failed", **none)
        for proxy in ("HAProxy", "nginx"):
            path = f"lost/{proxy}.{tier}"
            row(f"a machine killed under load {headlines[proxy]}{beside}: failed", "",
                f"{path}/failed", **none)
            row("  slowest answer", "ms", f"{path}/slowest_ms")
            row("  further GETs", "", f"{path}/further_gets", **({} if tier == "alone" else none))
    row("first hit from the shared cache, p50", "ms", "first/first/p50_ms")
    row("  CPU of the machine", "µs", "first/first/cpu_us")
    row("  the same image again, p50", "ms", "first/again/p50_ms")
    row("  GETs", "", "first/gets", **none)
    for side, where in (("own", "on the machine that made them"), ("other", "on another one")):
        row(f"hits, 64 hot, {where}", "/s", f"second/{side}/rps", less_is_better=False)
        row("  p50", "ms", f"second/{side}/p50_ms")
        row("  CPU of the machine", "µs", f"second/{side}/cpu_us")
    ours = "machines.ours"
    table.row(
        "  on another one beside the one that made them", "/s", f"{ours}/second/other/rps",
        f"{ours}/second/own/rps", "the machine", 0.9)
    row("304s of three machines, max-age=2, asked every second", "", "confirmations/three")
    table.row(
        "  as a multiple of one machine", "", f"{ours}/confirmations/three",
        f"{ours}/confirmations/one", "one machine", 1.1, **LESS)


def elsewhere(table):
    for title, command in (
            ("a process killed every 100 ms: lost or wrong",
             "IMAGEBUS_LONG=1 scripts/test --filter RealProcesses/FireTests"),
            ("100,000 mixed requests: no growth",
             "IMAGEBUS_LONG=1 scripts/test --filter RealProcesses/GrowthTests"),
            ("scaling of workers", "scripts/bench scaling"),
            ("several machines", "scripts/bench machines")):
        table.row(title, "", command=command)


BY_NAME = {
    "hit": hit,
    "one": one,
    "cold-jpeg": cold("cold-jpeg", "cold, to JPEG", 1.8, 1.2),
    "cold-png": cold("cold-png", "cold, to PNG", 4),
    "cold-webp": cold("cold-webp", "cold, to WebP", 1),
    "cold-avif": cold("cold-avif", "cold, to AVIF", 1),
    "in-heic": cold("in-heic", "cold, HEIC to JPEG", 1),
    "in-avif": cold("in-avif", "cold, AVIF to JPEG", 1),
    "in-tiff": cold("in-tiff", "cold, TIFF to JPEG", 1),
    "in-svg": cold("in-svg", "cold, SVG to JPEG", 1),
    "anim-gif": animation("anim-gif", "60 frames, GIF to GIF"),
    "anim-webp": animation("anim-webp", "60 frames, GIF to WebP"),
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
    "scaling": scaling,
    "machines": machines,
}


def add_rows(table, names):
    for name in names:
        BY_NAME[name](table)
    if "scaling" not in names and "machines" not in names:
        elsewhere(table)


def notes(table):
    """Yields the lines of text below the table."""
    for frames in table.samples.get("frames", []):
        yield "messages of a hit, bytes: " + listed(frames)
    for last in table.samples.get("cold-jpeg.ours", [])[-1:]:
        for title, part in (
                ("CPU of a cold JPEG, µs", "cpu_us"),
                ("stages of a cold JPEG, median ms", "timings_ms")):
            if part in last:
                yield f"{title}: " + listed(last[part])
    for name in ("anim-gif", "anim-webp"):
        for side in ("ours", "thumbor", "magick"):
            for kept in table.samples.get(f"{name}.kept.{side}", []):
                yield f"{name}, {side}: " + ", ".join(f"{key} {kept[key]}" for key in kept)
    for sample in table.samples.get("storm", []):
        for title, part in (("storm", sample), ("many", sample.get("many") or {})):
            if "memory" in part:
                peaks = {one["kind"]: one["peak_bytes"] / 1e6 for one in part["memory"]}
                yield f"peak memory, {title}, MB: " + listed(peaks)
    for name in ("idle", "idle-after"):
        for one in table.values(f"{name}/processes"):
            yield f"memory, {name}, MB: " + listed(one)
    for load in ("message", "voucher", "cold"):
        turns = zip(*(table.values(f"ext-cost.{load}.{side}/rps") for side in ("with", "without")))
        ratios = sorted(ours / without for ours, without in turns)
        if ratios:
            yield f"ext-cost, {load}, ratios of turns: " + " ".join(f"{one:.3f}" for one in ratios)


def listed(values):
    return ", ".join(
        f"{name} {round(value, 1):,}" for name, value in values.items() if value is not None)
