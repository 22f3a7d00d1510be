import CodecSupport
import Testing
import Vips
import WebP

/// How often the incremental decoder restarts: once each time that it checks for cancellation.
@Suite struct WebPBeginningTests {
    private static let (width, height) = (24, 16)

    /// A lossless image with these chunks before its pixels, identified by the letters of RFC 9649.
    private static func file(behind chunks: [UInt8]) throws -> [UInt8] {
        let encoding = WebPEncoding(
            width: width, height: height, quality: 80, isLossless: true)
        let still = try encode(.gradient(width, height, bands: 3), encoding)
        let header = chunk(
            "VP8X", [0, 0, 0, 0, UInt8(width - 1), 0, 0, UInt8(height - 1), 0, 0])
        return riff(header + chunks + still[12...])
    }

    private static func riff(_ chunks: [UInt8], missing: Int = 0) -> [UInt8] {
        Array("RIFF".utf8) + little(4 + chunks.count + missing) + Array("WEBP".utf8) + chunks
    }

    private static func chunk(_ kind: String, _ body: [UInt8], missing: Int = 0) -> [UInt8] {
        Array(kind.utf8) + little(body.count + missing) + body
    }

    private static func little(_ number: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    /// The available rows, their pixels, and the number of steps that decoding took.
    private static func read(
        _ bytes: [UInt8], width: Int = width, height: Int = height
    ) throws -> (rows: Int, pixels: [UInt8], steps: Int) {
        var pixels = [UInt8](repeating: 0, count: 3 * width * height)
        var steps = 0
        let rows = try bytes.withUnsafeBytes { bytes in
            try pixels.withUnsafeMutableBytes { pixels in
                try WebPBeginning(bytes).read(into: pixels, width: width, height: height) {
                    steps += 1
                    return false
                }
            }
        }
        return (rows, pixels, steps)
    }

    @Test func manyChunksInFrontOfPixelsAreRefused() throws {
        let empty = Self.chunk("none", [])
        func file(_ count: Int) throws -> [UInt8] {
            try Self.file(behind: Array(repeatElement(empty, count: count).joined()))
        }
        let found = try Self.read(file(255))
        #expect(found.rows == Self.height)
        #expect(try found.pixels == decode(file(255)).samples)
        for count in [256, 100_000] {
            let error = #expect(throws: CodecError.self) { try Self.read(file(count)) }
            #expect(error?.kind == .tooLarge, "\(String(describing: error))")
            // The received ones are sufficient.
            let part = try Array(file(count).prefix(12 + 18 + 8 * 256))
            #expect(throws: CodecError.self) { try Self.read(part) }
        }
    }

    @Test func theFirstStepGoesToThePixels() throws {
        let large = Self.chunk("ICCP", [UInt8](repeating: 7, count: 1 << 20))
        let file = try Self.file(behind: large)
        let found = try Self.read(file)
        #expect(found.rows == Self.height && found.steps == 1)
        #expect(try found.pixels == decode(file).samples)
        for count in [file.count / 2, 12 + 18 + large.count, 12 + 18 + large.count + 8] {
            let part = try Self.read(Array(file.prefix(count)))
            #expect(part.rows == 0 && part.steps <= 1)
        }
    }

    /// All of its bytes belong to a transform, which is read from the start again until it is
    /// complete.
    @Test func stepsGrowAsLongAsThereIsNoRow() throws {
        var bits = LowBitsFirst()
        bits.put(0x2F, 8)
        for _ in 0..<2 { bits.put(4_095, 14) }
        bits.put(0, 4)
        // A predictor with blocks of 4 by 4, without a color cache.
        for (value, count) in [(1, 1), (0, 2), (0, 3), (0, 1)] { bits.put(value, count) }
        // Green: eight bits for each of the 256 values, none for the 24 lengths, with codes of one
        // bit.
        bits.put(0, 1)
        bits.put(12 - 4, 4)
        for length in [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1] { bits.put(length, 3) }
        bits.put(0, 1)
        for _ in 0..<256 { bits.put(0, 1) }
        bits.put(1, 1)
        bits.put(24 - 11, 7)
        // The other channels and distances are 0 without any bits.
        for _ in 0..<4 { bits.put(0b0001, 4) }
        let body = bits.bytes + [UInt8](repeating: 0x5A, count: 1_000_000)
        let missing = 1_000_000 + body.count % 2
        let bytes = Self.riff(
            Self.chunk("VP8L", body, missing: missing), missing: missing)
        let found = try Self.read(bytes, width: 1, height: 1)
        #expect(found.rows == 0)
        #expect((2...8).contains(found.steps), "\(found.steps)")
    }
}

/// Bits in the order of lossless WebP: least significant bit first.
private struct LowBitsFirst {
    private(set) var bytes: [UInt8] = []
    private var length = 0

    mutating func put(_ value: Int, _ count: Int) {
        for bit in 0..<count {
            if length % 8 == 0 { bytes.append(0) }
            bytes[length / 8] |= UInt8(value >> bit & 1) << UInt8(length % 8)
            length += 1
        }
    }
}
