import ImageModel
import Messages

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
