package import Messages
package import MicroHTTPD

/// How much of something scarce each visitor holds, and whether one may take more of it. A value
/// without a clock.
///
/// A visitor may hold up to three times what is left, as with the transfers of a stack, and never
/// more than three quarters of all: another one finds something at once. Who holds nothing is
/// admitted as long as there is enough for it.
package struct VisitorShares: Hashable, Sendable {
    /// So much is there for all.
    package let most: Int
    /// So much of it is held.
    package private(set) var total = 0
    private var held: [UInt64: Int] = [:]

    private static let heldPerFree = 3

    package init(most: Int) { self.most = most }

    /// Whether a visitor may take more.
    package enum Verdict: Hashable, Sendable {
        case admitted
        /// The visitor holds its share.
        case visitorIsFull
        /// All together hold what there is.
        case allAreFull
    }

    /// Whether a visitor may take an amount. It counts for all only as far as it is `new`: what two
    /// visitors share is there once. An amount that is larger than all is admitted alone.
    package func verdict(on amount: Int, new: Int, for visitor: UInt64) -> Verdict {
        let left = most - total - new
        guard total == 0 || left >= 0 else { return .allAreFull }
        let own = held[visitor, default: 0]
        let ownMax = min(Self.heldPerFree * left, most - most / (Self.heldPerFree + 1))
        return own == 0 || own + amount <= ownMax ? .admitted : .visitorIsFull
    }

    package mutating func take(_ amount: Int, new: Int, by visitor: UInt64) {
        total += new
        held[visitor, default: 0] += amount
    }

    /// Gives back what was taken; `old` is no longer held by anybody.
    package mutating func giveBack(_ amount: Int, old: Int, of visitor: UInt64) {
        total -= old
        let left = held[visitor, default: 0] - amount
        held[visitor] = left > 0 ? left : nil
    }
}

/// The bodies of answers that were not sent to their ends: peers that do not read keep them in
/// memory. A value without a clock.
package struct UnreadAnswers: Hashable, Sendable {
    /// An answer that is being sent.
    package struct Answer: Hashable, Sendable {
        /// What keeps its body, which other answers may have as well.
        let body: ObjectIdentifier
        /// Bytes of all that it keeps, which may be more than what is sent of it.
        let bytes: Int
        let visitor: UInt64

        package init(body: ObjectIdentifier, bytes: Int, visitor: UInt64) {
            (self.body, self.bytes, self.visitor) = (body, bytes, visitor)
        }
    }

    private var shares: VisitorShares
    /// How many answers have a body.
    private var readers: [ObjectIdentifier: Int] = [:]
    /// Answers that were refused since their visitor had its share, and since all was taken.
    package private(set) var refusedOfVisitors: UInt64 = 0
    package private(set) var refusedOfAll: UInt64 = 0

    /// Bytes of all bodies together. A quarter of the memory that a gateway has in a unit and in
    /// compose, which leaves room for what is being made, and for connections.
    package static let bytesMax = 256 << 20
    /// Smaller bodies are not counted: the system takes them at once.
    package static let countedBytesMin = HTTPLimits.unsentBytes

    package init(bytesMax: Int = UnreadAnswers.bytesMax) { shares = VisitorShares(most: bytesMax) }

    /// Bytes in memory, each body once.
    package var bytes: Int { shares.total }

    /// An answer is to be sent. It counts until `end` where it is admitted.
    package mutating func begin(_ answer: Answer) -> VisitorShares.Verdict {
        let new = readers[answer.body] == nil ? answer.bytes : 0
        let verdict = shares.verdict(on: answer.bytes, new: new, for: answer.visitor)
        switch verdict {
        case .admitted:
            shares.take(answer.bytes, new: new, by: answer.visitor)
            readers[answer.body, default: 0] += 1
        case .visitorIsFull: refusedOfVisitors &+= 1
        case .allAreFull: refusedOfAll &+= 1
        }
        return verdict
    }

    /// An answer that was admitted is over.
    package mutating func end(_ answer: Answer) {
        let left = readers[answer.body, default: 1] - 1
        readers[answer.body] = left > 0 ? left : nil
        shares.giveBack(answer.bytes, old: left > 0 ? 0 : answer.bytes, of: answer.visitor)
    }
}

/// Counts connections that were closed at the limit of their address, for one line of the log in a
/// while. A value without a clock.
package struct RefusedConnections: Hashable, Sendable {
    /// All of them.
    package private(set) var total: UInt64 = 0
    private var isTold: UInt64 = 0
    private var last: PeerAddress?
    private var next: Instant?

    /// Milliseconds between two reports.
    private static let pauseMilliseconds = 10_000

    package init() {}

    /// One more was closed.
    package mutating func add(_ peer: PeerAddress) {
        total &+= 1
        last = peer
    }

    /// How many were closed since the last report, and the address of the last one; `nil` where
    /// none was, and where the last report is not long ago.
    package mutating func takeReport(at now: Instant) -> (count: UInt64, last: PeerAddress)? {
        guard total > isTold, let last, next.map({ now >= $0 }) ?? true else { return nil }
        defer { isTold = total }
        next = now.adding(milliseconds: Self.pauseMilliseconds)
        return (total - isTold, last)
    }
}
