import Model
import TestKit
import Testing

/// YCbCr TIFFs without JPEG compression, as written by Pillow.
@Suite struct LumaTIFFTests {
    private static func file(_ compression: String) throws -> [UInt8] {
        let folder = TemporaryDirectory()
        let (input, output) = (
            folder.write(try ExternalFiles.png(), to: "a.png"), folder.file("a.tif")
        )
        try Tool.run([
            "python3", "-c",
            """
            import sys; from PIL import Image
            image = Image.open(sys.argv[1]).convert('YCbCr')
            image.save(sys.argv[2], compression=sys.argv[3] or None)
            """, input, output, compression,
        ])
        return try #require(FileBytes.read(output))
    }

    private func expectColors(of file: [UInt8]) throws {
        let decoded = try decode(file)
        for ((x, y), wanted) in zip(ExternalFiles.middles(), ExternalFiles.colors) {
            let pixel = try decoded.pixel(x, y)
            #expect(zip(pixel, wanted).allSatisfy { abs(Int($0) - $1) <= 2 }, "\(pixel)")
        }
    }

    @Test(arguments: ["", "tiff_lzw", "tiff_adobe_deflate"])
    func wholeSamplesAreConverted(compression: String) throws {
        try expectColors(of: Self.file(compression))
    }

    /// The subsampling tag says 2 and 1.
    @Test func fewerSamplesOfColorAreUnsupported() throws {
        var file = try Self.file("")
        let tag: [UInt8] = [0x12, 0x02, 3, 0, 2, 0, 0, 0]
        let place = try #require(
            (0..<(file.count - 12)).first { file[$0..<($0 + 8)].elementsEqual(tag) })
        file[place + 8] = 2
        #expect(failure(file)?.code == .unsupportedFormat)
    }

    /// The expected pixels come from libtiff's own conversion, through ImageMagick.
    @Test(.enabled(if: Fixtures.folder != nil, "needs IMAGEBUS_FIXTURES"))
    func aReportedFileIsConverted() throws {
        let decoded = try decode(Fixtures.read("reports/t_ycc.tif"))
        for (part, wanted) in [(1, [220, 29, 39]), (3, [19, 199, 60])] {
            let pixel = try decoded.pixel(60 * part, 40 * part)
            #expect(zip(pixel, wanted).allSatisfy { abs(Int($0) - $1) <= 3 }, "\(pixel)")
        }
    }
}
