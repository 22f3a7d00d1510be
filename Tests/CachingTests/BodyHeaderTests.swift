import ImageModel
import Messages
import Testing

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
        bytes[8] = 2
        #expect(BodyHeader.length(of: bytes) == nil)
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
