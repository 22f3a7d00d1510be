import ImageModel
import Testing

@testable import Animation

/// The walk through a file, without its pixels.
@Suite struct AnimationMapTests {
    /// A GIF of two frames of one pixel, by the letters of its specification.
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

    @Test func aFrameSaysWhatItsFileSays() throws {
        let map = try Self.map(Self.gif)
        #expect(map.loops == 1)
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

    @Test func whatIsNoFrameEndsTheWalk() throws {
        var bytes = Self.gif
        bytes[bytes.count - 1] = 0x7F
        let map = try Self.map(bytes)
        #expect(map.end == .broken)
        #expect(map.frames.count == 2)
    }
}
