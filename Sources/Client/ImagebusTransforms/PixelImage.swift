public import ImageModel
import Messages

/// The pixels of one image in this process: 8 bits, sRGB or grey, alpha straight, upright. A
/// value: images that are made of it share nothing that changes.
public struct PixelImage: Sendable, Hashable {
    /// Columns and rows, at least one each.
    public let size: PixelSize
    /// Samples of a pixel: 1 grey, 2 grey and alpha, 3 red, green and blue, 4 these and alpha.
    public let bands: Int
    /// Interleaved, row by row from the top, without padding.
    public let samples: [UInt8]
    /// What it was decoded from; `nil` for pixels of the caller's. Made images have that of what
    /// they were made of.
    public let format: ImageFormat?

    /// Pixels of the caller's.
    ///
    /// - Throws: `invalidRequest` where `bands` is not 1 to 4, a side is not positive, or there are
    ///   not exactly width × height × bands samples.
    public init(size: PixelSize, bands: Int, samples: [UInt8]) throws(ImageError) {
        guard (1...4).contains(bands), size.isPositive, let area = size.area,
            area <= Int.max / bands, samples.count == area * bands
        else {
            throw ImageError(
                .invalidRequest, "\(samples.count) samples are no \(size) of \(bands) bands")
        }
        self.init(size: size, bands: bands, samples: samples, format: nil)
    }

    init(size: PixelSize, bands: Int, samples: [UInt8], format: ImageFormat?) {
        (self.size, self.bands, self.samples, self.format) = (size, bands, samples, format)
    }

    /// Whether its pixels have alpha, which may be opaque all the same.
    public var hasAlpha: Bool { bands % 2 == 0 }

    /// The colour of a pixel, counted from the top left corner; `nil` outside.
    public func color(at x: Int, _ y: Int) -> Colour? {
        guard (0..<size.width).contains(x), (0..<size.height).contains(y) else { return nil }
        let start = (y * size.width + x) * bands
        let (first, isGrey) = (UInt32(samples[start]), bands < 3)
        let green = isGrey ? first : UInt32(samples[start + 1])
        let blue = isGrey ? first : UInt32(samples[start + 2])
        let alpha = hasAlpha ? UInt32(samples[start + bands - 1]) : 255
        return Colour(argb: alpha << 24 | first << 16 | green << 8 | blue)
    }

    /// The colours of a part, row by row from the top; `nil` where it is not inside as a whole, or
    /// is empty.
    public func colors(in rect: PixelRect) -> [Colour]? {
        guard rect.x >= 0, rect.y >= 0, rect.size.isPositive, rect.x < size.width,
            rect.y < size.height, rect.size.width <= size.width - rect.x,
            rect.size.height <= size.height - rect.y
        else { return nil }
        return (rect.y..<(rect.y + rect.size.height)).flatMap { y in
            (rect.x..<(rect.x + rect.size.width)).compactMap { x in color(at: x, y) }
        }
    }
}
