package import Messages

/// What download workers said of the transfers that brought a body, since the start.
package struct TransferFigures: Sendable {
    /// How long each phase took, where it took place.
    package private(set) var times: [TransferPhase: LatencyHistogram] = [:]
    /// Transfers, by version of HTTP; what is no version is `other`.
    package private(set) var versions: [String: UInt64] = [:]
    /// Transfers over a connection that was there before.
    package private(set) var reused: UInt64 = 0
    /// Bytes that came, content codings not undone.
    package private(set) var bytes: UInt64 = 0
    /// Redirects that were followed.
    package private(set) var redirects: UInt64 = 0
    /// How often a body broke off and went on.
    package private(set) var continuations: UInt64 = 0

    private static let knownVersions: Set = ["1.0", "1.1", "2", "3"]

    /// Counts one. The worker is believed as far as a job may take; what it names cannot grow.
    mutating func record(_ account: FetchAccount, atMost milliseconds: Int) {
        for phase in TransferPhase.allCases {
            guard let time = account.milliseconds(of: phase), time.isFinite else { continue }
            let believed = min(time, Double(max(0, milliseconds)))
            times[phase, default: LatencyHistogram()].record(
                microseconds: UInt64(believed * 1_000))
        }
        let version = account.httpVersion
        versions[Self.knownVersions.contains(version) ? version : "other", default: 0] += 1
        if account.isReused { reused += 1 }
        bytes &+= account.bytes
        redirects &+= UInt64(account.redirects)
        continuations &+= UInt64(account.continuations)
    }
}
