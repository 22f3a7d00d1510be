import Deflate
import Testing
import Vips

@Suite struct ZlibCompressorTests {
    @Test(arguments: [1, 6, 12], [(1, 1), (7, 9), (200, 100)])
    func aPNGMadeWithItIsReadByLibvips(level: Int, size: (width: Int, height: Int)) throws {
        let pixels = (0..<(size.width * size.height)).map { UInt8(truncatingIfNeeded: $0 * $0) }
        let png = try png(pixels, width: size.width, height: size.height, level: level)
        let read = try VipsLibrary().exclusively {
            try png.withUnsafeBytes { try VipsImage.png($0).samples() }
        }
        #expect(read == pixels)
    }

    @Test func higherLevelsMakeFewerBytes() throws {
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: ($0 * $0) >> 9) }
        let counts = try [1, 6, 12].map { try compressed(bytes, level: $0).count }
        #expect(counts[0] > counts[1])
        #expect(counts[1] >= counts[2])
    }

    @Test func theBoundIsEnoughForWhatCannotBeCompressed() throws {
        var generator = SystemRandomNumberGenerator()
        let compressor = try ZlibCompressor(level: 1)
        for count in [0, 1, 1000, 70_000] {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let room = compressor.bound(count)
            #expect(room >= count)
            var target = [UInt8](repeating: 0, count: room)
            let used = bytes.withUnsafeBytes { bytes in
                target.withUnsafeMutableBytes { compressor.compress(bytes, into: $0) }
            }
            #expect(try #require(used) <= room)
            // An exact fit succeeds; one byte less does not.
            var small = [UInt8](repeating: 0, count: try #require(used) / 2)
            let none = bytes.withUnsafeBytes { bytes in
                small.withUnsafeMutableBytes { compressor.compress(bytes, into: $0) }
            }
            #expect(none == nil)
        }
    }

    @Test(arguments: [-1, 0, 13])
    func levelsThatAreNoneAreRefused(level: Int) {
        let error = #expect(throws: DeflateError.self) {
            _ = try ZlibCompressor(level: level).bound(1)
        }
        #expect(error == .noSuchLevel(level))
    }

    @Test func checkSumsAreThoseOfTheStandardAndCanBeContinued() {
        let text = Array("123456789".utf8)
        let whole = text.withUnsafeBytes { CRC32.of($0) }
        #expect(whole == 0xCBF4_3926)
        let first = text[..<4].withUnsafeBytes { CRC32.of($0) }
        #expect(text[4...].withUnsafeBytes { CRC32.of($0, seed: first) } == whole)
        #expect(CRC32.of(UnsafeRawBufferPointer(start: nil, count: 0), seed: whole) == whole)
    }

    private func compressed(_ bytes: [UInt8], level: Int) throws -> [UInt8] {
        let compressor = try ZlibCompressor(level: level)
        var target = [UInt8](repeating: 0, count: compressor.bound(bytes.count))
        let count = bytes.withUnsafeBytes { bytes in
            target.withUnsafeMutableBytes { compressor.compress(bytes, into: $0) }
        }
        return Array(target.prefix(try #require(count)))
    }

    /// Gray, 8 bits, no filter.
    private func png(
        _ pixels: [UInt8], width: Int, height: Int, level: Int
    ) throws -> [UInt8] {
        let rows = (0..<height).flatMap { y in [0] + pixels[(y * width)..<((y + 1) * width)] }
        let header = bigEndian(width) + bigEndian(height) + [8, 0, 0, 0, 0]
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", header)
            + chunk("IDAT", try compressed(rows, level: level)) + chunk("IEND", [])
    }

    private func chunk(_ name: String, _ bytes: [UInt8]) -> [UInt8] {
        let body = Array(name.utf8) + bytes
        let sum = body.withUnsafeBytes { CRC32.of($0) }
        return bigEndian(bytes.count) + body + bigEndian(Int(sum))
    }

    private func bigEndian(_ number: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}
