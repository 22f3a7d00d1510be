public import ImageModel

/// The pixels that steps made, for who encodes nothing.
public struct RenderedImage: Sendable {
    /// Columns and rows.
    public let size: PixelSize
    /// Samples of a pixel: 1 grey, 2 grey and alpha, 3 sRGB, 4 sRGB and alpha; alpha straight.
    public let bands: Int
    /// 8 bits each, interleaved, rows without padding.
    public let samples: [UInt8]
}
