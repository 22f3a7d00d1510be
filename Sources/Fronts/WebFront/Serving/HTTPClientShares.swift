package import MicroHTTPD
package import Model

/// Distributes a limited resource among HTTP clients (visitors) and decides whether a client may
/// take more of it. A value without a clock.
///
/// A client may hold up to three times what is left, as for the stack's transfers, and never more
/// than three quarters of the total, so that another client immediately finds some left. A client
/// that holds nothing is admitted as long as there is enough left.
package struct HTTPClientShares: Hashable, Sendable {
    /// The total amount.
    package let most: Int
    /// The amount in use.
    package private(set) var total = 0
    private var held: [UInt64: Int] = [:]

    init(most: Int) { self.most = most }

    private static let heldPerFree = 3

    /// Whether a client may take more.
    package enum Verdict: Hashable, Sendable {
        case admitted
        /// The client has reached its share.
        case httpClientIsFull
        /// The whole amount is in use.
        case allAreFull
    }

    /// Returns whether a client may take an amount. Only the `new` part counts towards the total,
    /// because an object shared by two clients exists only once. An amount larger than the total is
    /// admitted if nothing else is in use.
    package func verdict(on amount: Int, new: Int, for httpClient: UInt64) -> Verdict {
        let left = most - total - new
        guard total == 0 || left >= 0 else { return .allAreFull }
        let own = held[httpClient, default: 0]
        let ownMax = min(Self.heldPerFree * left, most - most / (Self.heldPerFree + 1))
        return own == 0 || own + amount <= ownMax ? .admitted : .httpClientIsFull
    }

    package mutating func reserve(_ amount: Int, new: Int, by httpClient: UInt64) {
        total += new
        held[httpClient, default: 0] += amount
    }

    /// Returns an amount; the `old` part is no longer held by any client.
    package mutating func giveBack(_ amount: Int, old: Int, of httpClient: UInt64) {
        total -= old
        let left = held[httpClient, default: 0] - amount
        held[httpClient] = left > 0 ? left : nil
    }
}

/// The bodies of responses that are not fully sent: clients that read slowly keep them in memory. A
/// value without a clock.
package struct UnreadAnswers: Hashable, Sendable {
    /// A response being sent.
    package struct Answer: Hashable, Sendable {
        /// The owner of its body, which other responses may share.
        let body: ObjectIdentifier
        /// The bytes kept in memory, possibly more than are sent.
        let bytes: Int
        let httpClient: UInt64
    }

    private var shares: HTTPClientShares
    /// The number of responses per body.
    private var readers: [ObjectIdentifier: Int] = [:]
    /// The numbers of responses refused because of the client's share, and because of the total.
    package private(set) var refusedOfHTTPClients: UInt64 = 0
    package private(set) var refusedOfAll: UInt64 = 0

    /// The maximum total size of all bodies in bytes. It is a quarter of the memory that the
    /// gateway's systemd unit and Compose file allow, which leaves room for responses being
    /// generated and for connections.
    package static let bytesMax = 256 << 20
    /// Smaller bodies are not counted, because the kernel's socket buffer accepts them immediately.
    package static let countedBytesMin = HTTPLimits.unsentBytes

    package init(bytesMax: Int = UnreadAnswers.bytesMax) {
        shares = HTTPClientShares(most: bytesMax)
    }

    /// The bytes in memory, counting each body once.
    package var bytes: Int { shares.total }

    /// Begins to send a response. If admitted, it counts until `end`.
    package mutating func begin(_ answer: Answer) -> HTTPClientShares.Verdict {
        let new = readers[answer.body] == nil ? answer.bytes : 0
        let verdict = shares.verdict(on: answer.bytes, new: new, for: answer.httpClient)
        switch verdict {
        case .admitted:
            shares.reserve(answer.bytes, new: new, by: answer.httpClient)
            readers[answer.body, default: 0] += 1
        case .httpClientIsFull: refusedOfHTTPClients &+= 1
        case .allAreFull: refusedOfAll &+= 1
        }
        return verdict
    }

    /// Ends a response that was admitted.
    package mutating func end(_ answer: Answer) {
        let left = readers[answer.body, default: 1] - 1
        readers[answer.body] = left > 0 ? left : nil
        shares.giveBack(answer.bytes, old: left > 0 ? 0 : answer.bytes, of: answer.httpClient)
    }
}

/// Counts connections closed because of the per-address limit, for periodic log messages. A value
/// without a clock.
package struct RefusedConnections: Hashable, Sendable {
    package private(set) var total: UInt64 = 0
    private var reportedTotal: UInt64 = 0
    private var last: PeerAddress?
    private var next: Instant?

    /// The minimum interval between reports, in milliseconds.
    private static let pauseMilliseconds = 10_000

    /// Counts a closed connection.
    package mutating func add(_ peer: PeerAddress) {
        total &+= 1
        last = peer
    }

    /// Returns the number of connections closed since the last report and the address of the
    /// latest; `nil` if there are none, or if the last report was recent.
    package mutating func nextReport(at now: Instant) -> (count: UInt64, last: PeerAddress)? {
        guard total > reportedTotal, let last, next.map({ now >= $0 }) ?? true else { return nil }
        defer { reportedTotal = total }
        next = now.adding(milliseconds: Self.pauseMilliseconds)
        return (total - reportedTotal, last)
    }
}
