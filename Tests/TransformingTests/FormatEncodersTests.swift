import Model
import Testing
import Vips

@testable import Transforming

@Suite struct FormatEncodersTests {
    @Test func thereIsAnEncoderForEachFormatThatARowCallsEncodable() {
        #expect(FormatEncoders.all.map(\.format).count == ImageFormat.encodable.count)
        #expect(Set(FormatEncoders.all.map(\.format)) == Set(ImageFormat.encodable))
    }

    @Test func aTransformerOpensNothingButWhatItWrote() {
        #expect(FormatEncoders.loaders == [.webp])
        #expect(FormatEncoders.savers == [.jxl])
    }
}
