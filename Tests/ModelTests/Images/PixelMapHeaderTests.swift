import Model
import TestKit
import Testing

@Suite struct PixelMapHeaderTests {
    private static func file(_ header: PixelMapHeader, samples: Int? = nil) -> [UInt8] {
        header.bytes + [UInt8](repeating: 7, count: samples ?? header.sampleCount ?? 0)
    }

    private static func read(_ bytes: [UInt8]) -> PixelMapHeader? {
        bytes.withUnsafeBytes { PixelMapHeader($0) }
    }

    @Test(arguments: 1...4)
    func aHeaderIsReadAsItWasWritten(bands: Int) {
        for size in [PixelSize(width: 1, height: 1), PixelSize(width: 12_345, height: 3)] {
            let header = PixelMapHeader(size: size, bands: bands)
            #expect(header.bytes.count == PixelMapHeader.byteCount)
            #expect(header.sampleCount == size.width * size.height * bands)
            let bytes = Self.file(header)
            #expect(Self.read(bytes) == header)
            #expect(ImageFormat(file: bytes.span) == .pam)
            #expect(HeaderBytes(bytes.span).pamSize == size)
        }
    }

    @Test func theLargestHeaderFits() {
        let side = Int(Int32.max)
        let header = PixelMapHeader(size: PixelSize(width: side, height: side), bands: 2)
        #expect(header.bytes.count == PixelMapHeader.byteCount)
        #expect(HeaderBytes(header.bytes.span).pamSize == header.size)
    }

    @Test func anotherFileIsNone() {
        let header = PixelMapHeader(size: PixelSize(width: 3, height: 2), bands: 3)
        let good = Self.file(header)
        #expect(Self.read(good) != nil)
        for count in [0, 1, 127, 128, good.count - 1] {
            #expect(Self.read(Array(good.prefix(count))) == nil, "\(count)")
        }
        #expect(Self.read(good + [0]) == nil)
        for place in 0..<PixelMapHeader.byteCount {
            var bytes = good
            bytes[place] ^= 0x40
            #expect(Self.read(bytes) == nil, "\(place)")
        }
    }

    /// Headers from other writers (pam(5)), and some without a size.
    @Test(
        arguments: [
            ("P7\nWIDTH 4\nHEIGHT 5\nDEPTH 1\nENDHDR\n", PixelSize(width: 4, height: 5)),
            ("P7\n#a\n\nHEIGHT 5\nWIDTH 4\nENDHDR\n", PixelSize(width: 4, height: 5)),
            ("P7\nWIDTH 4\nENDHDR\n", nil), ("P7\nWIDTH 0\nHEIGHT 5\nENDHDR\n", nil),
            ("P7\nWIDTH 4\nHEIGHT 99999999999\nENDHDR\n", nil),
            ("P7\nWIDTH 4\nHEIGHT -5\nENDHDR\n", nil), ("P7\nWIDTH 4\nHEIGHT 5\n", nil),
            ("P6\n4 5\n255\n", nil),
        ] as [(String, PixelSize?)])
    func theSizeIsThatOfTheHeader(text: String, size: PixelSize?) {
        let bytes = Array(text.utf8)
        #expect(HeaderBytes(bytes.span).pamSize == size)
    }
}
