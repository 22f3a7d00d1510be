import Sodium
import Testing

@Suite struct KeyedDigestTests {
    /// Values of Python's `hashlib.blake2b(text, digest_size=16, key=bytes(range(32)))`.
    @Test(arguments: [
        ("hello", "b6cd31b2100d036e7bfa834e88e5b054"),
        ("", "3daf97bce7888fd59773c66bf647459c"),
    ])
    func itIsBLAKE2bWithAKey(text: String, hex: String) throws {
        let digest = try KeyedDigest(key: Array(0..<32))
        #expect(digest.digest(text).description == hex)
    }

    @Test func anotherKeyGivesAnotherDigest() throws {
        let first = try KeyedDigest(key: Array(0..<32))
        let second = try KeyedDigest(key: Array(1..<33))
        #expect(first.digest("hello") == first.digest("hello"))
        #expect(first.digest("hello") != second.digest("hello"))
        #expect(first.digest("hello") != first.digest("hellp"))
    }

    @Test(arguments: [0, 16, 31, 33])
    func aKeyOfAnotherLengthIsRefused(length: Int) {
        #expect(throws: SodiumError.keyLength(length)) {
            _ = try KeyedDigest(key: [UInt8](repeating: 1, count: length))
        }
    }

    @Test func randomBytesHaveTheirLengthAndDiffer() throws {
        let first = try SecureRandom.bytes(32)
        #expect(first.count == 32)
        #expect(try SecureRandom.bytes(32) != first)
        #expect(try SecureRandom.bytes(0).isEmpty)
    }

    @Test func constantTimeComparisonComparesLengthAndBytes() {
        #expect(ConstantTime.areEqual([1, 2, 3], [1, 2, 3]))
        #expect(!ConstantTime.areEqual([1, 2, 3], [1, 2, 4]))
        #expect(!ConstantTime.areEqual([1, 2, 3], [1, 2]))
        #expect(ConstantTime.areEqual([], []))
    }
}
