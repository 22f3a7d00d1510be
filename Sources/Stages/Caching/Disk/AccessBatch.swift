/// Uses of entries that are not in the index yet: one write for many reads.
///
/// A kill loses at most the last ten seconds of them.
struct AccessBatch: Sendable {
    /// Keys from which on they are written without waiting longer.
    static let countEnough = 512
    /// Keys at most; uses beyond that are not noted, which only blurs the order of going.
    static let countMax = 4_096
    /// How long the first of them waits, milliseconds.
    static let delayMax: Int64 = 10_000

    private(set) var times: [String: UnixTime] = [:]
    private var since: UnixTime?

    /// Notes a use.
    mutating func note(_ key: String, _ now: UnixTime) {
        guard times.count < Self.countMax || times[key] != nil else { return }
        times[key] = max(times[key] ?? now, now)
        since = since ?? now
    }

    /// When a key was last used, as far as it is noted here.
    subscript(key: String) -> UnixTime? { times[key] }

    /// Whether it is time to write them.
    func isDue(_ now: UnixTime) -> Bool {
        guard let since else { return false }
        // A clock that was set back is behind the first of them.
        return times.count >= Self.countEnough || now < since
            || now >= since.adding(milliseconds: Self.delayMax)
    }

    /// Hands one of them out; `nil` where none is left.
    mutating func takeOne() -> (key: String, used: UnixTime)? {
        let one = times.popFirst()
        if times.isEmpty { since = nil }
        return one.map { ($0.key, $0.value) }
    }

    /// Hands all of them out.
    mutating func take() -> [String: UnixTime] {
        defer { self = AccessBatch() }
        return times
    }
}
