/// What became of one kind of load in the mix.
struct MixedShare: Sendable {
    private(set) var requests = 0
    private(set) var errors = 0
    private(set) var latencies = LatencyCounts()

    mutating func count(_ nanoseconds: UInt64, _ bytes: Int?) {
        requests += 1
        if bytes == nil { errors += 1 }
        latencies.record(nanoseconds: nanoseconds)
    }
}
