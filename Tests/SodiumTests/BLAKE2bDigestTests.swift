import Sodium
import Testing

struct BLAKE2bDigestTests {
    /// The function is specified by RFC 7693; the value is the output of `b2sum -l 256` for "abc".
    @Test func isTheDigestThatOthersCompute() throws {
        let digest = try BLAKE2bDigest()
        digest.update(Array("abc".utf8))
        #expect(
            digest.finish() == "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319")
    }

    @Test func partsMakeTheSameAsTheWhole() throws {
        let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let (whole, parts) = (try BLAKE2bDigest(), try BLAKE2bDigest())
        whole.update(bytes)
        for start in stride(from: 0, to: bytes.count, by: 61_440) {
            parts.update(Array(bytes[start..<min(start + 61_440, bytes.count)]))
        }
        parts.update([])
        #expect(whole.finish() == parts.finish())
    }
}
