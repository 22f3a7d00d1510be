import Model
import StageKit
import TestKit
import Testing

/// SVG and PDF, rendered at the needed size. The expected pixels are computed by formula.
@Suite struct DrawingTests {
    private static func need(_ width: Int, _ height: Int, _ mode: ResizeMode) -> DecodeNeed {
        .cover(PixelSize(width: width, height: height), mode)
    }

    private static func size(_ width: Int, _ height: Int) -> PixelSize {
        PixelSize(width: width, height: height)
    }

    /// As documented in SEMANTICS §11.19: shapes that browsers fill with the variable's value or
    /// fallback are black.
    @Test func customPropertiesAreNotResolved() throws {
        let svg = """
            <svg xmlns="http://www.w3.org/2000/svg" width="4" height="2">
            <style>:root{--c:#0ff} .a{fill:#f0f}</style>
            <rect class="a" width="2" height="2"/>
            <rect x="2" width="2" height="2" fill="var(--c,#0ff)"/></svg>
            """
        let decoded = try decode(Array(svg.utf8), by: .vector)
        #expect(try decoded.pixel(0, 0) == [255, 0, 255, 255])
        #expect(try decoded.pixel(3, 0) == [0, 0, 0, 255])
    }

    /// Cairo doesn't antialias edges between pixels.
    @Test(
        arguments: [
            (Drawings.svgQuarters(), ImageFormat.svg, true),
            (Drawings.pdfQuarters(), .pdf, false),
        ],
        [(24, DecodeNeed.full), (512, need(512, 512, .fit)), (7, need(7, 7, .fit))])
    func aDrawingIsSharpAtEverySize(
        drawing: (bytes: [UInt8], format: ImageFormat, hasAlpha: Bool),
        wanted: (side: Int, need: DecodeNeed)
    ) throws {
        let decoded = try decode(drawing.bytes, wanted.need, by: .vector)
        let side = wanted.side
        #expect(decoded.plane?.size == Self.size(side, side))
        // The intrinsic size, regardless of the rendered size.
        let info = ImageInfo(
            format: drawing.format, size: Self.size(24, 24), hasAlpha: drawing.hasAlpha)
        #expect(decoded.image.info == info)
        for y in 0..<side {
            for x in 0..<side where 2 * x + 1 != side && 2 * y + 1 != side {
                let color = Drawings.colors[(2 * y < side ? 0 : 2) + (2 * x < side ? 0 : 1)]
                let pixel = try decoded.pixel(x, y)
                try #require(
                    pixel == color + (drawing.hasAlpha ? [255] : []), "\(x), \(y): \(pixel)")
            }
        }
    }

    @Test func headerFactsAreThoseOfItsOwnSize() throws {
        for (bytes, format) in [
            (Drawings.svgQuarters(width: 40, height: 30), ImageFormat.svg),
            (Drawings.pdfQuarters(width: 40, height: 30), .pdf),
        ] {
            let info = try decode(bytes, .header, by: .vector).image.info
            #expect(info.format == format && info.size == Self.size(40, 30))
        }
    }

    /// 96 CSS pixels per inch.
    @Test(arguments: [
        ("width='10px' height='20'", 10, 20), ("width='1in' height='2in'", 96, 192),
        ("width='2.54cm' height='25.4mm'", 96, 96), ("width='72pt' height='12pc'", 96, 192),
        ("viewBox='0 0 30 20'", 30, 20), ("width='60' viewBox='0 0 30 20'", 60, 40),
        ("height='1in' viewBox='0 0 30 20'", 144, 96),
        ("width='100%' height='100%' viewBox='5 5 30 20'", 30, 20), ("", 17, 13),
        ("width='10.4' height='0.6'", 10, 1),
    ])
    func anSVGHasTheSizeThatItSays(attributes: String, width: Int, height: Int) throws {
        let bytes = Drawings.svg(attributes, "<rect width='17' height='13'/>")
        let info = try decode(bytes, .header, by: .vector).image.info
        #expect(info.size == Self.size(width, height))
    }

    @Test func lengthsInADrawingAreThoseOfCSS() throws {
        let bytes = Drawings.svg(
            "width='200' height='10'", "<rect width='1in' height='10' fill='#00f'/>")
        let decoded = try decode(bytes, by: .vector)
        #expect(try decoded.pixel(95, 5) == [0, 0, 255, 255])
        #expect(try decoded.pixel(96, 5) == [0, 0, 0, 0])
    }

    /// Half-transparent red over nothing and over blue: straight alpha, colors computed by formula.
    @Test func alphaIsStraight() throws {
        let bytes = Drawings.svg(
            "width='20' height='10'",
            "<rect width='10' height='10' fill='#00f'/>"
                + "<rect width='20' height='10' fill='#f00' fill-opacity='.6'/>")
        let decoded = try decode(bytes, by: .vector)
        #expect(try decoded.pixel(15, 5) == [255, 0, 0, 153])
        let mixed = try decoded.pixel(5, 5)
        #expect(mixed == [153, 0, 102, 255], "\(mixed)")
    }

    @Test func aSizeThatIsNoneIsBadData() {
        for attributes in ["width='0' height='5'", "width='-1' height='5'"] {
            let error = failure(Drawings.svg(attributes, ""), .header, by: .vector)
            #expect(error?.code == .badImageData, "\(attributes)")
        }
        #expect(failure(Drawings.svg("", ""), .header, by: .vector)?.code == .badImageData)
    }

    /// A drawing that declares a width of one million pixels is small if a small image is
    /// requested.
    @Test func whatCountsIsWhatIsDrawn() throws {
        let bytes = Drawings.svg(
            "width='1000000' height='500000'", "<rect width='1000000' height='500000'/>")
        #expect(failure(bytes, by: .vector)?.details["limit"] == "sideMax")
        let small = try decode(bytes, Self.need(100, 100, .fit), by: .vector)
        #expect(small.plane?.size == Self.size(100, 50))
        #expect(try small.pixel(99, 49) == [0, 0, 0, 255])
        let large = failure(
            Drawings.svgQuarters(), Self.need(4_097, 4_097, .stretch), by: .vector)
        #expect(large?.details["limit"] == "pixelsMax")
        #expect(large?.details["permitted"] == "\(16 << 20)")
        // No setting raises this limit.
        #expect(large?.details["setting"] == nil)
        #expect(large?.message.contains("at most 16777216 are rendered") == true)
        let narrow = failure(
            Drawings.svgQuarters(), Self.need(20, 20, .fit), limits: ImageLimits(pixelsMax: 100),
            by: .vector)
        #expect(narrow?.message.contains("pixel-limit permits 100") == true)
        #expect(
            failure(
                Drawings.svgQuarters(), Self.need(20, 20, .fit), limits: ImageLimits(sideMax: 19),
                by: .vector)?.details["limit"] == "sideMax")
    }

    @Test(arguments: [
        (ResizeMode.stretch, 96, 96), (.letterbox, 48, 48), (.fill, 96, 96), (.fit, 48, 48),
    ])
    func everyModeIsDrawnAsLargeAsItNeeds(mode: ResizeMode, width: Int, height: Int) throws {
        for bytes in [Drawings.svgQuarters(), Drawings.pdfQuarters()] {
            let decoded = try decode(bytes, Self.need(96, 48, mode), by: .vector)
            #expect(decoded.plane?.size == Self.size(width, height))
        }
    }

    @Test func textIsDrawn() throws {
        let svg = Drawings.svg(
            "width='100' height='100'", "<text x='5' y='80' font-size='80'>M</text>")
        let pdf = Drawings.pdf(
            width: 100, height: 100, pages: ["BT /F1 80 Tf 5 20 Td (M) Tj ET"])
        for bytes in [svg, pdf] {
            let decoded = try decode(bytes, by: .vector)
            let bands = bytes == svg ? 4 : 3
            let dark = stride(from: 0, to: decoded.samples.count, by: bands).filter {
                decoded.samples[$0] < 64 && (bands == 3 || decoded.samples[$0 + 3] > 192)
            }
            #expect((500...5_000).contains(dark.count), "\(dark.count)")
        }
    }

    @Test func theFirstPageOfAPDFIsDrawnOnWhiteAndItsPagesAreCounted() throws {
        let bytes = Drawings.pdf(
            width: 30, height: 20,
            pages: ["1 0 0 rg 0 0 15 20 re f", "0 0 1 rg 0 0 30 20 re f", ""])
        let decoded = try decode(bytes, by: .vector)
        #expect(
            decoded.image.info
                == ImageInfo(format: .pdf, size: Self.size(30, 20), pages: 3))
        #expect(try decoded.pixel(7, 10) == [255, 0, 0])
        #expect(try decoded.pixel(22, 10) == [255, 255, 255])
        let error = failure(bytes, .header, limits: ImageLimits(pagesMax: 2), by: .vector)
        #expect(error?.details["limit"] == "pagesMax")
    }

    /// The same page rendered by an independent library.
    @Test func aPageLooksAsMuPDFDrawsIt() throws {
        let page = """
            0.2 0.4 0.8 rg 10 10 80 60 re f
            1 0.5 0 RG 6 w 20 90 m 60 140 100 40 140 90 c S
            0.1 0.6 0.2 rg 100 30 m 140 30 l 120 64 l f
            BT /F1 24 Tf 20 110 Td (Page) Tj ET
            """
        let bytes = Drawings.pdf(width: 150, height: 150, pages: [page])
        let folder = TemporaryDirectory()
        let file = folder.write(bytes, to: "a.pdf")
        let output = folder.file("a.pam")
        try Tool.run(["mutool", "draw", "-q", "-r", "144", "-c", "rgb", "-o", output, file, "1"])
        let picture = try #require(FileBytes.read(output))
        let theirs = Array(picture.suffix(300 * 300 * 3))
        let ours = try decode(bytes, Self.need(300, 300, .fit), by: .vector).samples
        try #require(ours.count == theirs.count)
        for (x, y) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            for band in 0..<3 {
                let (mine, other) = (
                    Self.mean(ours, band, x, y), Self.mean(theirs, band, x, y)
                )
                #expect(abs(mine - other) < 2, "quarter \(x), \(y), band \(band): \(mine) \(other)")
            }
        }
    }

    private static func mean(
        _ samples: [UInt8], _ band: Int, _ x: Int, _ y: Int
    ) -> Double {
        var sum = 0
        for row in (y * 150)..<(y * 150 + 150) {
            for column in (x * 150)..<(x * 150 + 150) {
                sum += Int(samples[(row * 300 + column) * 3 + band])
            }
        }
        return Double(sum) / 22_500
    }
}
