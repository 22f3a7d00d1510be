import ImageModel
import Vips

/// All formats that are decoded.
enum FormatDecoders {
    static let all: [any FormatDecoder] = [
        JPEGDecoder(), PNGDecoder(), GIFDecoder(), WebPDecoder(),
    ]

    /// What libvips may open.
    static let loaders = all.map(\.loader)

    /// The decoder of what the first bytes say, never of what a server said.
    static func decoder(of bytes: UnsafeRawBufferPointer) throws(ImageError) -> any FormatDecoder {
        let format = ImageFormat.sniff(bytes, tail: bytes.suffix(100))
        guard format != .undefined else { throw .notAnImage }
        guard format.isDecodable, let decoder = all.first(where: { $0.format == format }) else {
            throw .notDecoded(format)
        }
        return decoder
    }
}
