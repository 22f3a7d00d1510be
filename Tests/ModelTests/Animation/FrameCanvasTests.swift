import Testing

@testable import Model

/// Which frames are decoded for another one, and that a canvas survives an undecodable frame.
@Suite struct FrameCanvasTests {
    private static let canvas = PixelSize(width: 2, height: 1)

    private static func frame(
        _ disposal: FrameRecord.Disposal, whole: Bool = false, opaque: Bool = true
    ) -> FrameRecord {
        FrameRecord(
            area: PixelRect(x: 0, y: 0, size: PixelSize(width: whole ? 2 : 1, height: 1)),
            duration: 100_000, disposal: disposal, blending: .over, mayBeTransparent: !opaque,
            parts: [])
    }

    private static func map(_ frames: [FrameRecord]) -> AnimationMap {
        var map = AnimationMap(.gif, canvas: canvas, plays: 0)
        map.frames = frames
        return map
    }

    /// For each wanted frame in turn, the frames that are decoded for it.
    private func decoded(_ frames: [FrameRecord], for wanted: [Int]) -> [[Int]] {
        let map = Self.map(frames)
        var canvas = FrameCanvas(map)
        return wanted.map { index in
            var asked: [Int] = []
            let pixels = canvas.decodedPixels(for: index)
            _ = canvas.show(index) { index in
                asked.append(index)
                let area = map.frames[index].area.size
                return [UInt8](repeating: UInt8(index + 1), count: 4 * area.width * area.height)
            }
            let sizes = asked.map { map.frames[$0].area.size }
            #expect(pixels == sizes.reduce(0) { $0 + $1.width * $1.height }, "known before")
            return asked
        }
    }

    @Test func inOrderEachIsDecodedOnce() {
        let frames = [Self.frame(.keep), Self.frame(.keep), Self.frame(.clear), Self.frame(.keep)]
        #expect(decoded(frames, for: [0, 1, 2, 3]) == [[0], [1], [2], [3]])
    }

    @Test func whatLeavesNothingIsNotDecodedOnTheWay() {
        let frames = [
            Self.frame(.keep), Self.frame(.restore), Self.frame(.clear), Self.frame(.keep),
        ]
        #expect(decoded(frames, for: [3]) == [[0, 3]])
    }

    @Test func aFrameThatHidesAllIsABeginning() {
        let frames = [
            Self.frame(.keep), Self.frame(.keep, whole: true), Self.frame(.keep),
            Self.frame(.keep, whole: true, opaque: false), Self.frame(.clear, whole: true),
            Self.frame(.keep),
        ]
        #expect(decoded(frames, for: [2]) == [[1, 2]])
        #expect(decoded(frames, for: [3]) == [[1, 2, 3]])
        #expect(decoded(frames, for: [5]) == [[5]])
    }

    @Test func whatIsBroughtBackIsNotWhatHidAll() {
        let frames = [
            Self.frame(.keep, whole: true), Self.frame(.restore, whole: true), Self.frame(.keep),
        ]
        #expect(decoded(frames, for: [1]) == [[1]])
        #expect(decoded(frames, for: [2]) == [[0, 2]])
    }

    @Test func goingBackBeginsAnew() {
        let frames = [Self.frame(.keep), Self.frame(.keep), Self.frame(.keep)]
        #expect(decoded(frames, for: [2, 1, 2]) == [[0, 1, 2], [0, 1], [2]])
    }

    @Test func aFrameThatFailsHarmsNoOther() throws {
        struct Broken: Error {}
        let map = Self.map([Self.frame(.keep), Self.frame(.keep), Self.frame(.keep)])
        var canvas = FrameCanvas(map)
        func pixels(_ index: Int) throws(Broken) -> [UInt8] {
            guard index != 1 else { throw Broken() }
            return [UInt8(index), 0, 0, 255]
        }
        #expect(try canvas.show(0, decode: pixels).prefix(4) == [0, 0, 0, 255])
        #expect(throws: Broken.self) { try canvas.show(2, decode: pixels) }
        #expect(try canvas.show(0, decode: pixels).prefix(4) == [0, 0, 0, 255])
    }

    /// Half-transparent red over half-transparent green, computed with the specification's formula
    /// in fractions.
    @Test func alphaOverAlphaIsTheFormulaCutOff() {
        var map = Self.map([Self.frame(.keep, opaque: false), Self.frame(.keep, opaque: false)])
        map.canvas = PixelSize(width: 1, height: 1)
        for (above, below) in [(1, 1), (60, 128), (128, 60), (200, 254), (254, 1)] {
            var canvas = FrameCanvas(map)
            let colors: [[UInt8]] = [[10, 200, 30, UInt8(below)], [250, 0, 31, UInt8(above)]]
            _ = canvas.show(0) { colors[$0] }
            let shown = canvas.show(1) { colors[$0] }
            let (a, b) = (Double(above) / 255, Double(below) / 255)
            let alpha = a + b * (1 - a)
            for band in 0..<3 {
                let (over, under) = (Double(colors[1][band]), Double(colors[0][band]))
                let wanted = (over * a + under * b * (1 - a)) / alpha
                #expect((-0.001..<1.001).contains(wanted - Double(shown[band])))
            }
            #expect((-0.001..<1.001).contains(255 * alpha - Double(shown[3])))
        }
    }
}
