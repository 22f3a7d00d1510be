import Testing
import XXHash

@Suite struct XXH3Tests {
    /// Values that xxhsum prints for the same texts (xxHash 0.8).
    @Test(arguments: [
        ("", 0x2d06_8005_38d3_94c2 as UInt64), ("a", 0xe6c6_32b6_1e96_4e1f),
        ("abc", 0x78af_5f94_892f_3950),
    ])
    func knownTextsHaveTheirKnownHashes(text: String, hash: UInt64) {
        let bytes = Array(text.utf8)
        #expect(XXH3.hash64(bytes.span.bytes) == hash)
        #expect(bytes.withUnsafeBytes { XXH3.hash64($0) } == hash)
    }
}
