import Model
import Testing

@Suite struct ResizeGeometryTests {
    /// A source, a box and a mode, the size of the scaled image, and that of the result.
    typealias Row = (
        source: (Int, Int), box: (Int, Int), mode: ResizeMode, scaled: (Int, Int),
        output: (Int, Int)
    )

    static let rows: [Row] = [
        ((2_725, 2_225), (512, 512), .fit, (512, 418), (512, 418)),
        ((2_225, 2_725), (512, 512), .fit, (418, 512), (418, 512)),
        ((2_725, 2_225), (512, 512), .letterbox, (512, 418), (512, 512)),
        ((2_725, 2_225), (512, 512), .fill, (627, 512), (512, 512)),
        ((2_725, 2_225), (512, 512), .stretch, (512, 512), (512, 512)),
        ((300, 300), (200, 100), .fit, (100, 100), (100, 100)),
        ((300, 300), (200, 100), .letterbox, (100, 100), (200, 100)),
        ((300, 300), (200, 100), .fill, (200, 200), (200, 100)),
        ((300, 300), (200, 100), .stretch, (200, 100), (200, 100)),
        // `fit` never enlarges; the others always match the box.
        ((100, 50), (512, 512), .fit, (100, 50), (100, 50)),
        ((100, 50), (512, 512), .letterbox, (512, 256), (512, 512)),
        ((100, 50), (512, 512), .fill, (1_024, 512), (512, 512)),
        ((300, 300), (2_000, 1_000), .letterbox, (1_000, 1_000), (2_000, 1_000)),
        // Never below one pixel.
        ((10_000, 1), (100, 100), .fit, (100, 1), (100, 1)),
        ((1, 10_000), (100, 100), .letterbox, (1, 100), (100, 100)),
        ((1, 1), (1, 1), .fit, (1, 1), (1, 1)),
        // Half a pixel is rounded up, regardless of the ratio.
        ((200, 101), (100, 100), .fit, (100, 51), (100, 51)),
        ((600, 303), (100, 100), .fit, (100, 51), (100, 51)),
        ((1_400, 707), (100, 100), .fit, (100, 51), (100, 51)),
        ((980, 245), (490, 490), .fit, (490, 123), (490, 123)),
        ((32_767, 32_767), (1, 32_767), .fill, (32_767, 32_767), (1, 32_767)),
        // Covers the box without cropping.
        ((2_725, 2_225), (512, 512), .cover, (627, 512), (627, 512)),
        ((100, 50), (512, 512), .cover, (1_024, 512), (1_024, 512)),
        ((100, 50), (30, 0), .cover, (30, 15), (30, 15)),
        // By the orientations of image and box; a square counts as landscape.
        ((400, 200), (100, 90), .auto, (180, 90), (180, 90)),
        ((400, 200), (90, 100), .auto, (90, 45), (90, 45)),
        ((200, 400), (90, 100), .auto, (90, 180), (90, 180)),
        ((200, 400), (100, 100), .auto, (50, 100), (50, 100)),
        ((400, 400), (100, 50), .auto, (100, 100), (100, 100)),
        ((40, 20), (100, 90), .auto, (40, 20), (40, 20)),
        // Fits into the box or the rotated box.
        ((400, 200), (50, 100), .fitTurned, (100, 50), (100, 50)),
        ((400, 200), (100, 50), .fitTurned, (100, 50), (100, 50)),
        ((200, 400), (100, 50), .fitTurned, (50, 100), (50, 100)),
        ((400, 400), (100, 50), .fitTurned, (50, 50), (50, 50)),
        ((40, 20), (50, 100), .fitTurned, (40, 20), (40, 20)),
        ((400, 300), (50, 100), .coverTurned, (100, 75), (100, 75)),
        ((40, 30), (50, 100), .coverTurned, (100, 75), (100, 75)),
        // The aspect ratio of the box.
        ((400, 300), (100, 200), .reshape, (100, 200), (100, 200)),
        ((100, 300), (200, 200), .reshape, (100, 100), (100, 100)),
        ((400, 90), (100, 120), .reshape, (75, 90), (75, 90)),
    ]

    @Test(arguments: rows)
    func aResizeHasTheseSizes(
        source: (Int, Int), box: (Int, Int), mode: ResizeMode, scaled: (Int, Int),
        output: (Int, Int)
    ) {
        let geometry = ResizeGeometry(source: size(source), box: size(box), mode: mode)
        #expect(geometry.scaled == size(scaled))
        #expect(geometry.output == size(output))
    }

    /// Upstream's table of sizes, without enlarging.
    @Test(arguments: [
        ((100, 200), (150, 150), (75, 150)), ((100, 200), (300, 300), (100, 200)),
        ((5_250, 3_450), (400, 300), (400, 263)), ((5_250, 3_450), (4_000, 4_000), (4_000, 2_629)),
        ((100, 200), (100, 200), (100, 200)),
    ])
    func aThumbnailHasTheSizesOfUpstream(
        source: (Int, Int), box: (Int, Int), output: (Int, Int)
    ) throws {
        var request = ImageRequest(url: "http://origin.test/a.jpg")
        request.thumbnail = Thumbnail(box: size(box), preservesAspectRatio: true)
        guard case .resize(let box, let mode, let enlarges)? = request.allSteps.first else {
            return try #require(nil, "a thumbnail isn't a resize")
        }
        let geometry = ResizeGeometry(
            source: size(source), box: box, mode: mode, enlarges: enlarges)
        #expect(geometry.output == size(output))
    }

    private func size(_ sides: (Int, Int)) -> PixelSize {
        PixelSize(width: sides.0, height: sides.1)
    }

    /// `length × numerator / denominator`, rounded half up, in integer arithmetic.
    private func rounded(_ length: Int, _ numerator: Int, _ denominator: Int) -> Int {
        max(1, (2 * length * numerator + denominator) / (2 * denominator))
    }

    @Test func theFreeSideIsRoundedHalfUpForEverySize() {
        for width in stride(from: 1, through: 400, by: 3) {
            for height in stride(from: 1, through: 400, by: 7) {
                for side in [1, 10, 33, 64, 100] {
                    let source = PixelSize(width: width, height: height)
                    let box = PixelSize(width: side, height: side)
                    let scaled = ResizeGeometry(source: source, box: box, mode: .letterbox).scaled
                    let wide = width >= height
                    let expected = PixelSize(
                        width: wide ? side : rounded(width, side, height),
                        height: wide ? rounded(height, side, width) : side)
                    #expect(scaled == expected, "\(source) into \(box)")
                }
            }
        }
    }
}
