import CodecSupport
import JPEG
import Model
import StageKit
import TestKit
import Testing

/// Animations produced by both stages, compared with other decoders.
@Suite struct AnimatedResultTests {
    private static let fileExtensions: [ImageFormat: String] = [
        .png: "apng", .webp: "webp", .gif: "gif",
    ]

    private static func shown(_ file: AnimatedFile) -> [Int] {
        file.stated.map { $0 < 11_000 ? 100_000 : $0 }
    }

    /// The number of pixels whose samples differ by more; colors of transparent pixels don't count.
    private func differing(_ found: [UInt8], _ wanted: [UInt8], by most: Int) -> Int {
        guard found.count == wanted.count else { return .max }
        var count = 0
        for pixel in stride(from: 0, to: found.count, by: 4) {
            if found[pixel + 3] == 0, wanted[pixel + 3] == 0 { continue }
            let differs = (pixel..<pixel + 4).contains { (place: Int) -> Bool in
                abs(Int(found[place]) - Int(wanted[place])) > most
            }
            if differs { count += 1 }
        }
        return count
    }

    /// The frame mirrored horizontally.
    private func mirrored(_ frame: [UInt8], _ width: Int) -> [UInt8] {
        var produced: [UInt8] = []
        for row in stride(from: 0, to: frame.count, by: 4 * width) {
            for column in (0..<width).reversed() {
                let start = row + 4 * column
                produced += frame[start..<start + 4]
            }
        }
        return produced
    }

    @Test(
        arguments: [
            "kept.gif", "cleared.gif", "mixed.apng", "half.apng", "mixed.webp",
            "half-replaced.webp",
        ], [ImageFormat.png, .webp])
    func everyFrameGoesThroughTheSteps(name: String, format: ImageFormat) throws {
        let file = try AnimatedFile(generated: name)
        var job = AnimatedJob(steps: [.flip(horizontal: true, vertical: false)])
        job.output.format = format
        job.output.lossless = format == .webp
        let produced = try job.run(file.bytes)
        let found = try AnimatedJob.read(produced.bytes, as: #require(Self.fileExtensions[format]))
        #expect(produced.info.format == format && produced.info.pages == found.frames.count)
        #expect(found.plays == file.plays)
        let shown = try #require(
            found.frames(shownIn: Self.shown(file)), "\(found.stated) of \(Self.shown(file))")
        for (index, frame) in file.frames.enumerated() {
            let wanted = mirrored(frame, file.width)
            // Blends of half-transparent samples are rounded.
            let produced = found.frames[shown[index]]
            #expect(differing(produced, wanted, by: 0) == 0, "\(name), \(index)")
        }
    }

    /// `NETSCAPE2.0` with 2 means three plays, `acTL` with 2 means two.
    @Test(
        .enabled(if: Fixtures.folder != nil, "needs IMAGEBUS_FIXTURES"),
        arguments: [("loop_2.gif", 3), ("apng_p2.png", 2)], [ImageFormat.gif, .png, .webp])
    func everyFormatIsPlayedAsOften(
        source: (name: String, plays: Int), format: ImageFormat
    ) throws {
        var job = AnimatedJob()
        job.output.format = format
        let produced = try job.run(try Fixtures.read("reports/\(source.name)"))
        let found = try AnimatedJob.read(produced.bytes, as: #require(Self.fileExtensions[format]))
        #expect(found.plays == source.plays)
    }

    /// AVIF isn't written with frames: without a named format, the result is a WebP.
    @Test(arguments: ["alpha.avif", "cut-turned.avif"])
    func framesOfAnAVIFBecomeAWebP(name: String) throws {
        let file = try AnimatedFile(generated: name)
        var job = AnimatedJob(steps: [.flip(horizontal: true, vertical: false)])
        job.output.lossless = true
        let produced = try job.run(file.bytes)
        #expect(produced.info.format == .webp)
        let found = try AnimatedJob.read(produced.bytes, as: "webp")
        let shown = try #require(found.frames(shownIn: Self.shown(file)))
        for (index, frame) in file.frames.enumerated() {
            let wanted = mirrored(frame, file.width)
            #expect(differing(found.frames[shown[index]], wanted, by: 0) == 0, "\(index)")
        }
    }

    @Test(arguments: ["kept.gif", "cleared.gif", "mixed.apng", "mixed.webp"])
    func aGIFHasAllFramesInItsColors(name: String) throws {
        let file = try AnimatedFile(generated: name)
        var job = AnimatedJob()
        job.output.format = .gif
        job.output.dither = 0
        let produced = try job.run(file.bytes)
        let found = try AnimatedJob.read(produced.bytes, as: "gif")
        #expect(produced.info.pages == file.frames.count)
        #expect(found.plays == file.plays && found.stated == Self.shown(file))
        try #require(found.frames.count == file.frames.count)
        for (index, frame) in file.frames.enumerated() {
            let wrong = differing(found.frames[index], frame, by: 24)
            #expect(wrong < frame.count / 4 / 50, "\(name), frame \(index): \(wrong)")
        }
    }

    /// The frames of a resized animation equal those requested one by one.
    @Test(arguments: ["mixed.apng", "mixed.webp", "kept.gif"])
    func eachFrameIsWhatItBecomesAlone(name: String) throws {
        let file = try AnimatedFile(generated: name)
        var job = AnimatedJob(
            steps: [
                .resize(PixelSize(width: 20, height: 20), .fit, enlarges: false),
                .grayscale,
            ])
        job.output.format = .png
        let found = try AnimatedJob.read(job.run(file.bytes).bytes, as: "apng")
        #expect(found.width == 20 && found.height == 16)
        for index in file.frames.indices {
            job.frame = index
            let alone = try VipsWay.decoded(job.run(file.bytes).bytes)
            let frame = found.frames[index]
            var wrong = 0
            for pixel in 0..<20 * 16 where frame[4 * pixel + 3] > 0 {
                let (x, y) = (pixel % 20, pixel / 20)
                if frame[4 * pixel] != alone.pixel(x, y)[0] { wrong += 1 }
            }
            #expect(wrong == 0, "\(name), frame \(index)")
        }
    }

    @Test func withoutAFormatAnAnimationStaysInItsOwn() throws {
        for (name, format) in [
            ("kept.gif", ImageFormat.gif), ("mixed.apng", .png), ("mixed.webp", .webp),
        ] {
            let file = try AnimatedFile(generated: name)
            let produced = try AnimatedJob().run(file.bytes)
            #expect(produced.info.format == format && produced.info.pages == file.frames.count)
        }
    }

    @Test func aFormatWithoutFramesTakesTheFirstOne() throws {
        let file = try AnimatedFile(generated: "opaque-shared.gif")
        var job = AnimatedJob()
        job.output.format = .jpeg
        job.output.quality = 100
        let produced = try job.run(file.bytes)
        #expect(produced.info.format == .jpeg && produced.info.pages == 1)
        let image = try VipsWay.decoded(produced.bytes)
        let first = (0..<3).map { Int(file.frames[0][$0]) }
        let found = image.pixel(0, 0).map { Int($0) }
        #expect(zip(first, found).allSatisfy { abs($0 - $1) < 30 }, "\(first), \(found)")
    }

    @Test func aStillImageIsAStillImage() throws {
        var job = AnimatedJob()
        job.output.format = .webp
        let produced = try job.run(Samples.jpeg(60, 40, .yuv420).bytes)
        #expect(produced.info.pages == 1)
        #expect(produced.bytes[12..<16].elementsEqual("VP8 ".utf8))
    }

    @Test func fewerBytesAreLookedForWithAllFrames() throws {
        let file = try AnimatedFile(generated: "mixed.webp")
        var job = AnimatedJob()
        job.output.format = .webp
        job.output.quality = 100
        let usual = try job.run(file.bytes).bytes.count
        job.output.maxBytes = usual * 3 / 4
        let produced = try job.run(file.bytes)
        #expect(produced.bytes.count <= usual * 3 / 4 && produced.info.pages == file.frames.count)
    }
}
