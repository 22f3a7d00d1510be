import CodecSupport
import JPEG
import Model
import TestKit
import Testing
import Vips

/// Images of both lanes compared with libvips, whose resampling is independent: only this detects
/// errors that both lanes share.
@Suite struct ReferenceTests {
    /// Detailed everywhere: a shift shows in each column.
    private static let base = TestImage.photograph(
        620, 470, seed: 4, textures: [(61, 60), (19, 60), (11, 90), (5, 70)])

    /// Images grouped by their shorter side, the number of them, and the permitted deviation.
    struct SizeClass: Sendable, CustomStringConvertible {
        let sides: ClosedRange<Int>
        let count: Int
        let limit: Deviation

        var description: String { "\(sides)" }
    }

    /// Measured: worst 40.3 dB and 6.6 for the small ones, 39.5 and 10.1, 44.4 and 4.2; an image
    /// shifted by one column or row has 34.1 at best.
    static let classes = [
        SizeClass(sides: 32...63, count: 24, limit: Deviation(decibels: 38.5, column: 9)),
        SizeClass(sides: 64...159, count: 12, limit: Deviation(decibels: 38, column: 12)),
        SizeClass(sides: 160...330, count: 6, limit: Deviation(decibels: 42, column: 6.5)),
    ]

    @Test(arguments: classes)
    func bothLanesGiveTheImageOfLibvips(sizes: SizeClass) throws {
        var random = RandomSteps(seed: UInt64(sizes.sides.lowerBound))
        for round in 0..<RandomSteps.rounds(short: sizes.count, long: 40 * sizes.count) {
            let target = PixelSize(
                width: random.number(sizes.sides), height: random.number(sizes.sides))
            let source = PixelSize(
                width: Self.side(target.width, 620, round, &random),
                height: Self.side(target.height, 470, round, &random))
            let bytes = try Self.jpeg(source, quality: round % 3 == 0 ? 95 : 89, &random)
            try Self.check(
                Lanes(bytes: bytes), .stretch(target.width, target.height, as: .png), sizes.limit,
                "\(source) to \(target)")
        }
    }

    /// Chroma of half as many columns and rows, which zimg reduces by 2.05.
    @Test func colorsAreThoseOfLibvips() throws {
        let image = TestImage.photograph(
            308, 410, textures: [(61, 60), (19, 60), (11, 90), (5, 70)])
        let lanes = Lanes(bytes: try image.jpeg(.yuv420))
        try Self.check(
            lanes, .stretch(150, 200, as: .png), Self.classes[1].limit, "308×410 to 150×200")
    }

    /// Expects the lanes to be close enough, and the check to fail for images shifted by one column
    /// or row, or with a few columns from elsewhere.
    private static func check(
        _ lanes: Lanes, _ job: Job, _ limit: Deviation, _ what: String
    ) throws {
        let reference = try VipsWay.reference(lanes.bytes, job)
        for (name, image) in [
            ("planar", try lanes.planar(job)), ("general", try lanes.general(job)),
        ] {
            let found = try Deviation(of: image, from: reference)
            #expect(found.isWithin(limit), "\(what), \(name): \(found)")
            for (columns, rows) in [(1, 0), (0, 1)] {
                let shifted = try Deviation(
                    of: image.shifted(columns: columns, rows: rows), from: reference)
                #expect(!shifted.isWithin(limit), "\(what), \(name), shifted: \(shifted)")
            }
            let part = try Deviation(of: image.withColumnsFromAway(), from: reference)
            #expect(!part.isWithin(limit), "\(what), \(name), columns: \(part)")
        }
    }

    /// Every second round reduces by 1.9 to 2.6, the others by 0.7 to 6.
    private static func side(
        _ target: Int, _ most: Int, _ round: Int, _ random: inout RandomSteps
    ) -> Int {
        let percent = round % 2 == 0 ? random.number(190...260) : random.number(70...500)
        return max(1, min(most, target * percent / 100))
    }

    /// A part of the photograph encoded by libvips: with full chroma from quality 90 on.
    private static func jpeg(
        _ size: PixelSize, quality: Int, _ random: inout RandomSteps
    ) throws -> [UInt8] {
        let left = random.number(0...(base.size.width - size.width))
        let top = random.number(0...(base.size.height - size.height))
        return try VipsLibrary().exclusively {
            try base.samples.withUnsafeBytes { samples in
                try VipsImage.pixels(
                    samples, width: base.size.width, height: base.size.height, bands: 3
                ).extracted(left: left, top: top, width: size.width, height: size.height)
                    .encoded(.jpeg(quality: quality))
            }
        }
    }
}
