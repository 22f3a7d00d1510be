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
}
