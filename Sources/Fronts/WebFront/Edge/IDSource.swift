import Linux
package import Messages

/// Makes names of requests and traces that nobody can guess, of random numbers of the kernel,
/// which are fetched many at a time.
package struct IDSource: Sendable {
    private var words: [UInt64] = []
    private static let wordsMax = 256

    package init() {}

    /// A new request id.
    package mutating func request() -> RequestID { RequestID(identifier()) }

    /// A new trace, which nobody records.
    package mutating func trace() -> TraceContext {
        while true {
            if let trace = TraceContext(trace: identifier(), parent: word(), flags: 0) {
                return trace
            }
        }
    }

    private mutating func identifier() -> Identifier128 {
        Identifier128(high: word(), low: word())
    }

    private mutating func word() -> UInt64 {
        if words.isEmpty {
            words = [UInt64](unsafeUninitializedCapacity: Self.wordsMax) { words, count in
                Random.fill(UnsafeMutableRawBufferPointer(words))
                count = Self.wordsMax
            }
        }
        return words.removeLast()
    }
}
