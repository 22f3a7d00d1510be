import Model
import Testing

struct ImageHeaderTests {
    private func size(_ bytes: [UInt8]) -> PixelSize? { ImageHeader(bytes.span)?.size }

    private static func png(_ width: [UInt8], _ height: [UInt8]) -> [UInt8] {
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
            + width + height + [8, 2, 0, 0, 0]
    }

    private static func segment(_ marker: UInt8, _ body: [UInt8]) -> [UInt8] {
        let length = body.count + 2
        return [0xFF, marker, UInt8(length >> 8), UInt8(length & 255)] + body
    }

    /// 258 by 3.
    private static let frame: [UInt8] = [8, 0, 3, 1, 2, 1, 1, 0x11, 0]

    private static func webP(_ chunk: String, _ body: [UInt8]) -> [UInt8] {
        Array("RIFF".utf8) + [0, 0, 0, 0] + Array("WEBP\(chunk)".utf8) + [10, 0, 0, 0] + body
    }

    @Test func sizesAreThoseOfTheFormats() {
        let pngs = Self.png([0, 0, 1, 2], [0, 0, 0, 3])
        #expect(ImageHeader(pngs.span)?.format == .png)
        #expect(size(pngs) == PixelSize(width: 258, height: 3))
        let gif = Array("GIF89a".utf8) + [2, 1, 3, 0]
        #expect(ImageHeader(gif.span)?.format == .gif)
        #expect(size(gif) == PixelSize(width: 258, height: 3))
        let simple = Self.webP("VP8 ", [0x10, 0, 0, 0x9D, 1, 0x2A, 2, 0x41, 3, 0x80])
        #expect(ImageHeader(simple.span)?.format == .webp)
        #expect(size(simple) == PixelSize(width: 258, height: 3), "without the scales")
        // 257 and 2, of 14 bits each.
        let lossless = Self.webP("VP8L", [0x2F, 1, 0x81, 0, 0])
        #expect(size(lossless) == PixelSize(width: 258, height: 3))
        let extended = Self.webP("VP8X", [0, 0, 0, 0, 1, 1, 0, 2, 0, 0])
        #expect(size(extended) == PixelSize(width: 258, height: 3))
    }

    @Test(arguments: [0xC0, 0xC1, 0xC2, 0xC9] as [UInt8])
    func theFrameOfAJPEGIsBehindOtherSegments(_ marker: UInt8) {
        let other = [UInt8](repeating: 0xC0, count: 300)
        let bytes: [UInt8] =
            [0xFF, 0xD8] + Self.segment(0xE1, other) + [0xFF, 0xFF]
            + Self.segment(0xC4, other) + Self.segment(marker, Self.frame)
        #expect(ImageHeader(bytes.span)?.format == .jpeg)
        #expect(size(bytes) == PixelSize(width: 258, height: 3))
    }

    @Test func whatEndsEarlyIsNoImage() {
        let jpeg = [0xFF, 0xD8] + Self.segment(0xE0, [1, 2]) + Self.segment(0xC0, Self.frame)
        let whole = [
            (Self.png([0, 0, 1, 2], [0, 0, 0, 3]), 24),
            (Self.webP("VP8X", [0, 0, 0, 0, 1, 1, 0, 2, 0, 0]), 30), (jpeg, 17),
        ]
        for (bytes, needed) in whole {
            for count in 0..<bytes.count {
                #expect((size(Array(bytes.prefix(count))) != nil) == (count >= needed), "\(count)")
            }
        }
    }

    @Test func whatHasNoPixelsOrNoSuchSizeIsNoImage() {
        let largest = [UInt8](repeating: 255, count: 4)
        #expect(size(Self.png([0, 0, 0, 0], [0, 0, 0, 3])) == nil)
        #expect(size(Self.png(largest, largest)) == nil, "PNG has 31 bits")
        #expect(size([0xFF, 0xD8] + Self.segment(0xC0, [8, 0, 0, 1, 2, 1, 1, 1, 1])) == nil)
        #expect(size([0xFF, 0xD8] + Self.segment(0xDA, Self.frame)) == nil, "a scan, no frame")
        #expect(size(Self.webP("VP8 ", [0x11, 0, 0, 0x9D, 1, 0x2A, 2, 1, 3, 0])) == nil)
        #expect(size([]) == nil)
    }

    @Test func aJPEGHasABoundedNumberOfSegmentsBeforeItsFrame() {
        let comment = Self.segment(0xFE, [])
        func file(_ count: Int) -> [UInt8] {
            [0xFF, 0xD8] + (0..<count).flatMap { _ in comment } + Self.segment(0xC0, Self.frame)
        }
        #expect(size(file(1_000)) != nil)
        #expect(size(file(1_024)) == nil)
    }

    /// Truncated pixels are accepted: their reader takes what is present.
    @Test func aChunkOfAPNGThatIsNotInTheFileIsSeen() {
        let start = Self.png([0, 0, 0, 2], [0, 0, 0, 2]) + [0, 0, 0, 0]
        func isBeyondEnd(_ chunk: String, says length: UInt8, has count: Int) -> Bool {
            let bytes =
                start + [0, 0, 0, length] + Array(chunk.utf8)
                + [UInt8](repeating: 7, count: count)
            return HeaderBytes(bytes.span).pngChunkBeyondEnd != nil
        }
        #expect(isBeyondEnd("iTXt", says: 9, has: 8))
        #expect(!isBeyondEnd("iTXt", says: 9, has: 9))
        #expect(!isBeyondEnd("iTXt", says: 9, has: 9 + 4))
        #expect(!isBeyondEnd("IEND", says: 0, has: 4 + 99))
        #expect(!isBeyondEnd("IDAT", says: 200, has: 3))
        let jpeg = [UInt8]([0xFF, 0xD8, 0xFF, 0xE0, 0xFF, 0xFF])
        let isSeenInAJPEG = HeaderBytes(jpeg.span).pngChunkBeyondEnd != nil
        #expect(!isSeenInAJPEG)
    }
}
