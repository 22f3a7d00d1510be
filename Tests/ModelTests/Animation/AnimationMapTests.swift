import Testing

@testable import Model

/// Scanning a file for its frames without decoding pixels.
@Suite struct AnimationMapTests {
    /// A GIF of two one-pixel frames, written byte by byte from the specification.
    private static let gif: [UInt8] =
        Array("GIF89a".utf8) + [2, 0, 1, 0, 0x80, 0, 0] + [255, 0, 0, 0, 0, 255]
        + [0x21, 0xF9, 4, 0x08, 2, 0, 0, 0]
        + [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0] + [2, 2, 0x44, 1, 0]
        + [0x21, 0xFE, 3, 65, 66, 67, 0]
        + [0x21, 0xF9, 4, 0x0D, 0, 0, 1, 0]
        + [0x2C, 1, 0, 0, 0, 1, 0, 1, 0, 0] + [2, 2, 0x44, 1, 0] + [0x3B]

    private static func map(_ bytes: [UInt8], framesMax: Int = 9) throws -> AnimationMap {
        let map = AnimationMap(bytes.span, framesMax: framesMax)
        return try #require(map)
    }

    @Test func framesGrowWithTheBytesAndNeverFall() throws {
        var (counts, ends): ([Int], [AnimationMap.End]) = ([], [])
        for count in 0...Self.gif.count {
            let map = AnimationMap(Self.gif.span.extracting(first: count), framesMax: 9)
            counts.append(map?.frames.count ?? 0)
            ends.append(map?.end ?? .cut)
        }
        #expect(counts == counts.sorted())
        #expect(counts.last == 2)
        #expect(ends.dropLast().allSatisfy { $0 == .cut })
        #expect(ends.last == .whole)
    }

    /// Browsers show nothing new for the duration of the frame and continue.
    @Test func aFrameOfNoSizeIsAFrame() throws {
        let start = try #require(Self.gif.firstIndex(of: 0x2C))
        for side in [5, 7] {
            var bytes = Self.gif
            bytes[start + side] = 0
            let map = try Self.map(bytes)
            #expect(map.frames.count == 2 && map.end == .whole)
            #expect(map.frames.map(\.duration) == [20_000, 100_000])
            #expect(map.frames.map(\.area.size.isPositive) == [false, true])
        }
    }

    /// Browsers read the number as repetitions; 0 means endless.
    @Test(arguments: [(0, 0), (1, 2), (2, 3), (65_535, 65_536)])
    func aGIFStatesRepetitions(number: Int, plays: Int) throws {
        for name in ["NETSCAPE2.0", "ANIMEXTS1.0"] {
            let low = UInt8(number & 0xFF)
            let block = [0x21, 0xFF, 11] + Array(name.utf8) + [3, 1, low, UInt8(number >> 8), 0]
            let map = try Self.map(Array(Self.gif[..<19]) + block + Self.gif[19...])
            #expect(map.frames.count == 2 && map.loops == number && map.plays == plays)
        }
    }

    @Test func aFrameSaysWhatItsFileSays() throws {
        let map = try Self.map(Self.gif)
        #expect(map.loops == 1 && map.plays == 1)
        #expect(map.canvas == PixelSize(width: 2, height: 1))
        #expect(map.frames.map(\.duration) == [20_000, 100_000])
        #expect(map.frames.map(\.disposal) == [.clear, .restore])
        #expect(map.frames.map(\.mayBeTransparent) == [false, true])
        #expect(map.frames.map(\.area.x) == [0, 1])
        #expect(map.duration == 120_000)
    }

    @Test func moreFramesThanAskedForAreNotLookedAt() throws {
        let map = try Self.map(Self.gif, framesMax: 1)
        #expect(map.frames.count == 1)
        #expect(map.end == .limit)
    }

    /// A format permits one chunk of each kind; further ones need not be copied for every frame.
    @Test func ofWhatAllFramesShareTheFirstOneCounts() throws {
        func chunk(_ kind: String, _ body: [UInt8]) -> [UInt8] {
            Array(kind.utf8) + little(body.count) + body
        }
        let profiles = (0..<1_000).flatMap { _ in chunk("ICCP", [1, 2, 3, 4]) }
        let frame = [UInt8](repeating: 0, count: 16) + chunk("VP8L", [0, 0])
        let chunks =
            chunk("VP8X", [0x22, 0, 0, 0, 1, 0, 0, 1, 0, 0]) + chunk("ICCP", [9, 9]) + profiles
            + chunk("ANMF", frame) + chunk("ICCP", [7, 7])
        let webP =
            Array("RIFF".utf8) + little(4 + chunks.count) + Array("WEBP".utf8) + chunks
        let map = try Self.map(webP)
        #expect(map.end == .whole && map.frames.count == 1)
        #expect(map.shared == [30..<40] && map.sharedBytes == 10)
    }

    @Test func ofEachKindOfChunkAPNGHasOne() throws {
        func chunk(_ kind: String, _ body: [UInt8]) -> [UInt8] {
            big(body.count) + Array(kind.utf8) + body + [0, 0, 0, 0]
        }
        let one = [UInt8](repeating: 0, count: 3) + [1]
        let header = chunk("IHDR", one + one + [8, 3, 0, 0, 0])
        let control = chunk("fcTL", little(0) + one + one + [UInt8](repeating: 0, count: 14))
        let many = (0..<1_000).flatMap { _ in
            chunk("PLTE", [1, 1, 1]) + chunk("tRNS", [1]) + chunk("gAMA", one)
        }
        let png =
            [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + header
            + chunk("acTL", one + little(0)) + chunk("gAMA", little(7)) + many
            + control + many + chunk("IDAT", [1]) + chunk("IEND", [])
        let map = try Self.map(png)
        #expect(map.end == .whole && map.frames.count == 1)
        #expect(map.frames[0].mayBeTransparent)
        #expect(map.shared.map { png[$0.lowerBound + 4] } == [0x67, 0x50, 0x74])
        #expect(map.shared.map(\.count) == [16, 15, 13] && map.sharedBytes == 44)
    }

    @Test func whatIsNoFrameEndsTheWalk() throws {
        var bytes = Self.gif
        bytes[bytes.count - 1] = 0x7F
        let map = try Self.map(bytes)
        #expect(map.end == .broken)
        #expect(map.frames.count == 2)
    }
}
