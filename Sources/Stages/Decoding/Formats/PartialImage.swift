import CodecSupport
import Model
import Synchronization
import Vips

/// The displayable part of a file of which only the beginning exists (SEMANTICS §11.33).
///
/// Processed like a whole file, but with the format's partial decoder. No state is kept for the
/// next job.
struct PartialImage {
    private let work: DecodeWork
    private let limits: ImageLimits
    private let cancellation: CancellationFlag
    /// The decoder of whole files, for frames that are complete.
    private let decoder: any FormatDecoder
    private let source: SourceImage
    private let map: AnimationMap?

    /// Reads the header and checks its limits.
    ///
    /// - Throws: `badImageData` if the header is incomplete; `limitExceeded`; `internalError` for
    ///   invalid work.
    init(
        _ work: DecodeWork, of bytes: UnsafeRawBufferPointer, by decoder: any FormatDecoder,
        _ limits: ImageLimits, _ cancellation: CancellationFlag
    ) throws(ImageError) {
        guard work.isPossible else {
            throw ImageError(.internalError, "partial images have no further properties")
        }
        (self.work, self.limits, self.cancellation) = (work, limits, cancellation)
        self.decoder = decoder
        // Missing data may still arrive.
        let missing = MissingPixels(arePermitted: true)
        let stated = try SourceImage(bytes, by: decoder.partialDecoder(cancellation, missing))
        map = AnimationMap(
            bytes.bindMemory(to: UInt8.self).span,
            framesMax: limits.pagesMax == .max ? .max : limits.pagesMax + 1)
        let isOfFrames = decoder.format.traits.input?.pages == .frames
        source = isOfFrames ? stated.with(pages: max(1, map?.wholeFrames ?? 1)) : stated
        // The limits apply to the declared frames, even if they have not arrived yet.
        for source in [stated, source] {
            try limits.check(source, at: source.scale(for: work.need))
        }
    }

    /// Returns the header, and a frame if anything can be shown.
    ///
    /// - Throws: `limitExceeded`, `cancelled`, and the errors of `output`. Pixels that can't be
    ///   decoded yet aren't an error.
    func decode(to output: some OutputSpace) throws(ImageError) -> DecodedImage {
        let headerAlone = DecodedImage(info: source.info, frames: [])
        guard work.need != .header else { return headerAlone }
        guard !cancellation.isCancelled else { throw .cancelled }
        do throws(ImageError) {
            guard let frame = try frame(to: output) else { return headerAlone }
            return DecodedImage(info: source.info, frames: [frame])
        } catch {
            guard error.code == .badImageData else { throw error }
            return headerAlone
        }
    }

    private func frame(to output: some OutputSpace) throws(ImageError) -> DecodedImage.Frame? {
        if let map, let index = work.frame ?? source.frameOfStill {
            return (0..<map.wholeFrames).contains(index) ? try composed(index, to: output) : nil
        }
        guard work.frame ?? 0 == 0 else { return nil }
        let scale = source.scale(for: work.need)
        try limits.checkPixelBytes(source, at: scale)
        let kept = try RetainedMetadata(of: source, work.keeps)
        let source = kept.hasProfile ? source.withoutColorConversion : source
        return try source.pixels(
            at: scale, as: source.samples(work.keeps), cancellation: cancellation
        ).write(to: output, with: kept)
    }

    /// Returns a complete frame as displayed; nil if it exceeds the limits, since the image itself
    /// may be reduced.
    private func composed(
        _ index: Int, to output: some OutputSpace
    ) throws(ImageError) -> DecodedImage.Frame? {
        guard var reader = try reader(framesMax: index + 1) else { return nil }
        // Without the profile, which has been applied.
        let kept = try RetainedMetadata(of: source, work.keeps.intersection([.rights, .metadata]))
        let pixels = try reader.pixels(
            of: index, in: source.bytes, limits: limits, cancellation: cancellation)
        return try output.frame(
            pixels, of: reader.map.canvas, turned: source.orientation, with: kept)
    }

    private func reader(framesMax: Int) throws(ImageError) -> FrameReader? {
        do throws(ImageError) {
            return try FrameReader(of: source, by: decoder, limits, framesMax: framesMax)
        } catch {
            guard error.code == .limitExceeded else { throw error }
            return nil
        }
    }
}

/// Records whether a partial decoder found that pixels are missing. None are missing if a file ends
/// after its last pixel.
final class MissingPixels: Sendable {
    /// Whether the existing pixels are shown anyway.
    private let arePermitted: Bool
    private let found = Atomic(false)

    init(arePermitted: Bool) { self.arePermitted = arePermitted }

    /// Whether any were missing so far.
    var wereFound: Bool { found.load(ordering: .relaxed) }

    /// Records missing pixels.
    ///
    /// - Throws: `corrupt` if a partial image must not be shown.
    func note() throws(VipsError) {
        guard arePermitted else {
            throw VipsError(kind: .corrupt, operation: "decode", text: "pixels are missing")
        }
        found.store(true, ordering: .relaxed)
    }

    func noteFrame() throws(ImageError) {
        try ImageError.mapping { () throws(VipsError) in try note() }
    }
}

/// The beginning of a file in a format that can only be decoded as a whole.
struct HeaderAlone: PartialDecoder {
    let whole: any FormatDecoder

    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage { throw .nothingToShow(format) }
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
    ///   - operation: The name of the format.
    ///   - template: An image with the size, bands and profile.
    ///   - missing: Notified if pixels are missing.
    ///   - write: Writes rows without padding and returns how much has arrived.
    /// - Throws: `nothingToShow`, and the errors of `missing` and `write`.
    static func partial(
        of operation: String, like template: VipsImage, noting missing: MissingPixels,
        _ write: (UnsafeMutableRawBufferPointer) throws(CodecError) -> ArrivedPixels
    ) throws(VipsError) -> VipsImage {
        let header = template.header
        guard header.samples == .whole else {
            throw VipsError(kind: .unsupported, operation: "partial", text: "unusual samples")
        }
        let memory = ZeroedBytes(
            count: header.width * header.height * header.bands * header.bytesPerBand)
        let arrived: ArrivedPixels
        do {
            arrived = try write(memory.bytes)
        } catch {
            throw VipsError(error, operation: operation)
        }
        switch arrived {
        case .nothing: throw .nothingToShow(.undefined)
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
