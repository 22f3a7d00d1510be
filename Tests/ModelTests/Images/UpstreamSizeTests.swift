import Model
import TestKit
import Testing

/// Random sizes compared with upstream's formulas. Computed sides are rounded half up
/// (SEMANTICS §11.6); upstream rounds up in one case and leaves rounding to its platform in others.
/// So a side is the integer nearest to the formula, and differs from upstream's by at most one
/// pixel.
@Suite struct UpstreamSizeTests {
    private static let count = 5_000

    /// Calls the body with an image and a box, sometimes of the same ratio or very thin.
    private func each(
        _ seed: UInt64, _ body: (PixelSize, PixelSize, inout SeededGenerator) -> Void
    ) {
        var random = SeededGenerator(seed: seed)
        for number in 0..<Self.count {
            let most = [20, 400, 5_000, 32_767][number % 4]
            func side(_ random: inout SeededGenerator) -> Int {
                random.happens(5) ? 1 : Int.random(in: 1...most, using: &random)
            }
            let image = PixelSize(width: side(&random), height: side(&random))
            var box = PixelSize(width: side(&random), height: side(&random))
            if random.happens(10) {
                let factor = Int.random(in: 1...3, using: &random)
                box = PixelSize(width: image.width * factor, height: image.height * factor)
            }
            body(image, box, &random)
        }
    }

    /// Whether a side is the integer nearest to `part / of`, rounded half up, at least 1 and at
    /// most `most`.
    private func isNearest(_ side: Int, _ part: Int, over of: Int, most: Int = .max) -> Bool {
        if side == 1 && 2 * part < 3 * of { return true }
        if side == most { return 2 * part >= (2 * most - 1) * of }
        return 2 * part >= (2 * side - 1) * of && 2 * part < (2 * side + 1) * of
    }

    private func isWithinOne(_ size: PixelSize, of other: PixelSize) -> Bool {
        abs(size.width - other.width) <= 1 && abs(size.height - other.height) <= 1
    }

    private func thumbnail(
        _ image: PixelSize, _ box: PixelSize, preserves: Bool
    ) -> PixelSize? {
        var request = ImageRequest(url: "http://origin.test/a.jpg")
        request.thumbnail = Thumbnail(box: box, preservesAspectRatio: preserves)
        return request.allSteps.first?.form.size(after: image)
    }

    @Test func aThumbnailThatKeepsItsShapeIsThatOfUpstream() {
        each(1) { image, box, _ in
            guard let size = thumbnail(image, box, preserves: true) else {
                Issue.record("\(image) in \(box): no thumbnail")
                return
            }
            let upstream = UpstreamSizes.scaled(image, box, preserves: true, enlarges: false)
            #expect(isWithinOne(size, of: upstream), "\(image) in \(box): \(size), \(upstream)")
            if image.width <= box.width && image.height <= box.height {
                #expect(size == image, "\(image) in \(box): \(size)")
            } else if size.width == box.width {
                #expect(
                    size.height == box.height
                        || isNearest(size.height, image.height * box.width, over: image.width),
                    "\(image) in \(box): \(size)")
            } else {
                #expect(size.height == box.height, "\(image) in \(box): \(size)")
                #expect(
                    isNearest(size.width, image.width * box.height, over: image.height),
                    "\(image) in \(box): \(size)")
            }
        }
    }

    /// Upstream never enlarges a side here; ours is always the box (CASES, 86). Both agree exactly
    /// if the image has at least as many columns and rows as the box.
    @Test func aThumbnailWithoutItsShapeIsAlwaysTheBox() {
        each(2) { image, box, _ in
            let size = thumbnail(image, box, preserves: false)
            #expect(size == box)
            let upstream = UpstreamSizes.scaled(image, box, preserves: false, enlarges: false)
            let covers = image.width >= box.width && image.height >= box.height
            #expect((size == upstream) == covers, "\(image) in \(box): \(upstream)")
        }
    }

    /// Upstream's three modes; `OpenResizeTests` has the place of the image in the box.
    @Test(arguments: [ResizeMode.stretch, .letterbox, .fill])
    func aResizeIsExactlyTheBox(mode: ResizeMode) {
        each(3 + UInt64(mode.rawValue)) { image, box, _ in
            #expect(TransformStep.resize(box, mode).form.size(after: image) == box)
        }
    }

    /// Our own mode: inside the box, and no larger than the image.
    @Test func aFitIsTheSmallerOfImageAndLetterbox() {
        each(7) { image, box, _ in
            let size = TransformStep.resize(box, .fit).form.size(after: image)
            let inner = ResizeGeometry(source: image, box: box, mode: .letterbox).scaled
            let isSmaller = image.width <= box.width && image.height <= box.height
            #expect(size == (isSmaller ? image : inner), "\(image) in \(box)")
        }
    }

    /// Resizes with one open side.
    @Test func anOpenSideFollowsTheRatio() {
        each(8) { image, box, _ in
            let wide = TransformStep.resize(PixelSize(width: box.width, height: 0), .stretch)
            let high = TransformStep.resize(PixelSize(width: 0, height: box.height), .stretch)
            if let size = wide.form.size(after: image) {
                #expect(size.width == box.width)
                #expect(isNearest(size.height, image.height * box.width, over: image.width))
            }
            if let size = high.form.size(after: image) {
                #expect(size.height == box.height)
                #expect(isNearest(size.width, image.width * box.height, over: image.height))
            }
        }
    }

    @Test func aCropIsTheIntersection() {
        each(9) { image, box, random in
            let rect = PixelRect(
                x: Int.random(in: (-2 * image.width)...(2 * image.width), using: &random),
                y: Int.random(in: (-2 * image.height)...(2 * image.height), using: &random),
                size: box)
            let upstream = UpstreamSizes.cropped(rect, image)
            #expect(rect.intersection(with: image) == upstream, "\(rect) of \(image)")
            #expect(TransformStep.crop(rect).form.size(after: image) == upstream?.size)
        }
    }

    @Test func aTurnHoldsItsCornersWithNoPixelToSpare() {
        each(10) { image, _, random in
            let radians = Double.random(in: -7...7, using: &random)
            let upstream = UpstreamSizes.turned(image, radians)
            let whole = Rotation(radians: radians, fitsSize: true)
            guard let size = whole.size(of: image) else {
                Issue.record("no size after \(radians)")
                return
            }
            let (width, height) = (Double(size.width), Double(size.height))
            #expect(
                width >= upstream.width - 1e-5 && width < upstream.width + 1
                    && height >= upstream.height - 1e-5 && height < upstream.height + 1,
                "\(image) by \(radians): \(size), \(upstream)")
            #expect(Rotation(radians: radians, fitsSize: false).size(of: image) == image)
            let turns = Int.random(in: -5...5, using: &random)
            let quarter = Rotation(radians: Double(turns) * .pi / 2, fitsSize: true)
            #expect(
                quarter.size(of: image)
                    == (turns % 2 == 0
                        ? image : PixelSize(width: image.height, height: image.width)))
        }
    }

    /// P = bytes / 4; √(P / r) and that times r, both rounded down and at least 1; used if smaller
    /// than the image.
    @Test func aLimitOfBytesIsThatOfUpstream() {
        each(11) { image, _, random in
            let most = random.happens(30) ? 5_000 : 4 * image.width * image.height + 100
            let bytes = Int.random(in: 1...most, using: &random)
            let pixels = bytes / 4
            guard let size = TransformStep.scaleDown(bytes: bytes).form.size(after: image) else {
                Issue.record("\(bytes) bytes of \(image): no size")
                return
            }
            guard image.width * image.height > pixels else {
                #expect(size == image, "\(bytes) bytes of \(image): \(size)")
                return
            }
            #expect(
                size.width * size.height <= max(pixels, size.width, size.height)
                    && size.width <= image.width && size.height <= image.height,
                "\(bytes) bytes of \(image): \(size)")
            // In integers: the next larger side has more pixels at the ratio of the image.
            let ratio = Double(image.height) / Double(image.width)
            let columns = (Double(pixels) / ratio).squareRoot()
            let box = PixelSize(
                width: max(1, Int(columns)), height: max(1, Int(columns * ratio)))
            let next = box.width + 1
            #expect(next * next * image.height >= pixels * image.width)
            let upstream = UpstreamSizes.scaled(image, box, preserves: true, enlarges: false)
            #expect(isWithinOne(size, of: upstream), "\(bytes) of \(image): \(size), \(upstream)")
        }
    }
}
