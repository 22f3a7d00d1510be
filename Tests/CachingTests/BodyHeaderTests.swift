import ImageModel
import Messages
import Testing
import XXHash

@testable import Caching

private let header = BodyHeader(
    key: "https://a.test/ü.png", bodyLength: 70_000, checksum: 0xFEDC_BA98_7654_3210,
    created: at(-5), stored: at(3), metadata: originalFacts)

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
        bytes[8] = 3
        #expect(BodyHeader.length(of: bytes) == nil)
    }

    /// Version 1 is the same without an expiry and without the four bytes that tell of it.
    @Test func theFirstVersionIsRead() throws {
        var old = header
        old.metadata.expiry = nil
        var bytes = try #require(old.encoded())
        bytes.removeSubrange(88..<92)
        bytes[8] = 1
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
        long.key = String(repeating: "k", count: MessageLimits.keyBytesMax)
        #expect(long.encoded().flatMap { BodyHeader($0) } == long)
    }
}
