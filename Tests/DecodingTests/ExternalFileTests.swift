import Model
import StageKit
import Testing
import Vips

/// TIFF, HEIC, AVIF and JPEG XL files from independent encoders.
@Suite struct ExternalFileTests {
    @Test(arguments: [
        [], ["-c", "lzw"], ["-c", "zip:2"], ["-c", "packbits"], ["-c", "jpeg:r:95"],
        ["-c", "zstd"], ["-t", "-w", "16", "-l", "16"], ["-p", "separate"], ["-r", "7"], ["-B"],
        ["-8"],
    ])
    func aTIFFOfEveryLayoutBecomesItsPixels(words: [String]) throws {
        let decoded = try decode(ExternalFiles.tiff(copied: words))
        #expect(decoded.image.info == info(.tiff))
        try expectColors(of: decoded, within: words.contains("jpeg:r:95") ? 2 : 0)
    }

    @Test func aTIFFOfSixteenBitsBecomesEight() throws {
        let samples = ExternalFiles.doubled(ExternalFiles.samples())
        let decoded = try decode(ExternalFiles.tiff(samples, depth: "short"))
        #expect(decoded.plane?.bands == .rgb)
        try expectColors(of: decoded, within: 0)
    }

    @Test func alphaOfATIFFStays() throws {
        let decoded = try decode(ExternalFiles.tiff(ExternalFiles.samples(bands: 4), bands: 4))
        #expect(decoded.image.info.hasAlpha)
        #expect(try decoded.pixel(12, 8) == [200, 40, 30, 100])
        #expect(try decoded.pixel(36, 24) == [220, 210, 60, 255])
    }

    /// Such samples have no defined white level.
    @Test(arguments: [("long", 4), ("float", 4)])
    func aTIFFOfOtherSamplesIsRefused(depth: String, bytes: Int) throws {
        let samples = [UInt8](
            repeating: 0, count: ExternalFiles.width * ExternalFiles.height * bytes)
        let file = try ExternalFiles.tiff(samples, bands: 1, colors: "minisblack", depth: depth)
        #expect(throws: Never.self) { try decode(file, .header) }
        #expect(failure(file)?.code == .unsupportedFormat)
    }

    /// Masks and spot colors after alpha are dropped.
    @Test func aTIFFOfSixBandsIsAnImageWithAlpha() throws {
        let samples = ExternalFiles.samples(bands: 4)
        let six = stride(from: 0, to: samples.count, by: 4).flatMap {
            samples[$0..<($0 + 4)] + [7, 9]
        }
        let decoded = try decode(ExternalFiles.tiff(six, bands: 6))
        #expect(decoded.plane?.bands == .rgba)
        #expect(try decoded.pixel(12, 8) == [200, 40, 30, 100])
    }

    @Test(arguments: [("minisblack", 70), ("miniswhite", 185)])
    func aGrayTIFFStaysGray(colors: String, value: UInt8) throws {
        let samples = [UInt8](
            repeating: 70, count: ExternalFiles.width * ExternalFiles.height)
        let decoded = try decode(ExternalFiles.tiff(samples, bands: 1, colors: colors))
        #expect(decoded.plane?.bands == .gray)
        #expect(try decoded.pixel(5, 5) == [value])
    }

    /// Without a profile, CMYK colors depend on the profile built into libvips.
    @Test(
        arguments: [
            ([255, 0, 0, 0], [0, 160, 220]), ([0, 255, 255, 0], [215, 40, 40]),
            ([0, 0, 0, 0], [255, 255, 255]), ([0, 0, 0, 255], [40, 40, 40]),
        ] as [([UInt8], [Int])])
    func theInksOfATIFFBecomeSRGB(inks: [UInt8], color: [Int]) throws {
        let count = ExternalFiles.width * ExternalFiles.height
        let samples = (0..<count).flatMap { _ in inks }
        for (samples, depth) in [(samples, "byte"), (ExternalFiles.doubled(samples), "short")] {
            let decoded = try decode(
                ExternalFiles.tiff(samples, bands: 4, colors: "cmyk", depth: depth))
            #expect(decoded.image.info.hasAlpha == false)
            let pixel = try decoded.pixel(9, 9)
            #expect(near(pixel, color, within: 25), "\(pixel)")
        }
    }

    @Test func theFirstPageOfATIFFIsDecodedAndItsPagesAreCounted() throws {
        let file = try ExternalFiles.tiff(pages: 3)
        let pixels = ExternalFiles.width * ExternalFiles.height
        // Pages are separate images, so their pixels don't count for this one.
        let decoded = try decode(file, limits: ImageLimits(pixelsMax: pixels))
        #expect(decoded.image.info == info(.tiff, pages: 3))
        try expectColors(of: decoded, within: 0)
    }

    /// The decoder reads the directories of all pages, which takes seconds if there are many.
    @Test func aTIFFOfTooManyPagesIsRefusedBeforeItIsOpened() throws {
        let error = failure(
            try ExternalFiles.tiff(pages: 3), .header, limits: ImageLimits(pagesMax: 2))
        #expect(error?.details["limit"] == "pagesMax")
        #expect(error?.message == "the image has 3 pages or more, but page-limit permits 2")
    }

    @Test(arguments: 1...8)
    func aTIFFIsTurnedAsItSays(orientation: Int) throws {
        let file = try ExternalFiles.tiff(tags: [["274", "\(orientation)"]])
        try expectTurned(decode(file), orientation, within: 0)
    }

    /// libjxl applies the orientation itself; the EXIF copied from the JPEG states it again.
    @Test(arguments: 1...8)
    func aJPEGXLIsTurnedOnce(orientation: Int) throws {
        let jpeg = try ExternalFiles.jpeg(orientation: orientation)
        try expectTurned(decode(jpeg), orientation, within: 6)
        try expectTurned(decode(ExternalFiles.jxl(jpeg, named: "a.jpg")), orientation, within: 6)
    }

    @Test func aJPEGXLIsNotTurnedByXMP() throws {
        let packet = "<x xmlns:tiff='http://ns.adobe.com/tiff/1.0/' tiff:Orientation='6'/>"
        let jpeg = try ExternalFiles.jpeg(orientation: 1).withXMP(packet)
        try expectTurned(decode(ExternalFiles.jxl(jpeg, named: "a.jpg")), 1, within: 6)
    }

    /// libheif does so as well, from the properties of the file.
    @Test func aHEIFIsTurnedOnce() throws {
        try expectTurned(decode(ExternalFiles.heicTurnedBySix), 6, within: 2)
        try expectTurned(decode(ExternalFiles.avifTurnedByFive), 5, within: 4)
    }

    /// ISO/IEC 23008-12 gives EXIF orientation no effect.
    @Test(arguments: [false, true])
    func aHEIFIsNotTurnedByEXIF(isAVIF: Bool) throws {
        let file = try ExternalFiles.heif(ExternalFiles.jpeg(orientation: 6), isAVIF: isAVIF)
        try expectTurned(decode(file), 1, within: 10)
    }

    @Test(arguments: [(false, ImageFormat.heic), (true, .avif)], [3, 4])
    func aHEIFBecomesItsPixels(kind: (isAVIF: Bool, format: ImageFormat), bands: Int) throws {
        let file = try ExternalFiles.heif(ExternalFiles.png(bands: bands), isAVIF: kind.isAVIF)
        let decoded = try decode(file)
        #expect(decoded.image.info == info(kind.format, hasAlpha: bands == 4))
        try expectColors(of: decoded, within: 6)
        if bands == 4 { #expect(try near(decoded.pixel(12, 8), [200, 40, 30, 100], within: 6)) }
    }

    @Test(arguments: [3, 4])
    func aJPEGXLBecomesItsPixels(bands: Int) throws {
        let decoded = try decode(ExternalFiles.jxl(ExternalFiles.png(bands: bands)))
        #expect(decoded.image.info == info(.jxl, hasAlpha: bands == 4))
        try expectColors(of: decoded, within: 1)
        if bands == 4 { #expect(try decoded.pixel(12, 8)[3] == 100) }
    }

    @Test func aJPEGXLOfSixteenBitsBecomesEight() throws {
        let head = "P6\n\(ExternalFiles.width) \(ExternalFiles.height)\n65535\n"
        let source = Array(head.utf8) + ExternalFiles.doubled(ExternalFiles.samples())
        let decoded = try decode(ExternalFiles.jxl(source, named: "a.ppm"))
        #expect(decoded.plane?.bands == .rgb)
        try expectColors(of: decoded, within: 1)
    }

    @Test func anAnimatedJPEGXLIsOneOfItsFrames() throws {
        let decoded = try decode(ExternalFiles.jxl(twoFrameGIF, named: "a.gif"))
        #expect(decoded.image.info.size == PixelSize(width: 2, height: 1))
        let pixels = try [decoded.pixel(0, 0), decoded.pixel(1, 0)].map { Array($0.prefix(3)) }
        #expect([[255, 0, 0], [0, 0, 255]].contains(pixels[0]))
        #expect(pixels[0] != pixels[1])
    }

    @Test func whatEndsEarlyIsBadData() throws {
        let png = try ExternalFiles.png()
        for file in [
            try ExternalFiles.tiff(), try ExternalFiles.tiff(copied: ["-c", "lzw"]),
            try ExternalFiles.heif(png, isAVIF: false), try ExternalFiles.heif(png, isAVIF: true),
            try ExternalFiles.jxl(png),
        ] {
            for part in [0.3, 0.6, 0.9] {
                let cut = Array(file.prefix(Int(Double(file.count) * part)))
                let error = failure(cut)
                #expect(error?.code == .badImageData, "\(part): \(String(describing: error))")
            }
        }
    }

    @Test func limitsAreCheckedOnTheHeader() throws {
        let png = try ExternalFiles.png()
        for file in [
            try ExternalFiles.tiff(), try ExternalFiles.heif(png, isAVIF: false),
            try ExternalFiles.heif(png, isAVIF: true), try ExternalFiles.jxl(png),
        ] {
            for (limits, name) in [
                (ImageLimits(sideMax: 47), "sideMax"), (ImageLimits(pixelsMax: 1535), "pixelsMax"),
                (ImageLimits(pixelBytesMax: 4_607), "pixelBytesMax"),
            ] {
                let error = failure(file, limits: limits)
                #expect(error?.code == .limitExceeded)
                #expect(error?.details["limit"] == name)
            }
            #expect(throws: Never.self) { try decode(file, .header) }
        }
    }

    /// libheif leaves messages in libvips' error buffer even on success.
    @Test func whatOneImageLeavesBehindIsNotSaidOfTheNext() throws {
        let heic = try ExternalFiles.heif(ExternalFiles.png(), isAVIF: false)
        #expect(throws: Never.self) { try decode(heic) }
        let reason = failure([UInt8](repeating: 0x89, count: 100))?.details["reason"]
        #expect(reason?.contains("png") == true, "\(reason ?? "")")
        #expect(reason?.contains("seek") == false, "\(reason ?? "")")
    }

    private func info(
        _ format: ImageFormat, pages: Int = 1, hasAlpha: Bool = false
    ) -> ImageInfo {
        let size = PixelSize(width: ExternalFiles.width, height: ExternalFiles.height)
        return ImageInfo(format: format, size: size, pages: pages, hasAlpha: hasAlpha)
    }

    private func expectColors(of decoded: Decoded, within tolerance: Int) throws {
        for ((x, y), color) in zip(ExternalFiles.middles(), ExternalFiles.colors) {
            let pixel = try decoded.pixel(x, y)
            #expect(near(Array(pixel.prefix(3)), color, within: tolerance), "\(pixel)")
        }
    }

    /// Expects the quarters in the order displayed for the orientation, row by row from the top
    /// left.
    private func expectTurned(_ decoded: Decoded, _ orientation: Int, within tolerance: Int) throws
    {
        let quarters = [
            [0, 1, 2, 3], [1, 0, 3, 2], [3, 2, 1, 0], [2, 3, 0, 1], [0, 2, 1, 3], [2, 0, 3, 1],
            [3, 1, 2, 0], [1, 3, 0, 2],
        ][orientation - 1]
        let stored = PixelSize(width: ExternalFiles.width, height: ExternalFiles.height)
        let size = orientation >= 5 ? stored.transposed : stored
        try #require(decoded.image.info.size == size)
        for ((x, y), quarter) in zip(ExternalFiles.middles(size.width, size.height), quarters) {
            let pixel = try decoded.pixel(x, y)
            let color = ExternalFiles.colors[quarter]
            #expect(
                near(pixel, color, within: tolerance),
                "\(decoded.image.info.format) \(orientation): \(pixel) for \(color)")
        }
    }

    private func near(_ left: [UInt8], _ right: [Int], within tolerance: Int) -> Bool {
        left.count == right.count
            && zip(left, right).allSatisfy { abs(Int($0) - $1) <= tolerance }
    }
}
