public import ImageModel
import Messages

/// How many pixels there are, and what each is made of: samples of 8 bits, in rows from top to
/// bottom without gaps.
public struct PixelForm: Hashable, Sendable {
    /// The samples of a pixel, next to each other. Alpha is straight, not multiplied.
    public enum Bands: Int, Hashable, Sendable, CaseIterable {
        /// One sample.
        case grey = 1
        /// Grey and alpha.
        case greyAlpha = 2
        /// Red, green and blue.
        case rgb = 3
        /// Red, green, blue and alpha.
        case rgba = 4

        /// Whether there is an alpha channel.
        public var hasAlpha: Bool { self == .greyAlpha || self == .rgba }
    }

    /// Columns and rows.
    public var size: PixelSize
    /// The samples of a pixel.
    public var bands: Bands

    /// Any size, as a file says it; whether it makes sense is looked at before pixels are made.
    public init(width: Int, height: Int, bands: Bands) {
        size = PixelSize(width: width, height: height)
        self.bands = bands
    }

    /// Bytes of all samples; `nil` for no size, and where that is no number.
    public var byteCount: Int? {
        guard size.isPositive, let area = size.area else { return nil }
        let (count, overflow) = area.multipliedReportingOverflow(by: bands.rawValue)
        return overflow ? nil : count
    }

    /// Bytes from one row to the next.
    public var stride: Int { size.width * bands.rawValue }

    /// How such samples lie in a block, `offset` bytes from its start.
    func layout(at offset: Int = 0) -> PixelLayout {
        let bands = PixelPlane.Bands(rawValue: UInt8(bands.rawValue)) ?? .rgba
        let plane = PixelPlane(bands: bands, offset: offset, size: size, stride: stride)
        return PixelLayout(planes: [plane], orientation: .upright)
    }
}
