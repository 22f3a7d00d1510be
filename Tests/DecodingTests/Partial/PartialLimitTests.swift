import Linux
import Model
import StageKit
import TestKit
import Testing
import Vips

/// Rules for whole images also apply to partial ones: limits, cancellation, orientation, colors.
@Suite struct PartialLimitTests {
    @Test func aLargeHeaderIsRefused() throws {
        let big = Array("GIF89a".utf8) + [0x30, 0x75, 0x30, 0x75, 0, 0, 0, 0x2C, 0, 0, 0, 0]
        let gif = big + [0x30, 0x75, 0x30, 0x75, 0, 8, 1, 0]
        let webP =
            Array("RIFF".utf8) + [0, 1, 1, 0] + Array("WEBPVP8L".utf8) + [0, 0, 1, 0, 0x2F]
            + [0xFF, 0xFF, 0xFF, 0x0F]
        for bytes in [try Self.png(side: 30_000), try Self.jpeg(side: 30_000), gif, webP] {
            for need in [DecodeNeed.header, .full] {
                let error = #expect(throws: ImageError.self) {
                    try partial(bytes, need, limits: ImageLimits(pixelsMax: 100_000_000))
                }
                #expect(error?.details["limit"] == "pixelsMax", "\(bytes.prefix(4))")
            }
        }
    }

    @Test(arguments: PartialFile.allCases)
    func pixelsAndBytesAreLimited(file: PartialFile) throws {
        let bytes = try file.bytes().part(50)
        let area = PartialFile.width * PartialFile.height
        for (limits, name) in [
            (ImageLimits(sideMax: 399), "sideMax"), (ImageLimits(pixelsMax: area - 1), "pixelsMax"),
            (ImageLimits(pixelBytesMax: area * file.bands - 1), "pixelBytesMax"),
        ] {
            let error = #expect(throws: ImageError.self) { try partial(bytes, limits: limits) }
            #expect(error?.details["limit"] == name)
        }
        let space = HeapSpace(bytesMax: area * file.bands - 1)
        let error = #expect(throws: ImageError.self) { try partial(bytes, space: space) }
        #expect(error?.code == .arenaFull)
    }

    /// Each chunk would be read again and again before pixels that may never arrive.
    @Test func aWebPOfManyChunksIsRefused() throws {
        let header = Array("RIFF".utf8) + [0, 0, 1, 0] + Array("WEBPVP8X".utf8)
        let bytes = header + [10, 0, 0, 0] + [0, 0, 0, 0, 9, 0, 0, 9, 0, 0]
        let empty = Array("none".utf8) + [0, 0, 0, 0]
        for need in [DecodeNeed.header, .full] {
            let error = #expect(throws: ImageError.self) {
                try partial(bytes + Array(repeatElement(empty, count: 1_000).joined()), need)
            }
            #expect(error?.code == .limitExceeded, "\(String(describing: error))")
        }
    }

    /// A PNG or JPEG of that size without its pixels.
    private static func png(side: Int) throws -> [UInt8] {
        let small = try Sources.encoded(.png(compression: 1), 8, 8) { x, _, _ in x }
        var bytes = Array(small.prefix(70))
        let number =
            [UInt8(side >> 24), UInt8(side >> 16 & 255), UInt8(side >> 8 & 255)]
            + [UInt8(side & 255)]
        bytes.replaceSubrange(16..<24, with: number + number)
        let sum = try Tool.run(
            ["python3", "-c", "import sys, zlib; print(zlib.crc32(sys.stdin.buffer.read()))"],
            input: Array(bytes[12..<29]))
        let crc = try #require(UInt32(String(decoding: sum.dropLast(), as: UTF8.self)))
        bytes.replaceSubrange(
            29..<33, with: (0..<4).map { UInt8(truncatingIfNeeded: crc >> (24 - 8 * $0)) })
        return bytes
    }

    private static func jpeg(side: Int) throws -> [UInt8] {
        var bytes = try Sources.encoded(.jpeg(quality: 90), 64, 64) { x, _, _ in x }
        let frame = try #require(bytes.indices.first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xC0 })
        let number = [UInt8(side >> 8), UInt8(side & 255)]
        bytes.replaceSubrange(frame + 5..<frame + 9, with: number + number)
        return bytes
    }

    @Test(arguments: PartialFile.allCases)
    func aCancelledJobComputesNothing(file: PartialFile) throws {
        let cancellation = CancellationFlag()
        cancellation.cancel()
        let bytes = try file.bytes().part(70)
        let error = #expect(throws: ImageError.self) {
            try partial(bytes, cancellation: cancellation)
        }
        #expect(error?.code == .cancelled)
    }

    /// Pixels are computed before space is reserved, so only the cancellation flag stops the job in
    /// time.
    @Test(arguments: [
        VipsEncoding.jpeg(quality: 90), .jpeg(quality: 90, progressive: true),
        .png(compression: 6), .png(compression: 6, interlaced: true),
        .webp(quality: 80, effort: 0),
    ])
    func aBigJobStopsWhenItIsCancelledMidway(encoding: VipsEncoding) throws {
        let bytes = try Sources.large(encoding, side: 3_000).part(90)
        let clock = ContinuousClock()
        let began = clock.now
        #expect(try partial(bytes).isShown)
        let whole = clock.now - began
        // A busy machine may sleep too long, so the next attempt cancels earlier.
        let isStopped = try (1...8).contains { attempt in
            try isStoppedMidway(bytes, after: whole / (2 << attempt))
        }
        #expect(isStopped, "it went on to the end of its pixels")
    }

    /// Whether a job that is canceled after `pause` ends before it reserves space for its pixels.
    private func isStoppedMidway(_ bytes: [UInt8], after pause: Duration) throws -> Bool {
        let (cancellation, reserved) = (CancellationFlag(), Recorder<Bool>())
        let canceller = try Thread(name: "canceller") {
            _ = Gate().wait(timeout: pause)
            cancellation.cancel()
        }
        let space = HeapSpace { reserved.append(true) }
        do throws(ImageError) {
            _ = try imageError { try partial(bytes, space: space, cancellation: cancellation) }
        } catch {
            #expect(error.code == .cancelled)
        }
        canceller.join()
        return reserved.values.isEmpty
    }

    @Test(arguments: 1...8)
    func aJPEGIsTurned(orientation: Int) throws {
        let bytes = try PartialFile.baseline.bytes().withEXIF(orientation: orientation)
        let (found, wanted) = try (partial(bytes), partial(PartialFile.baseline.bytes()))
        let turn = Orientation(exif: orientation)
        let size = PixelSize(width: PartialFile.width, height: PartialFile.height)
        #expect(found.info.size == turn.displayed(size))
        let corner =
            turn.transposes
            ? (turn.mirrorsVertically ? found.info.size.height - 1 : 0)
            : (turn.mirrorsVertically ? size.height - 1 : 0)
        let column = turn.mirrorsHorizontally ? found.info.size.width - 1 : 0
        let start = 3 * (corner * found.info.size.width + column)
        #expect(found.samples[start..<start + 3] == wanted.samples[0..<3])
        #expect(try partial(bytes.part(60)).info.size == found.info.size)
    }

    /// Colors are those of the whole image, converted by its profile or kept with it.
    @Test func profilesAreApplied() throws {
        let jpeg = try PartialFile.baseline.bytes().withProfile(TestProfile.rotatedRGB)
        let found = try partial(jpeg)
        #expect(try found.samples == decode(jpeg).samples)
        #expect(try found.samples != partial(PartialFile.baseline.bytes()).samples)
        let kept = try partial(jpeg.part(60), keeping: [.profile])
        #expect(kept.layout?.embeddedMetadata.map(\.kind) == [.profile])
        let half = try partial(jpeg.part(60))
        #expect(half.samples.prefix(30_000) == found.samples.prefix(30_000))
        #expect(half.samples.prefix(30_000) != kept.samples.prefix(30_000))
    }

    @Test(
        .enabled(if: Fixtures.folder != nil, "needs IMAGEBUS_FIXTURES"),
        arguments: [
            "TestICCProfile.jpg", "webpcoder/TestImageGrayscale.jpg",
            "webpcoder/TestColorspaceBefore.jpeg", "webpcoder/TestColorspaceStatic.webp",
            "webpcoder/TestDisplayP3.png", "TestEXIF.png", "MonochromeTestImage.jpg",
        ])
    func fixturesWithProfilesAreThoseOfTheWholeImage(name: String) throws {
        let bytes = try Fixtures.read("images/\(name)")
        let (found, wanted) = try (partial(bytes), decode(bytes))
        #expect(found.info == wanted.image.info)
        // Merging planes rounds differently.
        if wanted.layout == found.layout { #expect(found.samples == wanted.samples) }
        let half = try partial(bytes.part(60))
        #expect(half.isShown && half.layout == found.layout)
        #expect((1..<99).contains(likeness(half.samples, found.samples)))
    }

    @Test func whatCannotBeShownHasFacts() throws {
        let png = try PartialFile.png.bytes()
        let files = try [ExternalFiles.heif(png, isAVIF: true), ExternalFiles.jxl(png)]
        for bytes in files {
            for part in [1, 30, 60, 100] {
                do throws(ImageError) {
                    let found = try imageError { try partial(bytes.part(part)) }
                    #expect(!found.isShown && found.info.size.width == PartialFile.width)
                } catch {
                    #expect([.badImageData, .unsupportedFormat].contains(error.code), "\(error)")
                }
            }
            #expect(try partial(bytes).info == decode(bytes, .header).image.info)
        }
        let drawing = Array("<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>".utf8)
        #expect(try !partial(drawing, by: .vector).isShown)
        #expect(throws: ImageError.self) { try partial(drawing.part(80), by: .vector) }
    }

    @Test func furtherFactsAreNotOfBeginnings() throws {
        let bytes = try PartialFile.png.bytes()
        let error = #expect(throws: ImageError.self) {
            try perform(bytes) { ($0.isPartial, $0.wantsAllFrames) = (true, true) }
        }
        #expect(error?.code == .internalError)
    }
}
