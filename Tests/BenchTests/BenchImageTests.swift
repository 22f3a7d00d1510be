import Testing

@testable import imagebus_bench

@Suite struct BenchImageTests {
    private func word(_ place: Int, of bytes: [UInt8]) -> Int {
        bytes[place..<(place + 4)].reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    @Test(arguments: [(4, 3, 12), (5, 2, 16), (1, 1, 4)])
    func aBitmapHasItsHeadersAndPaddedRows(width: Int, height: Int, rowBytes: Int) {
        let bytes = BenchImage.bitmap(width: width, height: height)
        #expect(bytes.starts(with: Array("BM".utf8)))
        #expect(bytes.count == 54 + rowBytes * height && word(2, of: bytes) == bytes.count)
        #expect(word(10, of: bytes) == 54 && word(14, of: bytes) == 40)
        #expect(word(18, of: bytes) == width && word(22, of: bytes) == height)
        #expect(word(26, of: bytes) == 24 << 16 | 1, "one plane of 24 bits")
    }

    @Test func theImageHasTexture() {
        let pixels = BenchImage.bitmap(width: 64, height: 64).dropFirst(54)
        #expect(Set(pixels).count > 200)
    }
}
