import ImageModel
import Vips

/// All formats that are decoded.
enum FormatDecoders {
    static let all: [any FormatDecoder] = [
        JPEGDecoder(), PNGDecoder(), GIFDecoder(), WebPDecoder(), TIFFDecoder(),
        HEIFDecoder(format: .heic), HEIFDecoder(format: .heif), HEIFDecoder(format: .avif),
        JXLDecoder(),
    ]

    /// What libvips may open.
    static let loaders = all.map(\.loader)

    /// The decoder of what the first bytes say, never of what a server said.
    static func decoder(of bytes: UnsafeRawBufferPointer) throws(ImageError) -> any FormatDecoder {
        let format = ImageFormat(file: bytes.bindMemory(to: UInt8.self).span)
        guard format != .undefined else { throw .notAnImage }
        guard format.isDecodable, let decoder = all.first(where: { $0.format == format }) else {
            throw .notDecoded(format)
        }
        return decoder
    }
}
