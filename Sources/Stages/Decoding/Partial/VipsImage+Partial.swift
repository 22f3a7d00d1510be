import ImageModel
import Vips

extension VipsImage {
    /// An image whose first rows are made at once: of those that are missing, and of what a pixel
    /// that is not opaque hides, every sample is 0.
    ///
    /// - Parameters:
    ///   - made: an image of that size, those bands and that profile.
    ///   - missing: is told where some pixels are.
    ///   - write: writes rows without padding; answers how much there was.
    /// - Throws: `nothingToShow`, what `missing` and `write` throw.
    static func partial(
        like made: VipsImage, noting missing: MissingPixels,
        _ write: (UnsafeMutableRawBufferPointer) throws(VipsError) -> ArrivedPixels
    ) throws(VipsError) -> VipsImage {
        let header = made.header
        guard header.samples == .whole else {
            throw VipsError(kind: .unsupported, operation: "partial", text: "unusual samples")
        }
        let memory = ZeroedBytes(
            count: header.width * header.height * header.bands * header.bytesPerBand)
        switch try write(memory.bytes) {
        case .nothing: throw .nothingToShow(.undefined)
        case .part: try missing.note()
        case .whole: break
        }
        let image = try pixels(
            UnsafeRawBufferPointer(memory.bytes), width: header.width, height: header.height,
            bands: header.bands, bytesPerBand: header.bytesPerBand,
            isCMYK: header.colour == .cmyk, owner: memory)
        guard let profile = made.withProfile({ Array($0) }) else { return image }
        return try image.enclosing(profile: profile, xmp: [])
    }
}
