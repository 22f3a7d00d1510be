import Model
import StageKit
import TestKit
import Testing

@testable import Decoding

/// AVIF image sequences as jobs of the stage.
@Suite struct AVIFSequenceTests {
    private let stage: DecodeStage
    private let space = HeapSpace()

    init() throws { stage = try DecodeStage() }

    private func decode(
        _ bytes: [UInt8], frame: Int? = nil, all: Bool = false, need: DecodeNeed = .full,
        properties: RequestedProperties = RequestedProperties(), limits: ImageLimits = ImageLimits()
    ) throws -> DecodedImage {
        try perform(bytes, on: stage, in: space) {
            ($0.frame, $0.need, $0.limits) = (frame, need, limits)
            ($0.wantsAllFrames, $0.properties) = (all, properties)
        }
    }

    private func failure(
        _ bytes: [UInt8], frame: Int? = nil, all: Bool = false, need: DecodeNeed = .full,
        limits: ImageLimits = ImageLimits()
    ) -> ImageError? {
        #expect(throws: ImageError.self) {
            try decode(bytes, frame: frame, all: all, need: need, limits: limits)
        }
    }

    private func pixels(_ bytes: [UInt8], frame: Int) throws -> [UInt8] {
        let produced = try #require(try decode(bytes, frame: frame).frames.first)
        return space.bytes(produced.reference)
    }

    /// The largest and the mean difference of the samples of two images.
    private func differences(_ one: [UInt8], _ other: [UInt8]) -> (largest: Int, mean: Double) {
        let all = zip(one, other).map { abs(Int($0) - Int($1)) }
        return (all.max() ?? 0, Double(all.reduce(0, +)) / Double(max(1, all.count)))
    }

    @Test func framesAreCountedAndTimedWithoutACodec() throws {
        var bytes = try AnimatedFile(generated: "lossless.avif").bytes
        // Overwrites all frame data.
        let start = try #require(bytes.place(of: "mdat")) + 4
        bytes.replaceSubrange(start..., with: [UInt8](repeating: 0, count: bytes.count - start))
        let image = try decode(
            bytes, need: .header, properties: RequestedProperties([.animation]))
        #expect(image.info.pages == 12)
        #expect(image.info.format == .avif)
        #expect(
            image.properties?.animation?.durations.prefix(5) == [
                100_000, 20_000, 40_000, 70_000, 1_000_000,
            ])
        #expect(image.properties?.animation?.loops == 0)
    }

    /// Two interleaved sequences, each in its own order.
    @Test func sequencesThatTakeTurnsDisturbNoOther() throws {
        let files = try ["lossless.avif", "alpha.avif"].map { try AnimatedFile(generated: $0) }
        for index in [0, 1, 2, 2, 1, 11, 10, 4, 5, 6, 0] {
            for file in files {
                #expect(try pixels(file.bytes, frame: index) == file.frames[index], "\(index)")
            }
        }
    }

    @Test func allFramesAreThereAtOnce() throws {
        let file = try AnimatedFile(generated: "cut-turned.avif")
        let image = try decode(file.bytes, all: true)
        let frame = try #require(image.frames.first)
        #expect(image.info.pages == 12)
        #expect(image.info.size == PixelSize(width: file.width, height: file.height))
        #expect(frame.layout.animation?.durations.count == 12)
        #expect(space.bytes(frame.reference) == file.frames.flatMap { $0 })
    }

    @Test func aFrameThatIsNotThereIsSaid() throws {
        let file = try AnimatedFile(generated: "two.avif")
        let error = failure(file.bytes, frame: 2)
        #expect(error?.code == .stepFailed)
        #expect(error?.message == "frame 2 does not exist: the image has 2, numbered from 0")
    }

    /// By default, libavif rejects truncated files.
    @Test func whatIsCutOffHasTheFramesBeforeIt() throws {
        let file = try AnimatedFile(generated: "lossless.avif")
        let part = Array(file.bytes.prefix(file.bytes.count * 3 / 4))
        #expect(try pixels(part, frame: 4) == file.frames[4])
        #expect(failure(part, frame: 11)?.code == .stepFailed)
        let error = failure(part, all: true)
        #expect(error?.code == .badImageData)
    }

    @Test func limitsAreCheckedBeforeAnyPixel() throws {
        var bytes = try AnimatedFile(generated: "lossless.avif").bytes
        let start = try #require(bytes.place(of: "mdat")) + 4
        bytes.replaceSubrange(start..., with: [UInt8](repeating: 0, count: bytes.count - start))
        let pages = failure(bytes, frame: 1, limits: ImageLimits(pagesMax: 11))
        #expect(pages?.code == .limitExceeded && pages?.details["limit"] == "pagesMax")
        let pixels = failure(bytes, all: true, limits: ImageLimits(pixelsMax: 37 * 29 - 1))
        #expect(pixels?.code == .limitExceeded && pixels?.details["limit"] == "pixelsMax")
        let memory = failure(bytes, all: true, limits: ImageLimits(pixelBytesMax: 40_000))
        #expect(memory?.code == .limitExceeded && memory?.details["limit"] == "pixelBytesMax")
    }

    /// The sample entry states 1,000 × 1,000 pixels, everything else 37 × 29.
    @Test func framesCountWithThePixelsThatTheirTrackStates() throws {
        let file = try AnimatedFile(generated: "two.avif")
        var bytes = file.bytes
        let entry = try #require(bytes.place(of: "av01\0\0\0\0\0\0\0\u{1}"))
        bytes.replaceSubrange(entry + 28..<entry + 32, with: [0x03, 0xE8, 0x03, 0xE8])
        #expect(try pixels(bytes, frame: 1) == file.frames[1])
        for (frame, all) in [(1, false), (nil, true)] as [(Int?, Bool)] {
            let error = failure(
                bytes, frame: frame, all: all, limits: ImageLimits(pixelsMax: 999_999))
            #expect(error?.code == .limitExceeded && error?.details["limit"] == "pixelsMax")
        }
    }

    /// The primary image is encoded as items, the frames as samples of a track.
    @Test(arguments: [
        (["--lossless"], false), (["--lossless"], true), (["-y", "420", "-r", "limited"], true),
        (["-y", "444", "-r", "limited"], true),
        (["-d", "10", "-y", "444", "--cicp", "9/16/9"], false),
    ])
    func colorsAreThoseOfAStillImage(words: [String], hasProfile: Bool) throws {
        let file = try Self.sequence(words, hasProfile ? ExternalProfile.named("p3") : nil)
        var image = file
        image.replaceSubrange(8..<12, with: Array("avif".utf8))
        let frame = try pixels(file, frame: 0)
        for (bytes, pages) in [(file, 2), (image, 1)] {
            let still = try decode(bytes)
            #expect(still.info.pages == pages)
            let shown = try #require(still.frames.first)
            try #require(!shown.layout.isPlanar)
            #expect(space.bytes(shown.reference) == frame)
        }
        // Without the profile or the curve the colors differ.
        let plain = try pixels(Self.sequence(["--lossless"], nil), frame: 0)
        #expect(words == ["--lossless"] && !hasProfile || differences(frame, plain).mean > 2)
    }

    private static func sequence(_ words: [String], _ profile: [UInt8]?) throws -> [UInt8] {
        let folder = TemporaryDirectory()
        let image = folder.write(try ExternalFiles.png(), to: "a.png")
        var line = ["avifenc", "-s", "6"] + words
        if let profile { line += ["--icc", folder.write(profile, to: "a.icc")] }
        try Tool.run(line + [image, image, folder.file("a.avif")])
        return try #require(FileBytes.read(folder.file("a.avif")))
    }

    /// The whole picture is decoded before it is cropped, regardless of the file's brand.
    @Test(arguments: ["avif", "mif1"])
    func whatIsCroppedCountsWhole(brand: String) throws {
        let folder = TemporaryDirectory()
        let image = folder.write(try ExternalFiles.png(), to: "a.png")
        try Tool.run([
            "avifenc", "-s", "9", "--crop", "0,0,10,10", "-y", "444", image, folder.file("a.avif"),
        ])
        var bytes = try #require(FileBytes.read(folder.file("a.avif")))
        bytes.replaceSubrange(8..<12, with: Array(brand.utf8))
        let size = try decode(bytes).info.size
        #expect(size == PixelSize(width: 10, height: 10))
        let pixels = failure(bytes, limits: ImageLimits(pixelsMax: 101))
        #expect(pixels?.code == .limitExceeded && pixels?.details["limit"] == "pixelsMax")
        let memory = failure(bytes, limits: ImageLimits(pixelBytesMax: 3 * 101))
        #expect(memory?.code == .limitExceeded && memory?.details["limit"] == "pixelBytesMax")
    }

    /// avifenc gives every sequence alpha; if the second track refers to no owner, it isn't alpha.
    @Test func aSequenceMayHaveNoAlpha() throws {
        let file = try AnimatedFile(generated: "lossless.avif")
        var bytes = file.bytes
        let track = try #require(bytes.place(of: "tref"))
        bytes.replaceSubrange(track..<track + 4, with: Array("free".utf8))
        for index in [7, 3, 11] {
            #expect(try pixels(bytes, frame: index) == file.frames[index], "\(index)")
        }
        let image = try decode(bytes.withoutPrimaryImage)
        #expect(!image.info.hasAlpha)
        #expect(space.bytes(try #require(image.frames.first).reference) == file.frames[0].rgb)
    }

    /// A file with only a track and no primary image shows its first frame.
    @Test(arguments: ["lossless.avif", "alpha.avif", "deep.avif", "cut-turned.avif"])
    func framesAreEnough(name: String) throws {
        let file = try AnimatedFile(generated: name)
        let bytes = file.bytes.withoutPrimaryImage
        let image = try decode(bytes)
        let frame = try #require(image.frames.first)
        #expect(image.info.size == PixelSize(width: file.width, height: file.height))
        #expect(image.info.pages == 12)
        #expect(image.info.bits == (name == "deep.avif" ? 10 : 8))
        #expect(image.info.hasAlpha == (frame.layout.planes[0].bands == .rgba))
        let wanted = image.info.hasAlpha ? file.frames[0] : file.frames[0].rgb
        #expect(differences(space.bytes(frame.reference), wanted).largest <= 1)
        #expect(try pixels(bytes, frame: 7).count == file.frames[7].count)
    }

    /// Decoding yields pixels, or an error that tells clients the cause.
    @Test func sequencesThatMeanHarmEndByAnError() throws {
        let expected: Set<ErrorCode> = [.badImageData, .limitExceeded, .stepFailed]
        var ends: [String: [String]] = [:]
        for (name, bytes) in try AnimatedFile.hostile() where name.hasSuffix(".avif") {
            for frame in [nil, 0, 1, 99_999, .max] as [Int?] {
                do {
                    let image =
                        frame == .max
                        ? try decode(bytes, all: true) : try decode(bytes, frame: frame)
                    ends[name, default: []].append("\(image.info.pages)")
                } catch let error as ImageError {
                    #expect(expected.contains(error.code), "\(name): \(error)")
                    ends[name, default: []].append("\(error.code)")
                }
            }
        }
        let refused = [String](repeating: "limitExceeded", count: 5)
        #expect(ends["many.avif"] == refused)
        #expect(ends["claims.avif"] == refused)
        // An invalid track is ignored; the primary image is decoded.
        for name in ["table.avif", "moov.avif", "trak.avif"] {
            #expect(ends[name] == ["1", "1", "stepFailed", "stepFailed", "1"], "\(name)")
        }
        for name in ["timescale.avif", "durations.avif"] {
            #expect(ends[name] == ["2", "2", "2", "stepFailed", "2"], "\(name)")
        }
        let damaged = "badImageData"
        #expect(ends["offset.avif"] == [damaged, damaged, "stepFailed", "stepFailed", damaged])
        #expect(ends["large.avif"] == refused)
        #expect(ends["payload.avif"]?.contains("badImageData") == true)
    }
}

extension [UInt8] {
    func place(of text: StaticString) -> Int? {
        text.withUTF8Buffer { text in
            indices.dropLast(text.count).first { self[$0...].starts(with: text) }
        }
    }

    /// The RGB samples of RGBA pixels.
    fileprivate var rgb: [UInt8] {
        indices.filter { $0 % 4 < 3 }.map { self[$0] }
    }

    /// An AVIF without its item box and without the brand that announces one.
    fileprivate var withoutPrimaryImage: [UInt8] {
        var bytes = self
        if let meta = place(of: "meta") {
            bytes.replaceSubrange(meta..<meta + 4, with: Array("free".utf8))
        }
        if let brand = place(of: "avifavis") {
            bytes.replaceSubrange(brand..<brand + 4, with: Array("avis".utf8))
        }
        return bytes
    }
}
