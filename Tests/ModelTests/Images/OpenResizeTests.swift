import Model
import TestKit
import Testing

/// Sizes of resizes, compared with formulas in floating point.
@Suite struct OpenResizeTests {
    private static let count = 5_000

    /// Calls the body with random sizes of images and boxes, small and large.
    private func forEach(
        open: Bool = false, _ body: (_ source: PixelSize, _ box: PixelSize) throws -> Void
    ) rethrows {
        var random = SeededGenerator(seed: 42)
        func side() -> Int {
            Int.random(
                in: 1...([9, 300, 4_000, 32_767].randomElement(using: &random) ?? 1), using: &random
            )
        }
        for round in 0..<Self.count {
            let source = PixelSize(width: side(), height: side())
            var box = PixelSize(width: side(), height: side())
            if open, round % 2 == 0 { box.width = 0 } else if open { box.height = 0 }
            try body(source, box)
        }
    }

    /// The scale of upstream's modes (`CGRectFitWithScaleMode`), at most 1 unless images are
    /// enlarged.
    private func scale(
        _ source: PixelSize, _ box: PixelSize, _ mode: ResizeMode, _ enlarges: Bool
    ) -> Double {
        let across = Double(box.width) / Double(source.width)
        let down = Double(box.height) / Double(source.height)
        let scale = mode == .fill ? max(across, down) : min(across, down)
        return enlarges ? scale : min(1, scale)
    }

    private func isRounded(_ side: Int, _ exact: Double) -> Bool {
        side == 1 && exact < 1 || abs(Double(side) - exact) <= 0.5 + 1e-9 * exact
    }

    @Test(arguments: [ResizeMode.fit, .fill, .letterbox], [false, true])
    func theRatioIsKeptToHalfAPixel(mode: ResizeMode, enlarges: Bool) {
        forEach { source, box in
            let geometry = ResizeGeometry(
                source: source, box: box, mode: mode, enlarges: enlarges)
            let scale = scale(source, box, mode, enlarges)
            let (width, height) = (Double(source.width) * scale, Double(source.height) * scale)
            #expect(isRounded(geometry.scaled.width, width), "\(source) \(box)")
            #expect(isRounded(geometry.scaled.height, height), "\(source) \(box)")
            switch mode {
            case .letterbox: #expect(geometry.output == box)
            case .fill where enlarges: #expect(geometry.output == box)
            case .fill:
                #expect(geometry.output.width == min(box.width, geometry.scaled.width))
                #expect(geometry.output.height == min(box.height, geometry.scaled.height))
            default: #expect(geometry.output == geometry.scaled)
            }
        }
    }

    @Test func aStretchIsTheBoxOrLess() {
        forEach { source, box in
            let all = ResizeGeometry(source: source, box: box, mode: .stretch)
            #expect(all.output == box && all.scaled == box)
            let less = ResizeGeometry(source: source, box: box, mode: .stretch, enlarges: false)
            #expect(less.output.width == min(box.width, source.width))
            #expect(less.output.height == min(box.height, source.height))
            #expect(less.scaled == less.output)
        }
    }

    @Test(arguments: ResizeMode.allCases, [false, true])
    func anOpenSideFollowsFromTheOtherOne(mode: ResizeMode, enlarges: Bool) {
        forEach(open: true) { source, box in
            let geometry = ResizeGeometry(
                source: source, box: box, mode: mode, enlarges: enlarges)
            let exact =
                box.width > 0
                ? Double(box.width) / Double(source.width)
                : Double(box.height) / Double(source.height)
            let scale = enlarges ? exact : min(1, exact)
            #expect(isRounded(geometry.output.width, Double(source.width) * scale))
            #expect(isRounded(geometry.output.height, Double(source.height) * scale))
            if enlarges || exact <= 1 {
                #expect(geometry.output.width == box.width || geometry.output.height == box.height)
            } else {
                #expect(geometry.output == source)
            }
            #expect(geometry.scaled == geometry.output)
        }
    }

    /// A reduced decode has all pixels that the resize needs.
    @Test(arguments: ResizeMode.allCases, [false, true])
    func aReducedImageStillCoversTheResize(mode: ResizeMode, enlarges: Bool) {
        for open in [false, true] {
            forEach(open: open) { source, box in
                var request = ImageRequest(url: "http://h/a.jpg")
                request.steps = [.resize(box, mode, enlarges: enlarges)]
                let shrink = DecodeNeed(request).shrink(for: source, permitted: [1, 2, 4, 8])
                let wanted = ResizeGeometry(
                    source: source, box: box, mode: mode, enlarges: enlarges
                ).scaled
                #expect((source.width + shrink - 1) / shrink >= min(wanted.width, source.width))
                #expect(
                    (source.height + shrink - 1) / shrink >= min(wanted.height, source.height))
            }
        }
    }

    @Test(arguments: [
        ("300x", 300, 0), ("x200", 0, 200), ("300x200", 300, 200), ("32767x", 32_767, 0),
    ])
    func aBoxMayLeaveASideOut(text: String, width: Int, height: Int) {
        #expect(PixelSize(box: text) == PixelSize(width: width, height: height))
    }

    @Test(arguments: ["", "x", "300", "0x", "x0", "-1x", "32768x", "x32768", "3x4x", "xx3", "300X"])
    func otherTextsAreNoBox(text: String) { #expect(PixelSize(box: text) == nil) }

    /// The size of a result can be checked before its source is known only if it is the same for
    /// all sources.
    @Test func limitsAreThoseOfWhatIsKnown() throws {
        let large = PixelSize(width: 20_000, height: 20_000)
        let open = PixelSize(width: 32_767, height: 0)
        func code(_ step: TransformStep) -> ErrorCode? {
            do throws(ImageError) {
                try step.form.check(pixelsMax: 1_000_000)
                return nil
            } catch {
                return error.code
            }
        }
        for step: TransformStep in [
            .resize(large, .fit), .resize(large, .fit, enlarges: true), .resize(open, .fill),
            .resize(large, .fill, enlarges: false), .resize(large, .stretch, enlarges: false),
        ] {
            #expect(code(step) == nil)
        }
        for step: TransformStep in [
            .resize(large, .letterbox, enlarges: false), .resize(large, .fill),
            .resize(PixelSize(width: 32_768, height: 0), .fit),
        ] {
            #expect(code(step) == .limitExceeded)
        }
        for box in [(0, 0), (-1, 0), (0, -1), (-1, 5)] {
            let step = TransformStep.resize(PixelSize(width: box.0, height: box.1), .fit)
            #expect(code(step) == .invalidRequest)
            #expect(step.size(after: large) == nil)
        }
    }
}
