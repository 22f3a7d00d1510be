import Animation
import ImageModel
import Messages
import StageContract
import Synchronization
import Vips

/// What can be shown of a file of which the first bytes are there (SEMANTICS §11.33).
///
/// It goes the way of a whole file with another decoder of the format, the one of beginnings.
/// Nothing is kept for the next one.
struct PartialImage {
    private let work: DecodeWork
    private let limits: ImageLimits
    private let cancellation: CancellationFlag
    /// Of whole files: a frame that is there is one.
    private let decoder: any FormatDecoder
    private let source: SourceImage
    private let map: AnimationMap?

    /// Reads the header and checks its limits.
    ///
    /// - Throws: `badImageData` where the header is not there as a whole; `limitExceeded`;
    ///   `internalError` for work that cannot be.
    init(
        _ work: DecodeWork, of bytes: UnsafeRawBufferPointer, by decoder: any FormatDecoder,
        _ limits: ImageLimits, _ cancellation: CancellationFlag
    ) throws(ImageError) {
        guard work.isPossible else {
            throw ImageError(.internalError, "of a partial image there are no further facts")
        }
        (self.work, self.limits, self.cancellation) = (work, limits, cancellation)
        self.decoder = decoder
        // What is missing may still arrive.
        let missing = MissingPixels(arePermitted: true)
        let stated = try SourceImage(bytes, by: decoder.ofBeginnings(cancellation, missing))
        map = AnimationMap(
            bytes.bindMemory(to: UInt8.self).span,
            framesMax: limits.pagesMax == .max ? .max : limits.pagesMax + 1)
        let isOfFrames = decoder.format.traits.input?.pages == .frames
        source = isOfFrames ? stated.with(pages: max(1, map?.wholeFrames ?? 1)) : stated
        // What the file says of its frames counts, though they are not there yet.
        for source in [stated, source] {
            try limits.check(source, at: source.scale(for: work.need))
        }
    }

    /// The header, and a frame where something can be shown.
    ///
    /// - Throws: `limitExceeded`, `cancelled`, what `output` throws. Pixels that cannot be made yet
    ///   are no error.
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
        let kept = try KeptBytes(of: source, work.keeps)
        let source = kept.hasProfile ? source.withOwnColours : source
        return try source.pixels(
            at: scale, as: source.samples(work.keeps), cancellation: cancellation
        ).write(to: output, with: kept)
    }

    /// A frame that is there as a whole, as it is shown; none where that takes more than it may:
    /// the image itself may be reduced.
    private func composed(
        _ index: Int, to output: some OutputSpace
    ) throws(ImageError) -> DecodedImage.Frame? {
        guard var reader = try reader(framesMax: index + 1) else { return nil }
        // Their profile has been applied.
        let kept = try KeptBytes(of: source, work.keeps.intersection([.rights, .metadata]))
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

/// Whether a file lacks pixels that it should have, as the decoders of beginnings find it. A file
/// that ends behind its last pixel lacks none.
final class MissingPixels: Sendable {
    /// Whether what is there is shown all the same.
    private let arePermitted: Bool
    private let found = Atomic(false)

    init(arePermitted: Bool) { self.arePermitted = arePermitted }

    /// Whether any were missing so far.
    var wereFound: Bool { found.load(ordering: .relaxed) }

    /// Some are missing.
    ///
    /// - Throws: `corrupt` where nothing is to be shown then.
    func note() throws(VipsError) {
        guard arePermitted else {
            throw VipsError(kind: .corrupt, operation: "decode", text: "pixels are missing")
        }
        found.store(true, ordering: .relaxed)
    }

    /// A whole frame is missing.
    func noteFrame() throws(ImageError) {
        try ImageError.mapping { () throws(VipsError) in try note() }
    }
}

/// How much of an image its bytes have.
enum ArrivedPixels {
    case nothing, part, whole
}

/// The beginning of a file of a format whose pixels are made of the whole file only.
struct HeaderAlone: FormatDecoder {
    let whole: any FormatDecoder

    var format: ImageFormat { whole.format }
    var loaders: [VipsLoader] { whole.loaders }
    var turnsPixels: Bool { whole.turnsPixels }

    func header(_ bytes: UnsafeRawBufferPointer) throws(VipsError) -> VipsImage {
        try whole.header(bytes)
    }

    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage { throw .nothingToShow(format) }
}

extension VipsError {
    /// Of a file of which nothing can be shown yet.
    static func nothingToShow(_ format: ImageFormat) -> VipsError {
        VipsError(kind: .corrupt, operation: format.name, text: "nothing to show yet")
    }
}

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
