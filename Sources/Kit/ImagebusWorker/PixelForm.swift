public import Model

/// The dimensions and samples of an image: 8-bit samples in rows from top to bottom, without
/// padding.
public struct PixelForm: Hashable, Sendable {
    /// The samples of a pixel, interleaved. Alpha is straight, not premultiplied.
    public enum Bands: Int, Hashable, Sendable, CaseIterable {
        /// Gray, one sample.
        case gray = 1
        /// Gray and alpha.
        case grayAlpha = 2
        /// Red, green and blue.
        case rgb = 3
        /// Red, green, blue and alpha.
        case rgba = 4

        /// Whether there is an alpha channel.
        public var hasAlpha: Bool { self == .grayAlpha || self == .rgba }
    }

    /// Width and height in pixels.
    public var size: PixelSize
    /// The samples of a pixel.
    public var bands: Bands

    /// Creates a form with any size, as read from a file; it is validated before pixels are
    /// allocated.
    public init(width: Int, height: Int, bands: Bands) {
        size = PixelSize(width: width, height: height)
        self.bands = bands
    }

    /// The total size of all samples in bytes; `nil` for an empty or negative size, and on
    /// overflow.
    public var byteCount: Int? {
        guard size.isPositive, let area = size.area else { return nil }
        let (count, overflow) = area.multipliedReportingOverflow(by: bands.rawValue)
        return overflow ? nil : count
    }

    /// The number of bytes from one row to the next.
    public var stride: Int { size.width * bands.rawValue }

    /// Returns the layout of such samples in a block, `offset` bytes from its start.
    func layout(at offset: Int = 0) -> PixelLayout {
        let bands = PixelPlane.Bands(rawValue: UInt8(bands.rawValue)) ?? .rgba
        let plane = PixelPlane(bands: bands, offset: offset, size: size, stride: stride)
        return PixelLayout(planes: [plane], orientation: .upright)
    }
}

/// Pixels in the form in which plug-ins receive them: interleaved, upright, 8 bits per sample,
/// without padding. Valid while the bytes are mapped.
struct ShownPixels {
    let form: PixelForm
    let samples: UnsafeBufferPointer<UInt8>

    /// Throws `invalidRequest` for pixels in another layout, and if there are too few bytes.
    init(_ layout: PixelLayout, in input: UnsafeRawBufferPointer) throws(ImageError) {
        guard let form = PixelForm(layout), let end = layout.pixelByteCount, end <= input.count
        else {
            throw ImageError(
                .invalidRequest, "plug-ins require upright pixels in a single plane")
        }
        self.form = form
        samples = UnsafeRawBufferPointer(rebasing: input[layout.planes[0].offset..<end])
            .bindMemory(to: UInt8.self)
    }
}

extension PixelForm {
    fileprivate init?(_ layout: PixelLayout) {
        guard layout.planes.count == 1, layout.orientation == .upright, layout.samples == .standard,
            layout.animation == nil, let plane = layout.planes.first,
            let bands = Bands(rawValue: Int(plane.bands.rawValue))
        else { return nil }
        self.init(width: plane.size.width, height: plane.size.height, bands: bands)
        guard byteCount != nil, plane.stride == stride, plane.offset >= 0 else { return nil }
    }
}

extension OutputBlock {
    /// Returns `count` bytes from `offset`, set to 0. Blocks are reused, so bytes that the author
    /// doesn't write must not leak another image.
    func blank(_ count: Int, at offset: Int = 0) -> UnsafeMutableBufferPointer<UInt8> {
        UnsafeMutableRawBufferPointer(rebasing: bytes[offset..<offset + count])
            .initializeMemory(as: UInt8.self, repeating: 0)
    }
}
