-- Makes wrk print one JSON object at the end.
function done(summary, latency)
    local errors = summary.errors
    io.write(string.format(
        '\n{"rps": %.2f, "p50_ms": %.4f, "mean_ms": %.4f, "p99_ms": %.4f, "errors": %d, '
            .. '"bytes": %.0f}\n',
        summary.requests / summary.duration * 1e6, latency:percentile(50) / 1e3,
        latency.mean / 1e3, latency:percentile(99) / 1e3,
        errors.connect + errors.read + errors.write + errors.status + errors.timeout,
        summary.bytes / math.max(1, summary.requests)))
end
