import Model
import Testing
import XXHash

@testable import Caching

private let header = BodyHeader(
    key: "https://a.test/ü.png", bodyLength: 70_000, checksum: 0xFEDC_BA98_7654_3210,
    created: at(-5), stored: at(3), metadata: carryingFacts)

@Suite struct BodyHeaderTests {
    @Test func itComesBackAsItWasWritten() throws {
        let bytes = try #require(header.encoded())
        #expect(BodyHeader.length(of: bytes + [1, 2, 3]) == bytes.count)
        #expect(BodyHeader(bytes) == header)
    }

    @Test func anyChangedByteIsNoticed() throws {
        let bytes = try #require(header.encoded())
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 0x10
            #expect(BodyHeader(changed) == nil, "byte \(index)")
        }
    }

    @Test func anyTruncationIsNoticed() throws {
        let bytes = try #require(header.encoded())
        for count in bytes.indices { #expect(BodyHeader(Array(bytes[..<count])) == nil) }
    }

    @Test func anotherVersionIsNotRead() throws {
        var bytes = try #require(header.encoded())
        bytes[8] = 4
        #expect(BodyHeader.length(of: bytes) == nil)
    }

    /// Version 2 lacks the carried data and the 40 bytes that describe it; version 1 also lacks the
    /// caching data and the four bytes that describe that.
    @Test(arguments: [(1, 88), (2, 92)])
    func theVersionsBeforeAreRead(version: UInt8, textsAt: Int) throws {
        var old = header
        old.metadata = originalFacts
        if version == 1 { (old.metadata.caching, old.metadata.revision) = (nil, 0) }
        var bytes = try #require(old.encoded())
        bytes.removeSubrange(textsAt..<132)
        bytes[8] = version
        withUnsafeBytes(of: UInt32(bytes.count).littleEndian) {
            bytes.replaceSubrange(12..<16, with: $0)
        }
        bytes.replaceSubrange(16..<24, with: [UInt8](repeating: 0, count: 8))
        let seal = XXH3.hash64(bytes.span.bytes)
        withUnsafeBytes(of: seal.littleEndian) { bytes.replaceSubrange(16..<24, with: $0) }
        #expect(BodyHeader.length(of: bytes) == bytes.count)
        #expect(BodyHeader(bytes) == old)
    }

    @Test func textsOverTheirLimitAreRefused() {
        var long = header
        long.key = String(repeating: "k", count: MessageLimits.keyBytesMax + 1)
        #expect(long.encoded() == nil)
        long = header
        long.metadata.etag = String(repeating: "e", count: MessageLimits.originHeaderBytesMax + 1)
        #expect(long.encoded() == nil)
        long = header
        long.metadata.tags = (0...CacheTag.entryMax).map { "t\($0)" }
        #expect(long.encoded() == nil)
        long.metadata.tags = ["two words"]
        #expect(long.encoded() == nil)
        long = header
        long.metadata.extendedData = ExtendedData([UInt8](repeating: 1, count: 4_097))
        #expect(long.encoded() == nil)
        long = header
        long.metadata.tags = (0..<48).map { number in
            String(repeating: "t", count: 61) + "\(number + 100)"
        }
        long.metadata.extendedData = ExtendedData(
            [UInt8](repeating: 1, count: 4_096),
            mediaType: "a/" + String(repeating: "b", count: 253))
        long.key = String(repeating: "k", count: MessageLimits.keyBytesMax)
        #expect(long.encoded().flatMap { BodyHeader($0) } == long)
    }
}
