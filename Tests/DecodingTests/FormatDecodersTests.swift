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
            ])
    }

    /// Whatever the bytes are: libvips refuses before it looks at them.
    @Test(arguments: [
        "tiffload_buffer", "svgload_buffer", "pdfload_buffer", "heifload_buffer",
        "jxlload_buffer", "jp2kload_buffer", "radload_buffer", "magickload_buffer",
    ])
    func aLoaderThatNoDecoderNamesIsNotReached(name: String) throws {
        guard !FormatDecoders.loaders.contains(where: { $0.name == name }) else { return }
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
