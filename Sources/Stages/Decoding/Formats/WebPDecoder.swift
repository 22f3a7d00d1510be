import CodecSupport
import Model
import Vips
import WebP

/// WebP, its first frame: reduced during decoding.
struct WebPDecoder: FormatDecoder {
    let format = ImageFormat.webp
    let loaders = [VipsLoader.webp]

    func open(_ bytes: UnsafeRawBufferPointer, at scale: DecodeScale) throws -> VipsImage {
        try .webp(bytes, scale: scale.value)
    }

    /// A lossless image is decoded completely before it is reduced; for a lossy one this is an
    /// upper bound.
    func keptBytes(of source: SourceImage, at scale: DecodeScale) -> Int {
        scale == .whole ? 0 : 4 * source.storedSize.width * source.storedSize.height
    }

    // libvips' loader only accepts whole files. The orientation is stored after the pixels, so it
    // isn't known yet.

    func partialHeader(_ bytes: UnsafeRawBufferPointer) throws -> VipsImage {
        try Self.template(WebPBeginning(bytes), bytes, at: .whole)
    }

    /// Decodes the rows that have arrived; the rest is transparent or black. Of an animation only
    /// the header is available: a frame is decoded once it is complete.
    func openPartial(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale, _ missing: MissingPixels
    ) throws -> VipsImage {
        let beginning = try WebPBeginning(bytes)
        let template = try Self.template(beginning, bytes, at: scale)
        let (width, height) = (template.width, template.height)
        return try .partial(like: template, noting: missing) { pixels in
            let rows = try beginning.read(
                into: pixels, width: width, height: height, isCancelled: missing.isCancelled)
            return rows == height ? .whole : rows > 0 ? .part : .nothing
        }
    }

    private static func template(
        _ beginning: WebPBeginning, _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws -> VipsImage {
        let size = scale.size(PixelSize(width: beginning.width, height: beginning.height))
        return try .blank(width: size.width, height: size.height, bands: beginning.bands)
            .embedding(profile: profile(bytes), xmp: [])
    }

    /// The maximum number of chunks before the pixels.
    private static let chunksMax = 16

    /// The profile is between the header and the pixels, if the header declares it (RFC 9649,
    /// 2.7.1.4).
    private static func profile(_ bytes: UnsafeRawBufferPointer) throws(VipsError) -> [UInt8] {
        let file = HeaderBytes(Span(_unsafeBytes: bytes))
        guard file.has("VP8X", at: 12), let flags = file.byte(20), flags & 0x20 != 0 else {
            return []
        }
        var offset = 12
        for _ in 0..<chunksMax {
            guard let count = file.littleEndian(4, at: offset + 4) else { break }
            let body = offset + 8..<offset + 8 + count
            if file.has("ICCP", at: offset) {
                guard body.upperBound <= bytes.count else { break }
                return Array(bytes[body])
            }
            offset = body.upperBound + count % 2
        }
        throw VipsError(kind: .corrupt, operation: "webp", text: "the profile has not arrived yet")
    }
}
