import Messages
import Reporting

/// What became of one storm.
struct StormFigures: Encodable, Sendable {
    var urls = 0
    var sizes = 0
    private(set) var requests = 0
    private(set) var errors = 0
    /// Replies with the bytes that the same load has when it is alone.
    private(set) var right = 0
    private(set) var bytes = 0
    var seconds = 0.0
    /// What the origin was asked for; where it is somebody else's: what the stack fetched.
    var gets = 0
    private(set) var decodes = 0
    private(set) var transforms = 0
    /// Loads that waited for another one's job.
    private(set) var coalesced = 0
    /// Transfers that were tried again, and all jobs that began again: either may be a further GET.
    private(set) var retries = 0
    private(set) var requeued = 0
    var memory: [StackMemory] = []
    private var latencies = LatencyCounts()

    mutating func count(_ reply: StormFlight.Reply) {
        requests += 1
        latencies.record(nanoseconds: reply.nanoseconds)
        if reply.isRight { right += 1 }
        if let count = reply.bytes { bytes += count } else { errors += 1 }
    }

    /// Takes over what the coordinator counted meanwhile.
    mutating func count(_ before: StatusReport, _ after: StatusReport) {
        func growth(_ name: String) -> Int { Int(after.count(name)) - Int(before.count(name)) }
        (gets, decodes) = (growth("fetches"), growth("decodes"))
        (transforms, coalesced) = (growth("transforms"), growth("coalesced"))
        (retries, requeued) = (growth("retries"), growth("requeued"))
    }

    enum CodingKeys: String, CodingKey {
        case urls, sizes, requests, errors, right, bytes, seconds, gets, decodes, transforms
        case coalesced, retries, requeued, memory, rps
        case p50 = "p50_ms"
        case p99 = "p99_ms"
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        for (key, value) in [
            (.urls, urls), (.sizes, sizes), (.requests, requests), (.errors, errors),
            (.right, right), (.bytes, bytes), (.gets, gets), (.decodes, decodes),
            (.transforms, transforms), (.coalesced, coalesced), (.retries, retries),
            (.requeued, requeued),
        ] as [(CodingKeys, Int)] { try values.encode(value, forKey: key) }
        try values.encode(seconds, forKey: .seconds)
        try values.encode(rate, forKey: .rps)
        try values.encode(latencies.milliseconds(at: 0.5), forKey: .p50)
        try values.encode(latencies.milliseconds(at: 0.99), forKey: .p99)
        try values.encode(memory, forKey: .memory)
    }

    private var rate: Double { seconds > 0 ? Double(requests - errors) / seconds : 0 }

    static let header = [
        "URLS", "SIZES", "LOADS", "ERRORS", "RIGHT", "GETS", "DECODES", "TRANSFORMS", "SECONDS",
        "A SECOND", "P50 MS", "P99 MS",
    ]

    var row: [String] {
        [urls, sizes, requests, errors, right, gets, decodes, transforms].map { "\($0)" } + [
            LoadReport.thousandths(seconds), TextTable.tenths(rate),
            TextTable.tenths(latencies.milliseconds(at: 0.5)),
            TextTable.tenths(latencies.milliseconds(at: 0.99)),
        ]
    }
}
