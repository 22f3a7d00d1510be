import ImageModel
import Testing
import Vips

@testable import Decoding

@Suite struct FormatDecodersTests {
    @Test func thereIsADecoderForEachFormatThatARowCallsDecodable() {
        #expect(FormatDecoders.all.map(\.format).count == ImageFormat.decodable.count)
        #expect(Set(FormatDecoders.all.map(\.format)) == Set(ImageFormat.decodable))
    }

    @Test func nothingOfLibvipsIsOpenedButTheirLoaders() {
        let names = FormatDecoders.loaders.map(\.name)
        #expect(
            Set(names) == [
                "jpegload_buffer", "pngload_buffer", "gifload_buffer", "webpload_buffer",
                "tiffload_buffer", "heifload_buffer", "jxlload_buffer",
            ])
    }

    /// libvips says nothing today of the orientation that those have; others of its versions do.
    @Test(arguments: [true, false])
    func whatADecoderTurnsIsNotTurnedAgain(turnsPixels: Bool) throws {
        let file = try ForeignFiles.jpeg(orientation: 6)
        let source = try file.withUnsafeBytes { bytes in
            try SourceImage(bytes, by: TurningDecoder(turnsPixels: turnsPixels))
        }
        #expect(source.orientation == Orientation(exif: turnsPixels ? 1 : 6))
        let turning = FormatDecoders.all.filter(\.turnsPixels).map(\.format)
        #expect(turning == [.heic, .heif, .avif, .jxl])
    }

    private struct TurningDecoder: FormatDecoder {
        let format = ImageFormat.jpeg
        let loader = VipsLoader.jpeg
        let turnsPixels: Bool

        func open(
            _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
        ) throws(VipsError) -> VipsImage {
            try .jpeg(bytes)
        }
    }

    /// Whatever the bytes are: libvips refuses before it looks at them.
    @Test(arguments: [
        "svgload_buffer", "pdfload_buffer", "jp2kload_buffer", "radload_buffer",
        "magickload_buffer", "ppmload", "tiffload", "heifload", "jxlload",
    ])
    func aLoaderThatNoDecoderNamesIsNotReached(name: String) throws {
        try #require(!FormatDecoders.loaders.contains { $0.name == name })
        _ = try DecodeStage()
        try VipsLibrary(loaders: []).exclusively {
            let error = [UInt8](repeating: 0x41, count: 64).withUnsafeBytes { bytes in
                #expect(throws: VipsError.self) {
                    try VipsImage.load(bytes, by: VipsLoader(name))
                }
            }
            #expect(error?.kind == .unsupported)
            #expect(error?.text.contains("blocked") == true, "\(error?.text ?? "")")
        }
    }
}
