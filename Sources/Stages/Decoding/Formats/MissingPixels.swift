import CodecSupport
import Model
import Synchronization
import Vips

/// Records whether the decoder of a file that ends early or is damaged found that pixels are
/// missing. None are missing if a file ends after its last pixel.
final class MissingPixels: Sendable {
    /// Whether the existing pixels are shown anyway.
    private let arePermitted: Bool
    private let cancellation: CancellationFlag
    private let found = Atomic(false)

    init(arePermitted: Bool, _ cancellation: CancellationFlag) {
        (self.arePermitted, self.cancellation) = (arePermitted, cancellation)
    }

    /// Whether any were missing so far.
    var wereFound: Bool { found.load(ordering: .relaxed) }

    /// Whether the job was canceled, for decoders.
    func isCancelled() -> Bool { cancellation.isCancelled }

    /// Records missing pixels.
    ///
    /// - Throws: `corrupt` if a partial image must not be shown.
    func note() throws(VipsError) {
        guard arePermitted else {
            throw VipsError(kind: .corrupt, operation: "decode", text: "pixels are missing")
        }
        found.store(true, ordering: .relaxed)
    }
}

extension VipsError {
    /// The error for a file of which nothing can be shown yet.
    static func nothingToShow(_ format: ImageFormat) -> VipsError {
        VipsError(kind: .corrupt, operation: format.name, text: "nothing to show yet")
    }
}

extension VipsImage {
    /// Creates an image whose first rows are decoded immediately: the samples of missing pixels,
    /// and of the color hidden by transparency, are 0.
    ///
    /// - Parameters:
    ///   - template: An image with the size, bands and profile.
    ///   - missing: Notified if pixels are missing.
    ///   - write: Writes rows without padding and returns how much has arrived.
    /// - Throws: `nothingToShow`, and the errors of `missing` and `write`.
    static func partial(
        like template: VipsImage, noting missing: MissingPixels,
        _ write: (UnsafeMutableRawBufferPointer) throws -> ArrivedPixels
    ) throws -> VipsImage {
        let header = template.header
        guard header.samples == .whole else {
            throw VipsError(kind: .unsupported, operation: "partial", text: "unusual samples")
        }
        let memory = ZeroedBytes(
            count: header.width * header.height * header.bands * header.bytesPerBand)
        switch try write(memory.bytes) {
        case .nothing: throw VipsError.nothingToShow(.undefined)
        case .part: try missing.note()
        case .whole: break
        }
        let image = try pixels(
            memory, PixelSize(width: header.width, height: header.height), bands: header.bands,
            bytesPerBand: header.bytesPerBand, isCMYK: header.color == .cmyk)
        guard let profile = template.withProfile({ Array($0) }) else { return image }
        return try image.embedding(profile: profile, xmp: [])
    }
}
