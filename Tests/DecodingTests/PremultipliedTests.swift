import Model
import TestKit
import Testing

/// Colors stored premultiplied by alpha.
@Suite struct PremultipliedTests {
    /// Samples may differ by lossy coding and by the rounded product.
    @Test(arguments: [("avif", 4), ("jxl", 2)])
    func colorsAreShownWithoutTheirAlpha(fileExtension: String, most: Int) throws {
        let folder = TemporaryDirectory()
        let (file, raw) = (folder.file("a.\(fileExtension)"), folder.file("raw"))
        let script = RepositoryRoot.file("Tests/Images/premultiplied.py")
        try Tool.run(["python3", script, file, raw])
        let wanted = try #require(FileBytes.read(raw))
        let decoded = try decode(try #require(FileBytes.read(file)))
        #expect(decoded.image.info.hasAlpha)
        try #require(decoded.samples.count == wanted.count)
        let differences = zip(decoded.samples, wanted).map { abs(Int($0) - Int($1)) }
        #expect(differences.max() ?? 0 <= most)
    }

    @Test(.enabled(if: Fixtures.folder != nil, "needs IMAGEBUS_FIXTURES"))
    func aReportedFileIsThePictureThatItWasMadeOf() throws {
        let produced = try decode(try Fixtures.read("reports/avif_prem.avif"))
        let picture = try decode(try Fixtures.read("reports/alpha.png"))
        try #require(produced.samples.count == picture.samples.count)
        for pixel in stride(from: 0, to: produced.samples.count, by: 4) {
            let alpha = picture.samples[pixel + 3]
            guard produced.samples[pixel + 3] == alpha else {
                Issue.record("alpha of pixel \(pixel / 4)")
                return
            }
            // Almost transparent pixels have lost their color.
            guard alpha > 100 else { continue }
            for band in pixel..<pixel + 3 {
                let difference = Int(produced.samples[band]) - Int(picture.samples[band])
                #expect(abs(difference) <= 12)
            }
        }
    }

    /// JPEG XL headers, bit by bit as in ISO/IEC 18181-1, D.
    @Test(arguments: [
        // All defaults.
        ("1 01010 000 01010 1", false),
        // A default alpha channel, one that isn't premultiplied, and one that is.
        ("1 01010 000 01010 0 0 000 0 10 1", false),
        ("1 01010 000 01010 0 0 000 0 10 0 00 000 00 00 0", false),
        ("1 01010 000 01010 0 0 000 0 10 0 00 000 00 00 1", true),
        // An orientation, a preview and an animation, depth before alpha, and a name.
        (
            "1 01010 000 01010 0 1 101 0 1 1 00 100 1 00 00 00 0 000 1 01 0000"
                + " 0 10 000 00 00 0 00 000 00 10 1000 10000110 1", true
        ),
    ])
    func aJPEGXLSaysWhetherItsColorsAreMultiplied(bits: String, isPremultiplied: Bool) {
        var file: [UInt8] = [0xFF, 0x0A]
        for (index, bit) in bits.filter({ $0 != " " }).enumerated() {
            if index % 8 == 0 { file.append(0) }
            if bit == "1" { file[file.count - 1] |= 1 << UInt8(index % 8) }
        }
        #expect(HeaderBytes(file.span).jxlAlphaIsPremultiplied == isPremultiplied)
        let cut = Array(file.dropLast())
        #expect(HeaderBytes(cut.span).jxlAlphaIsPremultiplied == nil)
    }
}
