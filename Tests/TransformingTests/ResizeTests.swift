import Model
import Testing
import Vips

@testable import Transforming

@Suite struct ResizeTests {
    @Test(arguments: [
        (ResizeMode.fit, 60, 30), (.fill, 60, 60), (.stretch, 60, 60), (.letterbox, 60, 60),
        (.cover, 120, 60), (.auto, 120, 60), (.reshape, 60, 60),
    ])
    func eachModeHasItsSize(mode: ResizeMode, width: Int, height: Int) throws {
        let result = try transform(.quarters(200, 100), [.resize(box(60, 60), mode)])
        #expect(result.size == box(width, height))
        #expect(result.header.hasAlpha == (mode == .letterbox))
    }

    @Test func fitKeepsTheRatioAndNeverEnlarges() throws {
        #expect(
            try transform(.quarters(200, 100), [.resize(box(50, 50), .fit)]).size == box(50, 25))
        #expect(
            try transform(.quarters(200, 100), [.resize(box(500, 500), .fit)]).size
                == box(200, 100))
        #expect(try transform(.quarters(500, 3), [.resize(box(50, 50), .fit)]).size == box(50, 1))
    }

    @Test func letterboxCentersInTransparentMarginsAndEnlarges() throws {
        let result = try transform(.quarters(20, 10), [.resize(box(60, 60), .letterbox)])
        #expect(result.pixel(30, 5) == [0, 0, 0, 0])
        #expect(result.pixel(30, 54) == [0, 0, 0, 0])
        #expect(result.pixel(5, 20) == [40, 40, 40, 255])
        #expect(result.pixel(55, 40) == [220, 220, 220, 255])
        #expect(result.pixel(5, 14)[3] == 0)
        #expect(result.pixel(5, 15)[3] == 255)
        #expect(result.pixel(5, 44)[3] == 255)
        #expect(result.pixel(5, 45)[3] == 0)
    }

    @Test func fillCutsTheMiddleOut() throws {
        // Columns 0 to 199 have their number as value; the middle 100 are selected and halved.
        let ramp = Source(200, 100) { x, _, _ in x }
        let result = try transform(ramp, [.resize(box(50, 50), .fill)])
        #expect(result.size == box(50, 50))
        for x in [1, 25, 48] {
            #expect(abs(Double(result.pixel(x, 25)[0]) - (50 + 2 * Double(x) + 0.5)) <= 1)
        }
    }

    @Test func stretchChangesTheRatio() throws {
        let result = try transform(.quarters(40, 80), [.resize(box(100, 30), .stretch)])
        #expect(result.size == box(100, 30))
        #expect(result.quarters == [0, 1, 2, 3])
    }

    /// A resize must not shift ramps: each result has the value of its center, as long as the
    /// filter's three lobes do not extend beyond the edges.
    @Test(arguments: [
        (250, 100), (250, 99), (250, 249), (250, 33), (250, 7), (100, 250), (99, 100),
    ])
    func pixelsStayWhereTheyAre(from: Int, to: Int) throws {
        let factor = Double(from) / Double(to)
        for bands in [PixelPlane.Bands.rgb, .rgba] {
            let ramp = Source(from, 8, bands) { x, _, band in band == 3 ? 255 : x }
            let result = try transform(ramp, [.resize(box(to, 8), .stretch)])
            for x in 0..<to {
                let wanted = (Double(x) + 0.5) * factor - 0.5
                let reach = 3 * max(1, factor)
                guard wanted > reach, wanted < Double(from) - reach else { continue }
                #expect(abs(Double(result.pixel(x, 4)[0]) - wanted) <= 0.75, "\(x)")
            }
        }
    }

    /// The decoder reduced 2725 columns to 681.25, stored in 682; the ramp is in columns of the
    /// source.
    @Test func aReducedSourceCountsAsItsFullSizeAndNothingMoves() throws {
        var source = Source(682, 557) { x, _, _ in (x * 255 + 340) / 681 }
        source.info.size = box(2725, 2225)
        source.layout.planes[0].activeWidth = 681.25
        source.layout.planes[0].activeHeight = 556.25
        let result = try transform(source, [.resize(box(512, 512), .fit)])
        #expect(result.size == box(512, 418))
        for x in [10, 256, 500] {
            let wanted = ((Double(x) + 0.5) * 681.25 / 512 - 0.5) * 255 / 681
            #expect(abs(Double(result.pixel(x, 100)[0]) - wanted) <= 1)
        }
    }

    @Test func aReducedSourceWithoutAResizeBecomesAsLargeAsItCounts() throws {
        var source = Source.quarters(100, 50)
        source.info.size = box(399, 199)
        source.layout.planes[0].activeWidth = 99.75
        source.layout.planes[0].activeHeight = 49.75
        #expect(try transform(source, []).size == box(399, 199))
        let cropped = try transform(
            source, [.crop(PixelRect(x: 300, y: 0, size: box(200, 10)))])
        #expect(cropped.size == box(99, 10))
        #expect(cropped.pixel(50, 5)[0] == 100)
    }

    @Test func colorsOfTransparentPixelsDoNotShow() throws {
        // Opaque white next to transparent black: the edge stays white, only less opaque.
        let source = Source(64, 8, .rgba) { x, _, band in
            x < 30 ? 255 : (band == 3 ? 0 : 0)
        }
        let result = try transform(source, [.resize(box(16, 8), .stretch)])
        let edge = result.pixel(7, 4)
        #expect(edge[3] > 20 && edge[3] < 235)
        #expect(edge[0] > 245)
    }

    @Test func theBoxIsCheckedAgainstTheLimits() {
        let limits = ImageLimits(sideMax: 300, pixelsMax: 50_000)
        let source = Source.quarters(100, 100)
        for (size, limit) in [(box(301, 10), "sideMax"), (box(230, 230), "pixelsMax")] {
            let error = failure(source, [.resize(size, .stretch)], limits: limits)
            #expect(error?.code == .limitExceeded)
            #expect(error?.details["limit"] == limit)
            #expect(error?.details["step"] == "resize")
        }
        let empty = failure(source, [.resize(box(0, 0), .stretch)])
        #expect(empty?.code == .stepFailed)
    }

    /// A narrow strip becomes far larger than its box before it is cropped: only the kept part
    /// counts.
    @Test(arguments: [
        TransformStep.resize(PixelSize(width: 100, height: 100), .fill),
        .resizeTo(
            RelativeSize(width: .pixels(100), height: .pixels(100)), .fill, enlarges: true,
            least: PixelSize(width: 0, height: 0), .center),
    ])
    func ofAStripOnlyThePartThatFillsTheBoxCounts(step: TransformStep) throws {
        let limits = ImageLimits(sideMax: 2_000, pixelsMax: 100_000)
        let ramp = Source(50, 1_400, .rgb) { _, y, band in band == 0 ? y / 7 : 99 }
        let result = try transform(ramp, [step], limits: limits)
        #expect(result.size == box(100, 100))
        // Rows 675 to 725 of the strip are shown.
        for row in [5, 50, 94] {
            let expected = (675 + Double(row) / 2) / 7
            #expect(abs(Double(result.pixel(50, row)[0]) - expected) < 1.5, "\(row)")
        }
        let tall = failure(ramp, [.resize(box(100, 100), .cover)], limits: limits)
        #expect(tall?.code == .limitExceeded)
    }

    private func box(_ width: Int, _ height: Int) -> PixelSize {
        PixelSize(width: width, height: height)
    }
}
