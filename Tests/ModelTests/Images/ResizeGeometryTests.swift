import Model
import Testing

@Suite struct ResizeGeometryTests {
    struct Row: CustomTestStringConvertible {
        let source: (Int, Int)
        let box: (Int, Int)
        let mode: ResizeMode
        let scaled: (Int, Int)
        let output: (Int, Int)

        var testDescription: String { "\(source) into \(box), \(mode)" }

        init(
            _ source: (Int, Int), _ box: (Int, Int), _ mode: ResizeMode, _ scaled: (Int, Int),
            _ output: (Int, Int)
        ) {
            (self.source, self.box, self.mode) = (source, box, mode)
            (self.scaled, self.output) = (scaled, output)
        }
    }

    static let rows: [Row] = [
        Row((2_725, 2_225), (512, 512), .fit, (512, 418), (512, 418)),
        Row((2_225, 2_725), (512, 512), .fit, (418, 512), (418, 512)),
        Row((2_725, 2_225), (512, 512), .letterbox, (512, 418), (512, 512)),
        Row((2_725, 2_225), (512, 512), .fill, (627, 512), (512, 512)),
        Row((2_725, 2_225), (512, 512), .stretch, (512, 512), (512, 512)),
        Row((300, 300), (200, 100), .fit, (100, 100), (100, 100)),
        Row((300, 300), (200, 100), .letterbox, (100, 100), (200, 100)),
        Row((300, 300), (200, 100), .fill, (200, 200), (200, 100)),
        Row((300, 300), (200, 100), .stretch, (200, 100), (200, 100)),
        // `fit` never enlarges; the others always match the box.
        Row((100, 50), (512, 512), .fit, (100, 50), (100, 50)),
        Row((100, 50), (512, 512), .letterbox, (512, 256), (512, 512)),
        Row((100, 50), (512, 512), .fill, (1_024, 512), (512, 512)),
        Row((300, 300), (2_000, 1_000), .letterbox, (1_000, 1_000), (2_000, 1_000)),
        // Never below one pixel.
        Row((10_000, 1), (100, 100), .fit, (100, 1), (100, 1)),
        Row((1, 10_000), (100, 100), .letterbox, (1, 100), (100, 100)),
        Row((1, 1), (1, 1), .fit, (1, 1), (1, 1)),
        // Half a pixel is rounded up, regardless of the ratio.
        Row((200, 101), (100, 100), .fit, (100, 51), (100, 51)),
        Row((600, 303), (100, 100), .fit, (100, 51), (100, 51)),
        Row((1_400, 707), (100, 100), .fit, (100, 51), (100, 51)),
        Row((980, 245), (490, 490), .fit, (490, 123), (490, 123)),
        Row((32_767, 32_767), (1, 32_767), .fill, (32_767, 32_767), (1, 32_767)),
        // Covers the box without cropping.
        Row((2_725, 2_225), (512, 512), .cover, (627, 512), (627, 512)),
        Row((100, 50), (512, 512), .cover, (1_024, 512), (1_024, 512)),
        Row((100, 50), (30, 0), .cover, (30, 15), (30, 15)),
        // By the orientations of image and box; a square counts as landscape.
        Row((400, 200), (100, 90), .auto, (180, 90), (180, 90)),
        Row((400, 200), (90, 100), .auto, (90, 45), (90, 45)),
        Row((200, 400), (90, 100), .auto, (90, 180), (90, 180)),
        Row((200, 400), (100, 100), .auto, (50, 100), (50, 100)),
        Row((400, 400), (100, 50), .auto, (100, 100), (100, 100)),
        Row((40, 20), (100, 90), .auto, (40, 20), (40, 20)),
        // Fits into the box or the rotated box.
        Row((400, 200), (50, 100), .fitTurned, (100, 50), (100, 50)),
        Row((400, 200), (100, 50), .fitTurned, (100, 50), (100, 50)),
        Row((200, 400), (100, 50), .fitTurned, (50, 100), (50, 100)),
        Row((400, 400), (100, 50), .fitTurned, (50, 50), (50, 50)),
        Row((40, 20), (50, 100), .fitTurned, (40, 20), (40, 20)),
        Row((400, 300), (50, 100), .coverTurned, (100, 75), (100, 75)),
        Row((40, 30), (50, 100), .coverTurned, (100, 75), (100, 75)),
        // The aspect ratio of the box.
        Row((400, 300), (100, 200), .reshape, (100, 200), (100, 200)),
        Row((100, 300), (200, 200), .reshape, (100, 100), (100, 100)),
        Row((400, 90), (100, 120), .reshape, (75, 90), (75, 90)),
    ]

    @Test(arguments: rows)
    func aResizeHasTheseSizes(row: Row) {
        let geometry = ResizeGeometry(
            source: PixelSize(width: row.source.0, height: row.source.1),
            box: PixelSize(width: row.box.0, height: row.box.1), mode: row.mode)
        #expect(geometry.scaled == PixelSize(width: row.scaled.0, height: row.scaled.1))
        #expect(geometry.output == PixelSize(width: row.output.0, height: row.output.1))
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
        #expect(try thumbnail(of: source, in: box, keepsShape: true) == size(output))
    }

    @Test(arguments: [(100, 200), (150, 150), (300, 300), (1, 1)])
    func aThumbnailWithoutItsShapeIsTheBox(width: Int, height: Int) throws {
        let box = (width, height)
        #expect(try thumbnail(of: (100, 200), in: box, keepsShape: false) == size(box))
    }

    private func thumbnail(
        of source: (Int, Int), in box: (Int, Int), keepsShape: Bool
    ) throws -> PixelSize {
        var request = ImageRequest(url: "http://origin.test/a.jpg")
        request.thumbnail = Thumbnail(box: size(box), preservesAspectRatio: keepsShape)
        guard case .resize(let box, let mode, let enlarges)? = request.allSteps.first else {
            return try #require(nil, "a thumbnail isn't a resize")
        }
        return ResizeGeometry(source: size(source), box: box, mode: mode, enlarges: enlarges)
            .output
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
