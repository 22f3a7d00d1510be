import TestKit
import Testing

@testable import dictionary_cache

/// The content of the example cache, and its evictions.
@Suite struct DictionaryCacheTests {
    private let cache = DictionaryCache(bytesMax: 10)

    private func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: 7, count: count) }

    private func put(_ key: String, _ bytes: [UInt8]) -> Bool {
        cache.put(key, bytes, expires: nil)
    }

    private var keys: [String]? { cache.keys()?.sorted() }

    @Test func whatWasUsedLongestAgoLeavesAtTheLimit() {
        #expect(put("a", bytes(4)) && put("b", bytes(4)))
        #expect(cache.get("a") == bytes(4))
        // `contains` doesn't count as a use.
        #expect(cache.contains("b"))
        #expect(put("c", bytes(2)))
        #expect(keys == ["a", "b", "c"])
        #expect(put("d", bytes(1)))
        #expect(keys == ["a", "c", "d"] && cache.get("b") == nil)
    }

    /// The previous value is removed as well, as it would be outdated.
    @Test func whatIsBeyondTheLimitIsNotKept() {
        #expect(put("a", bytes(3)) && put("b", bytes(3)))
        #expect(!put("a", bytes(11)))
        #expect(keys == ["b"])
        #expect(put("a", bytes(10)))
        #expect(keys == ["a"])
        #expect(put("e", []) && keys == ["a", "e"])
    }

    @Test func whatComesAgainTakesThePlaceOfWhatWasThere() {
        #expect(put("a", bytes(6)) && put("a", [1, 2]) && put("b", bytes(8)))
        #expect(cache.get("a") == [1, 2] && cache.get("b") == bytes(8))
        cache.remove("a")
        cache.remove("a")
        #expect(keys == ["b"] && cache.get("a") == nil)
        #expect(put("c", [3, 4]) && keys == ["b", "c"])
    }

    /// Compared with a plain list that drops its first element.
    @Test func anyOrderOfUsesEndsAsAListHasIt() throws {
        var random = SeededGenerator(seed: 5)
        var list: [(key: String, count: Int)] = []
        for step in 0..<5_000 {
            let key = "\(Int.random(in: 0..<8, using: &random))"
            let place = list.firstIndex { $0.key == key }
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                try #require(cache.get(key)?.count == place.map { list[$0].count }, "\(step)")
                if let place { list.append(list.remove(at: place)) }
            case 1:
                cache.remove(key)
                if let place { list.remove(at: place) }
            default:
                let count = Int.random(in: 0...11, using: &random) / 2
                if let place { list.remove(at: place) }
                #expect(put(key, bytes(count)), "\(step)")
                list.append((key, count))
                while list.reduce(0, { $0 + $1.count }) > 10 { list.removeFirst() }
            }
            try #require(keys == list.map(\.key).sorted(), "\(step)")
        }
    }
}
