import Reporting

/// What is said of loads, whatever they measure; its JSON is one object (SEMANTICS §15.5).
struct LoadReport: Encodable, Sendable {
    let name: String
    let concurrency: Int
    let seconds: Double
    let requests: Int
    let errors: Int
    let rps: Double
    let rpsLeast: Double
    let rpsMedian: Double
    let rpsMost: Double
    let p50: Double
    let p99: Double
    let bytes: Int

    enum CodingKeys: String, CodingKey {
        case name, concurrency, seconds, requests, errors, rps, bytes
        case rpsLeast = "rps_least"
        case rpsMedian = "rps_median"
        case rpsMost = "rps_most"
        case p50 = "p50_ms"
        case p99 = "p99_ms"
    }

    init(_ name: String, _ figures: LoadFigures, concurrency: Int) {
        (self.name, self.concurrency) = (name, concurrency)
        (requests, errors, bytes) = (figures.requests, figures.errors, figures.bytes)
        (seconds, rps) = (figures.seconds, figures.rate)
        (rpsLeast, rpsMedian, rpsMost) = figures.rates
        p50 = figures.latencies.milliseconds(at: 0.5)
        p99 = figures.latencies.milliseconds(at: 0.99)
    }

    /// Columns of a table for people.
    static let header = [
        "WHAT", "AT A TIME", "LOADS", "ERRORS", "A SECOND", "SLOWEST TENTH", "FASTEST TENTH",
        "P50 MS", "P99 MS", "BYTES EACH",
    ]

    var row: [String] {
        [
            name, "\(concurrency)", "\(requests)", "\(errors)", TextTable.tenths(rps),
            TextTable.tenths(rpsLeast), TextTable.tenths(rpsMost), Self.thousandths(p50),
            Self.thousandths(p99), "\(bytes / max(requests - errors, 1))",
        ]
    }

    /// Three decimals.
    static func thousandths(_ value: Double) -> String {
        let number = Int((value * 1_000).rounded())
        let rest = "\(number % 1_000)"
        return "\(number / 1_000)." + String(repeating: "0", count: 3 - rest.count) + rest
    }
}
