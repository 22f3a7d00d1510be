import ImageModel
import Vips

/// TIFF, the first page of it.
struct TIFFDecoder: LoaderDecoder {
    let format = ImageFormat.tiff
    let loader = VipsLoader.tiff

    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage {
        let image = try VipsImage.load(bytes, by: loader, options: ["page": 0, "n": 1])
        // libvips takes Y, Cb and Cr for red, green and blue.
        switch HeaderBytes(Span(_unsafeBytes: bytes)).tiffYCbCr {
        case nil: return image
        case .whole where image.header.bands == 3 && image.header.bytesPerBand == 1:
            return try image.convertedFromYCbCr()
        case .whole, .other:
            throw VipsError(
                kind: .unsupported, operation: "tiff",
                text: "YCbCr without JPEG, in other samples than three of 8 bits for each pixel")
        }
    }
}
