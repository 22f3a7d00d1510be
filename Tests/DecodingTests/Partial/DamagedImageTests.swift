import Model
import StageKit
import TestKit
import Testing
import Vips

/// Damaged or truncated files, refused or shown (SEMANTICS §11.38).
@Suite struct DamagedImageTests {
    private static func decode(
        _ bytes: [UInt8], _ damaged: DamagedImages, need: DecodeNeed = .full,
        properties: FactKinds = [], allFrames: Bool = false, frame: Int? = nil
    ) throws(ImageError) -> Decoded {
        let space = HeapSpace()
        return try imageError {
            let image = try perform(bytes, in: space) {
                ($0.frame, $0.need) = (frame, need)
                $0.properties = RequestedProperties(properties)
                ($0.showsDamaged, $0.wantsAllFrames) = (damaged == .show, allFrames)
            }
            let samples = image.frames.flatMap { space.bytes($0.reference) }
            return Decoded(image: image, samples: samples)
        }
    }

    /// Expects that the file is refused by default and shown and marked as damaged on request; the
    /// header is readable either way.
    private static func expectDamaged(
        _ bytes: [UInt8], _ comment: Comment, at place: SourceLocation = #_sourceLocation
    ) throws -> Decoded {
        let error = #expect(throws: ImageError.self, comment, sourceLocation: place) {
            try decode(bytes, .refuse)
        }
        #expect(error?.code == .badImageData, comment, sourceLocation: place)
        for damaged in DamagedImages.allCases {
            let header = try decode(bytes, damaged, need: .header)
            #expect(!header.image.isDamaged, comment, sourceLocation: place)
        }
        let shown = try decode(bytes, .show)
        #expect(shown.image.isDamaged, comment, sourceLocation: place)
        return shown
    }

    /// Expects no error and no mark, and the samples of the whole file.
    private static func expectWhole(
        _ bytes: [UInt8], like whole: [UInt8], _ comment: Comment,
        at place: SourceLocation = #_sourceLocation
    ) throws {
        for damaged in DamagedImages.allCases {
            let decoded = try decode(bytes, damaged)
            #expect(!decoded.image.isDamaged, comment, sourceLocation: place)
            #expect(try pixels(of: decoded) == whole, comment, sourceLocation: place)
        }
    }

    /// The samples of an image of one plane, without row padding.
    private static func pixels(of decoded: Decoded) throws -> [UInt8] {
        let planes = try #require(decoded.layout).planes
        try #require(planes.count == 1)
        let count = planes[0].size.width * Int(planes[0].bands.rawValue)
        return (0..<planes[0].size.height).flatMap { row in
            decoded.samples[(planes[0].offset + row * planes[0].stride)...].prefix(count)
        }
    }

    // MARK: - Missing pixels

    @Test(arguments: PartialFile.allCases)
    func whatArrivedIsShown(file: PartialFile) throws {
        let bytes = try file.bytes()
        let shown = try Self.expectDamaged(bytes.part(60), "\(file)")
        #expect(shown.samples == (try partial(bytes.part(60))).samples)
    }

    @Test func aSoundFileIsNotMarked() throws {
        for file in PartialFile.allCases {
            #expect(try !Self.decode(file.bytes(), .show).image.isDamaged, "\(file)")
        }
    }

    /// The last two bytes of entropy-coded data, and then the end-of-image marker.
    @Test func aJPEGWithoutItsLastCodesIsDamaged() throws {
        for file in [PartialFile.baseline, .progressive, .gray] {
            let bytes = try file.bytes()
            _ = try Self.expectDamaged(Array(bytes.dropLast(12)), "\(file)")
        }
    }

    /// With several scans, those present are complete and others are missing.
    @Test func aJPEGThatEndsBetweenScansIsDamaged() throws {
        let bytes = try PartialFile.progressive.bytes()
        let marks = bytes.indices.dropLast().filter {
            bytes[$0] == 0xFF && bytes[$0 + 1] == 0xC4
        }
        _ = try Self.expectDamaged(Array(bytes.prefix(try #require(marks.last))), "scans")
    }

    @Test func aWrongSumOfPixelsIsDamage() throws {
        var bytes = try PartialFile.png.bytes()
        let end = try #require(bytes.indices.last { bytes[$0...].starts(with: Array("IEND".utf8)) })
        bytes[end - 5] ^= 1
        let shown = try Self.expectDamaged(bytes, "the sum of the last IDAT")
        #expect(shown.samples == (try PartialFile.png.samples()), "its pixels are all there")
    }

    @Test func aGIFWithoutItsLastCodesIsDamaged() throws {
        let bytes = try PartialFile.gif.bytes()
        _ = try Self.expectDamaged(Array(bytes.dropLast(40)), "codes")
    }

    @Test func factsOfPixelsAreThoseOfWhatIsShown() throws {
        let bytes = try PartialFile.baseline.bytes().part(60)
        let shown = try Self.decode(bytes, .show, need: .header, properties: .blurHash).image
        #expect(shown.properties?.blurHash != nil && shown.isDamaged)
        #expect(throws: ImageError.self) {
            try Self.decode(bytes, .refuse, need: .header, properties: .blurHash)
        }
    }

    /// Other formats are shown only if they are complete.
    @Test func aCutTIFFIsRefusedEitherWay() throws {
        let bytes = try Sources.encoded(.tiff(predicts: true), 200, 200) { x, y, band in
            (x * y + band) % 251
        }
        for damaged in DamagedImages.allCases {
            let error = #expect(throws: ImageError.self) {
                try Self.decode(Array(bytes.prefix(bytes.count / 2)), damaged)
            }
            #expect(error?.code == .badImageData)
        }
    }

    // MARK: - Truncated after the last pixel

    /// The color depth of the default decoder's planes is tested elsewhere: a JPEG is compared with
    /// libvips' decode of the whole file.
    @Test func anEndOfImageIsNotNeeded() throws {
        for file in [PartialFile.baseline, .progressive, .gray, .restarts] {
            let bytes = try file.bytes()
            try Self.expectWhole(
                Array(bytes.dropLast(2)), like: file.samples(), "\(file) without EOI")
        }
    }

    @Test func whatFollowsThePixelsOfAPNGDoesNotMatter() throws {
        for file in [PartialFile.png, .adam7, .palette, .transparent] {
            let (bytes, whole) = (try file.bytes(), try file.samples())
            let pixels = Array(bytes.dropLast(12))
            let end = Array(bytes.suffix(12))
            let text = Array("tEXtComment\0hello".utf8)
            let chunk = [0, 0, 0, UInt8(text.count - 4)] + text
            try Self.expectWhole(pixels, like: whole, "\(file) without IEND")
            try Self.expectWhole(Array(pixels.dropLast(3)), like: whole, "\(file) without sum")
            try Self.expectWhole(pixels + chunk, like: whole, "\(file) with half a text")
            try Self.expectWhole(
                pixels + chunk + [1, 2, 3, 4] + end, like: whole, "\(file) with a wrong sum")
        }
    }

    @Test func whatFollowsThePixelsOfAGIFDoesNotMatter() throws {
        let (bytes, whole) = (try PartialFile.gif.bytes(), try PartialFile.gif.samples())
        #expect(bytes.suffix(2) == [0, 0x3B])
        for count in 1...2 {
            try Self.expectWhole(
                Array(bytes.dropLast(count)), like: whole, "without \(count) bytes")
        }
    }

    // MARK: - Animations

    @Test(arguments: ["kept.gif", "mixed.apng", "mixed.webp"])
    func aCutAnimationShowsTheFramesThatAreThere(name: String) throws {
        let file = try AnimatedFile(generated: name)
        let bytes = file.bytes.part(90)
        let error = #expect(throws: ImageError.self) {
            try Self.decode(bytes, .refuse, allFrames: true)
        }
        #expect(error?.code == .badImageData)
        let shown = try Self.decode(bytes, .show, allFrames: true).image
        let frames = try #require(shown.frames.first?.layout.animation?.durations.count)
        #expect(shown.isDamaged && (2..<file.frames.count).contains(frames), "\(frames) frames")
    }

    /// It is shown as a still image and still lacks the other frames.
    @Test func aCutAnimationOfOneWholeFrameIsDamaged() throws {
        let bytes = try AnimatedFile(generated: "kept.gif").bytes.part(15)
        let error = #expect(throws: ImageError.self) {
            try Self.decode(bytes, .refuse, allFrames: true)
        }
        #expect(error?.code == .badImageData)
        let shown = try Self.decode(bytes, .show, allFrames: true)
        #expect(shown.image.isDamaged && shown.image.info.pages == 1)
        #expect(shown.samples == (try Self.decode(bytes, .refuse)).samples)
    }

    /// The first frame is a complete still image.
    @Test(arguments: ["kept.gif", "mixed.apng", "mixed.webp"])
    func theStillOfACutAnimationIsWhole(name: String) throws {
        let file = try AnimatedFile(generated: name)
        for damaged in DamagedImages.allCases {
            let still = try Self.decode(file.bytes.part(90), damaged)
            #expect(!still.image.isDamaged && !still.samples.isEmpty, "\(damaged)")
        }
    }

    // MARK: - Public bug reports

    /// Colors drawn by Chromium 156 at a tenth, a quarter and three quarters of the width and
    /// height; nil if nothing is drawn yet.
    @Test(
        .enabled(if: Fixtures.folder != nil, "needs IMAGEBUS_FIXTURES"),
        arguments: [
            ("jnoeoi.jpg", false, [[207, 22, 237], [220, 30, 40], [21, 199, 59]]),
            ("jtrunc.jpg", true, [[207, 22, 237], [220, 30, 40], nil]),
            ("trunc.png", true, [[206, 25, 229], [220, 30, 40], nil]),
            ("badcrc.png", true, [[206, 25, 229], [220, 30, 40], [20, 200, 60]]),
            ("stillcut.gif", true, [[219, 11, 220], [220, 30, 40], [20, 200, 60]]),
        ] as [(String, Bool, [[Int]?])])
    func aReportedFileIsShownAsByABrowser(
        name: String, isDamaged: Bool, colors: [[Int]?]
    ) throws {
        let bytes = try Fixtures.read("reports/\(name)")
        let shown = try Self.decode(bytes, .show)
        #expect(shown.image.isDamaged == isDamaged)
        if isDamaged { _ = try Self.expectDamaged(bytes, "\(name)") }
        let size = shown.image.info.size
        for (part, color) in zip([0.1, 0.25, 0.75], colors) {
            guard let color else { continue }
            let found = try shown.pixel(
                Int(Double(size.width) * part), Int(Double(size.height) * part))
            for (sample, wanted) in zip(found, color) {
                #expect(abs(Int(sample) - wanted) <= 2, "\(name) at \(part): \(found)")
            }
        }
    }
}
