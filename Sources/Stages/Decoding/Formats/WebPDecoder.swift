import CodecSupport
import Model
import Vips
import WebP

/// WebP, its first frame: reduced during decoding.
struct WebPDecoder: LoaderDecoder {
    let format = ImageFormat.webp
    let loader = VipsLoader.webp

    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage {
        try .webp(bytes, scale: scale.value)
    }

    /// A lossless image is decoded completely before it is reduced; for a lossy one this is an
    /// upper bound.
    func keptBytes(of source: SourceImage, at scale: DecodeScale) -> Int {
        scale == .whole ? 0 : 4 * source.storedSize.width * source.storedSize.height
    }

    func partialDecoder(
        _ cancellation: CancellationFlag, _ missing: MissingPixels
    ) -> any FormatDecoder {
        PartialWebP(cancellation: cancellation, missing: missing)
    }
}

/// The beginning of a WebP: the rows that have arrived, the rest transparent or black. For an
/// animation only the header: a frame is decoded once it is complete.
///
/// libvips' loader only accepts whole files. The orientation is stored after the pixels, so it
/// isn't known yet.
struct PartialWebP: PartialDecoder {
    let cancellation: CancellationFlag
    let missing: MissingPixels
    let whole: any FormatDecoder = WebPDecoder()

    func header(_ bytes: UnsafeRawBufferPointer) throws(VipsError) -> VipsImage {
        let beginning = try Self.beginning(bytes)
        return try .blank(
            width: beginning.width, height: beginning.height, bands: beginning.bands
        ).embedding(profile: Self.profile(bytes), xmp: [])
    }

    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage {
        let beginning = try Self.beginning(bytes)
        let size = scale.size(PixelSize(width: beginning.width, height: beginning.height))
        let template = try VipsImage.blank(
            width: size.width, height: size.height, bands: beginning.bands
        ).embedding(profile: Self.profile(bytes), xmp: [])
        return try .partial(of: "webp", like: template, noting: missing) {
            pixels throws(CodecError) in
            let rows = try beginning.read(
                into: pixels, width: size.width, height: size.height
            ) { cancellation.isCancelled }
            return rows == size.height ? .whole : rows > 0 ? .part : .nothing
        }
    }

    private static func beginning(
        _ bytes: UnsafeRawBufferPointer
    ) throws(VipsError) -> WebPBeginning {
        do { return try WebPBeginning(bytes) } catch { throw VipsError(error, operation: "webp") }
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
