import Model
import Testing
import Vips

@testable import Decoding

@Suite struct FormatDecodersTests {
    @Test(arguments: FormatFamily.allCases)
    func thereIsADecoderForEachFormatThatARowCallsDecodable(family: FormatFamily) {
        let formats = FormatDecoders.of(family).all.map(\.format)
        #expect(formats.count == ImageFormat.decodable(family).count)
        #expect(Set(formats) == Set(ImageFormat.decodable(family)))
    }

    @Test func nothingOfLibvipsIsOpenedButTheirLoaders() {
        #expect(
            Set(FormatDecoders.raster.loaders.map(\.name)) == [
                "jpegload_buffer", "pngload_buffer", "gifload_buffer", "webpload_buffer",
                "tiffload_buffer", "heifload_buffer", "jxlload_buffer",
            ])
        #expect(FormatDecoders.vector.loaders.map(\.name) == ["pdfload_buffer"])
    }

    @Test(arguments: FormatFamily.allCases)
    func thisMachineHasAllThatTheyNeed(family: FormatFamily) {
        for decoder in FormatDecoders.of(family).all { #expect(decoder.prepare()) }
    }

    /// The installed libvips reports no orientation for such images; other versions do.
    @Test(arguments: [true, false])
    func whatADecoderTurnsIsNotTurnedAgain(turnsPixels: Bool) throws {
        let file = try ExternalFiles.jpeg(orientation: 6)
        let source = try file.withUnsafeBytes {
            try SourceImage($0, by: TurningDecoder(turnsPixels: turnsPixels))
        }
        #expect(source.orientation == Orientation(exif: turnsPixels ? 1 : 6))
        let turning = FormatDecoders.raster.all.filter(\.turnsPixels).map(\.format)
        #expect(turning == [.heic, .heif, .avif, .jxl])
    }

    private struct TurningDecoder: FormatDecoder {
        let format = ImageFormat.jpeg
        let turnsPixels: Bool

        func open(_ bytes: UnsafeRawBufferPointer, at scale: DecodeScale) throws -> VipsImage {
            try .jpeg(bytes)
        }
    }

    /// Regardless of the bytes: libvips refuses them before reading, or needs a module that no
    /// decoder loads.
    @Test(arguments: [
        "svgload_buffer", "jp2kload_buffer", "radload_buffer", "ppmload", "tiffload", "heifload",
        "jxlload", "magickload_buffer", "openslideload_source",
    ])
    func aLoaderThatNoDecoderNamesIsNotReached(name: String) throws {
        try #require(!FormatDecoders.raster.loaders.contains { $0.name == name })
        _ = try DecodeStage()
        try VipsLibrary(loaders: []).exclusively {
            let error = [UInt8](repeating: 0x41, count: 64).withUnsafeBytes { bytes in
                #expect(throws: VipsError.self) {
                    try VipsImage.load(bytes, by: VipsLoader(name))
                }
            }
            #expect(error?.kind == .unsupported)
            let text = error?.text ?? ""
            #expect(text.contains("blocked") || text.contains("not found"), "\(text)")
        }
    }
}
