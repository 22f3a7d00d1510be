import MicroHTTPD

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
