import Deflate
import ImageModel
import Messages

/// An SVG that nobody draws here: what is known of it is in its first element. One that came
/// compressed (`.svgz`) is inflated.
struct UndrawnSVG {
    /// The document where it came compressed; `nil`: it is the source itself.
    let inflated: [UInt8]?
    let info: ImageInfo

    /// `nil` for what is no SVG.
    init?(_ bytes: UnsafeRawBufferPointer, _ limits: ImageLimits) {
        inflated = GzipDecompressor.inflated(bytes, atMost: Int(DecodeWork.inflatedBytesMax))
        let size: PixelSize?
        if let inflated {
            size = inflated.withUnsafeBytes { Self.size($0, limits) }
        } else {
            size = Self.size(bytes, limits)
        }
        guard let size else { return nil }
        info = ImageInfo(format: .svg, size: size, hasAlpha: true)
    }

    private static func size(
        _ bytes: UnsafeRawBufferPointer, _ limits: ImageLimits
    ) -> PixelSize? {
        guard ImageFormat(file: bytes.bindMemory(to: UInt8.self).span) == .svg else { return nil }
        return DrawingSize.of(bytes, sideMax: limits.sideMax, pixelsMax: limits.pixelsMax)
    }
}
