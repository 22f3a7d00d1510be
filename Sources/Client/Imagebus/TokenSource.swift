import Linux
import Messages
import Synchronization

/// Tokens: 128 bits of the kernel's random numbers each, fetched many at a time. Any thread.
final class TokenSource: Sendable {
    private struct Store {
        var words: [UInt64] = []
    }

    private let store = Mutex(Store())
    private static let wordsMax = 256

    func next() -> Token {
        store.withLock { store in
            if store.words.count < 2 { store.words = Self.draw() }
            let high = store.words.removeLast()
            return Token(Identifier128(high: high, low: store.words.removeLast()))
        }
    }

    private static func draw() -> [UInt64] {
        [UInt64](unsafeUninitializedCapacity: wordsMax) { words, count in
            Random.fill(UnsafeMutableRawBufferPointer(words))
            count = wordsMax
        }
    }
}
