import Model
import Testing
import Vips

@Suite struct OverlayTests {
    private let base = Source(40, 20) { _, _, _ in 100 }
    private let red = Source(10, 6) { _, _, band in band == 0 ? 255 : 0 }

    private func lay(
        _ over: Source, on base: Source, x: Int = 0, y: Int = 0, opacity: Double = 1
    ) throws -> Transformed {
        try transform(
            base, [.overlay(Overlay(url: "", x: x, y: y, opacity: opacity))], overlays: [over])
    }

    private func isClose(_ pixel: [Int], _ wanted: [Int]) -> Bool {
        pixel.count == wanted.count && zip(pixel, wanted).allSatisfy { abs($0 - $1) <= 1 }
    }

    @Test(arguments: [
        (0, 0, 0, 0), (3, 4, 3, 4), (-1, -1, 29, 13), (-5, 2, 25, 2), (35, 18, 35, 18),
    ])
    func placesCountFromTheEdges(x: Int, y: Int, left: Int, top: Int) throws {
        let result = try lay(red, on: base, x: x, y: y)
        #expect(result.size == PixelSize(width: 40, height: 20))
        #expect(result.header.bands == 3)
        for row in 0..<20 {
            for column in 0..<40 {
                let isOver =
                    (left..<(left + 10)).contains(column) && (top..<(top + 6)).contains(row)
                let wanted = isOver ? [255, 0, 0] : [100, 100, 100]
                #expect(isClose(result.pixel(column, row), wanted), "\(column), \(row)")
            }
        }
    }

    @Test func whatLiesOutsideIsLeftOut() throws {
        #expect(try lay(red, on: base, x: 40).pixel(39, 0) == [100, 100, 100])
        #expect(try lay(red, on: base, x: -40, y: 0).pixel(0, 0) == [100, 100, 100])
        let large = Source(100, 100) { _, _, _ in 7 }
        let covered = try lay(large, on: base, x: -1, y: -1)
        #expect(isClose(covered.pixel(0, 0), [7, 7, 7]))
        #expect(isClose(covered.pixel(39, 19), [100, 100, 100]))
    }

    @Test(arguments: [(0.0, 100, 100), (0.5, 178, 50), (1.0, 255, 0)])
    func opacityMixes(opacity: Double, red: Int, green: Int) throws {
        let result = try lay(self.red, on: base, opacity: opacity)
        #expect(isClose(result.pixel(2, 2), [red, green, green]))
    }

    @Test func alphaOfTheOverlayCounts() throws {
        let veil = Source(10, 6, .rgba) { x, _, band in band == 3 ? (x < 5 ? 0 : 128) : 200 }
        let result = try lay(veil, on: base)
        #expect(isClose(result.pixel(2, 2), [100, 100, 100]))
        #expect(isClose(result.pixel(7, 2), [150, 150, 150]))
        let faint = try lay(veil, on: base, opacity: 0.5)
        #expect(isClose(faint.pixel(7, 2), [125, 125, 125]))
    }

    @Test func aTransparentImageStaysSo() throws {
        let clear = Source(40, 20, .rgba) { _, _, _ in 0 }
        let result = try lay(red, on: clear, x: 5)
        #expect(result.header.hasAlpha)
        #expect(result.pixel(0, 0)[3] == 0)
        #expect(isClose(result.pixel(6, 1), [255, 0, 0, 255]))
    }

    @Test func grayBecomesColor() throws {
        let gray = Source(40, 20, .gray) { _, _, _ in 100 }
        let result = try lay(red, on: gray)
        #expect(isClose(result.pixel(0, 0), [255, 0, 0]))
        #expect(isClose(result.pixel(30, 15), [100, 100, 100]))
        let dark = Source(10, 6, .gray) { _, _, _ in 30 }
        #expect(isClose(try lay(dark, on: base).pixel(1, 1), [30, 30, 30]))
    }

    @Test func stepsBeforeItMakeWhatItIsLaidOver() throws {
        let result = try transform(
            base,
            [
                .resize(PixelSize(width: 20, height: 10), .stretch),
                .overlay(Overlay(url: "", x: -1, y: -1)),
                .flip(horizontal: true, vertical: false),
            ], overlays: [red])
        #expect(result.size == PixelSize(width: 20, height: 10))
        #expect(isClose(result.pixel(1, 5), [255, 0, 0]))
        #expect(isClose(result.pixel(0, 5), [100, 100, 100]))
    }

    @Test func eachStepLaysItsOwn() throws {
        let blue = Source(2, 2) { _, _, band in band == 2 ? 255 : 0 }
        let result = try transform(
            base, [.overlay(Overlay(url: "")), .overlay(Overlay(url: "", x: 1, y: 1))],
            overlays: [red, blue])
        #expect(isClose(result.pixel(0, 0), [255, 0, 0]))
        #expect(isClose(result.pixel(1, 1), [0, 0, 255]))
    }

    @Test func aJobWithOtherOverlaysThanStepsIsADefect() {
        #expect(throws: ImageError.self) { try transform(base, [], overlays: [red]) }
        #expect(throws: ImageError.self) {
            try transform(base, [.overlay(Overlay(url: ""))])
        }
    }
}
