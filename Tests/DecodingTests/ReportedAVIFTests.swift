import Model
import TestKit
import Testing

/// AVIF files of public test suites, compared with Chromium 156.
@Suite(.enabled(if: Fixtures.folder != nil, "needs IMAGEBUS_FIXTURES"))
struct ReportedAVIFTests {
    /// A file, and the mean red, green, blue and alpha of each quarter as displayed, row by row
    /// from the top left.
    struct Report: Sendable, CustomTestStringConvertible {
        let name: String
        let size: PixelSize
        let quarters: [[Int]]
        var testDescription: String { name }

        init(_ name: String, _ width: Int, _ height: Int, _ quarters: [[Int]]) {
            (self.name, self.quarters) = (name, quarters)
            size = PixelSize(width: width, height: height)
        }
    }

    private static let reports = [
        Report(
            "kimono.rotate90.avif", 722, 1_024,
            [
                [188, 195, 172, 255], [190, 199, 175, 255], [164, 162, 163, 255],
                [152, 141, 136, 255],
            ]
        ),
        // 10 bits, mirrored.
        Report(
            "a10_imir.avif", 240, 160,
            [
                [137, 63, 63, 255], [159, 54, 153, 255], [116, 200, 62, 255], [136, 197, 194, 255],
            ]),
        // Limited range without chroma.
        Report(
            "fox.profile0.8bpc.yuv420.monochrome.avif", 1_204, 800,
            [[63, 63, 63, 255], [58, 58, 58, 255], [54, 54, 54, 255], [45, 45, 45, 255]]),
        // Five tiles, which the grid lists in reverse order.
        Report(
            "sofa_grid1x5_420_reversed_dimg_order.avif", 1_024, 770,
            [
                [87, 93, 104, 255], [87, 85, 83, 255], [131, 132, 130, 255], [85, 64, 49, 255],
            ]),
        // A sequence, compared with avifdec: Chromium takes its full range for limited.
        Report(
            "star-8bpc.avifs", 159, 159,
            [[104, 98, 75, 255], [106, 100, 76, 255], [94, 89, 67, 255], [94, 89, 68, 255]]),
        // A sequence with a depth track, which isn't alpha.
        Report(
            "colors-animated-8bpc-depth-exif-xmp.avif", 150, 150,
            [[Int]](repeating: [0, 0, 0, 255], count: 4)),
    ]

    @Test(arguments: reports)
    func theImageIsAsBrowsersShowIt(report: Report) throws {
        let decoded = try decode(try Fixtures.read("reports/\(report.name)"))
        let size = decoded.image.info.size
        #expect(size == report.size)
        let isOpaque = report.quarters.allSatisfy { $0[3] == 255 }
        #expect(decoded.image.info.hasAlpha == !isOpaque)
        for (index, wanted) in report.quarters.enumerated() {
            let (columns, rows) = (size.width / 2, size.height / 2)
            let (left, top) = (index % 2 * columns, index / 2 * rows)
            var (sums, count) = ([0, 0, 0, 0], 0)
            // A sample of the pixels is enough.
            for y in stride(from: top, to: top + rows, by: 3) {
                for x in stride(from: left, to: left + columns, by: 3) {
                    count += 1
                    let pixel = try decoded.pixel(x, y)
                    let shown = pixel.count < 3 ? [pixel[0], pixel[0], pixel[0]] : pixel
                    for (band, sample) in (shown + [255]).prefix(4).enumerated() {
                        sums[band] += Int(sample)
                    }
                }
            }
            for (sum, mean) in zip(sums, wanted) {
                let found = Double(sum) / Double(count)
                #expect(abs(found - Double(mean)) <= 2, "quarter \(index): \(found), \(mean)")
            }
        }
    }

    /// Its depth track is a second one, and all of its frames are present.
    @Test func everyFrameOfASequenceIsKnown() throws {
        for (name, durations, plays) in [
            ("star-8bpc.avifs", [100_000, 100_000, 100_000, 100_000, 100_000], 1),
            (
                "colors-animated-8bpc-depth-exif-xmp.avif",
                [166_667, 166_667, 166_667, 166_667, 166_667], 0
            ),
        ] as [(String, [UInt32], Int)] {
            let bytes = try Fixtures.read("reports/\(name)")
            let found = try properties(of: bytes, RequestedProperties([.animation])).animation
            #expect(found?.durations == durations && found?.plays == plays)
        }
    }
}
