import Testing
import XXHash

@Suite struct XXH3Tests {
    /// Values that xxhsum prints for the same texts (xxHash 0.8).
    @Test(arguments: [
        ("", 0x2d06_8005_38d3_94c2 as UInt64, "99aa06d3014798d86001c324468d497f"),
        ("a", 0xe6c6_32b6_1e96_4e1f, "a96faf705af16834e6c632b61e964e1f"),
        ("abc", 0x78af_5f94_892f_3950, "06b05ab6733a618578af5f94892f3950"),
    ])
    func knownTextsHaveTheirKnownHashes(text: String, low: UInt64, full: String) {
        let bytes = Array(text.utf8)
        #expect(XXH3.hash64(bytes.span.bytes) == low)
        #expect(XXH3.hash128(bytes.span.bytes).description == full)
    }

    /// Lengths around the thresholds of XXH3's algorithms (16, 128, 240) and its blocks (1024).
    @Test(arguments: [0, 1, 16, 17, 128, 129, 240, 241, 1023, 1024, 1025, 100_003])
    func aStreamHasTheHashOfItsWhole(length: Int) throws {
        let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ ($0 >> 8)) }
        var stream = try XXH3Stream()
        bytes.withUnsafeBytes { all in
            var start = 0
            var piece = 1
            while start < length {
                let end = min(length, start + piece)
                stream.update(UnsafeRawBufferPointer(rebasing: all[start..<end]))
                start = end
                piece = piece * 3 + 1
            }
        }
        #expect(stream.hash64() == XXH3.hash64(bytes.span.bytes))
        #expect(stream.hash128() == XXH3.hash128(bytes.span.bytes))
    }

    @Test func readingTheHashDoesNotEndTheStream() throws {
        var stream = try XXH3Stream()
        [UInt8](repeating: 1, count: 500).withUnsafeBytes { stream.update($0) }
        let early = stream.hash64()
        [UInt8](repeating: 2, count: 500).withUnsafeBytes { stream.update($0) }
        let all = [UInt8](repeating: 1, count: 500) + [UInt8](repeating: 2, count: 500)
        #expect(stream.hash64() != early)
        #expect(stream.hash64() == XXH3.hash64(all.span.bytes))
    }

    @Test func leadingZerosArePrinted() {
        #expect(
            Hash128(high: 0, low: 0xab).description == "000000000000000000000000000000ab")
    }
}
