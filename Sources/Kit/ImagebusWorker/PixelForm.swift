public import ImageModel
import Messages
import StageContract

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

/// Pixels as work of others is given them: interleaved, as they are shown, 8 bits a sample, without
/// gaps. Good as long as the bytes are mapped.
struct ShownPixels {
    let form: PixelForm
    let samples: UnsafeBufferPointer<UInt8>

    /// Throws `invalidRequest` for pixels that lie in another way, and for fewer bytes.
    init(_ layout: PixelLayout, in input: UnsafeRawBufferPointer) throws(ImageError) {
        guard let form = PixelForm(layout), let end = layout.pixelByteCount, end <= input.count
        else {
            throw ImageError(
                .invalidRequest, "work of others is given pixels as they are shown")
        }
        self.form = form
        samples = UnsafeRawBufferPointer(rebasing: input[layout.planes[0].offset..<end])
            .bindMemory(to: UInt8.self)
    }
}

extension PixelForm {
    fileprivate init?(_ layout: PixelLayout) {
        guard layout.planes.count == 1, layout.orientation == .upright, layout.samples == .usual,
            layout.animation == nil, let plane = layout.planes.first,
            let bands = Bands(rawValue: Int(plane.bands.rawValue))
        else { return nil }
        self.init(width: plane.size.width, height: plane.size.height, bands: bands)
        guard byteCount != nil, plane.stride == stride, plane.offset >= 0 else { return nil }
    }
}

extension OutputBlock {
    /// `count` of its bytes behind `offset`, all 0: a block is used again, and what an author does
    /// not write must not be a part of another image.
    func blank(_ count: Int, at offset: Int = 0) -> UnsafeMutableBufferPointer<UInt8> {
        UnsafeMutableRawBufferPointer(rebasing: bytes[offset..<offset + count])
            .initializeMemory(as: UInt8.self, repeating: 0)
    }
}
