import AVIF
import ImageModel
import Messages
import StageContract
import Synchronization
import Vips

/// What is displayed of one AVIF: the frames of a sequence, in any order, or the primary image as
/// one frame. The reader is kept between two of them: it has what the next one is made of.
final class AVIFFrames: Sendable {
    /// What is known of a frame before its pixels.
    struct Header {
        /// Its form, and colors by number where there is no profile.
        let picture: AVIFPicture
        /// The ICC profile, EXIF and XMP; empty where there are none.
        let profile, exif, xmp: [UInt8]
    }

    /// Of each frame as it is coded.
    let size: PixelSize
    /// Whether the time that libavif takes for the header is bounded.
    private let hasFewItems: Bool
    private let source: AVIFReader.Source
    private let patches: [AVIFReader.Patch]
    private let reader = Mutex<AVIFReader?>(nil)

    /// What a still image of that file shows: of a sequence its first frame, unless libavif knows
    /// none and there is a primary image.
    static func still(of file: UnsafeRawBufferPointer) -> AVIFFrames {
        let header = HeaderBytes(Span(_unsafeBytes: file))
        guard header.hasPrimaryItem else { return AVIFFrames(of: file) }
        let frames = AVIFFrames(of: file, header.avifSequence == nil ? .image : .sequence)
        let isKnown = frames.source == .image || (try? frames.header(in: file)) != nil
        return isKnown ? frames : AVIFFrames(of: file, .image)
    }

    /// Of that file, which is read later.
    init(of file: UnsafeRawBufferPointer, _ source: AVIFReader.Source = .sequence) {
        let header = HeaderBytes(Span(_unsafeBytes: file))
        self.source = source
        hasFewItems = header.hasFewItems
        size = header.heifSize ?? PixelSize(width: 0, height: 0)
        patches = AVIFPatches(header, ofTracks: source == .sequence).all.map {
            AVIFReader.Patch(offset: $0.offset, bytes: $0.bytes)
        }
    }

    /// Of all of them.
    func header(in file: UnsafeRawBufferPointer) throws(VipsError) -> Header {
        try withReader(file) { reader throws(AVIFError) in
            Header(
                picture: reader.picture, profile: reader.profile, exif: reader.exif,
                xmp: reader.xmp)
        }
    }

    /// The pixels of one, as `AVIFReader` writes them.
    ///
    /// - Parameters:
    ///   - file: the same bytes as before.
    ///   - header: what was said of all.
    func pixels(
        of index: Int, _ header: Header, in file: UnsafeRawBufferPointer,
        _ cancellation: CancellationFlag
    ) throws(VipsError) -> ZeroedBytes {
        try withReader(file) { reader throws(AVIFError) in
            try reader.decode(index, in: file) { cancellation.isCancelled }
            guard reader.picture.isLike(header.picture) else {
                throw AVIFError(kind: .corrupt, text: "a frame is other than its header says")
            }
            let picture = header.picture
            let pixels = ZeroedBytes(
                count: picture.width * picture.height * picture.bands * picture.sampleBytes)
            try reader.copy(to: pixels.bytes, bands: picture.bands)
            return pixels
        }
    }

    /// The reader, for the caller alone; its first frame is not decoded yet.
    func open(_ file: UnsafeRawBufferPointer) throws(AVIFError) -> AVIFReader {
        try AVIFReader(
            file, source, patches: patches, pixelsMax: AVIFReader.pixelsMost,
            framesMax: ImageLimits.ofWorkers.pagesMax)
    }

    /// One that threw is not asked again: what it keeps may be damaged.
    private func withReader<Value>(
        _ file: UnsafeRawBufferPointer,
        _ body: (inout AVIFReader) throws(AVIFError) -> Value
    ) throws(VipsError) -> Value {
        guard size.area ?? .max <= AVIFReader.pixelsMost else {
            throw VipsError(kind: .tooLarge, operation: "avif", text: "an image of \(size)")
        }
        guard hasFewItems else {
            throw VipsError(kind: .tooLarge, operation: "avif", text: "too many items")
        }
        do throws(AVIFError) {
            var taken: AVIFReader
            if let kept = reader.withLock({ $0.take() }) {
                taken = kept
            } else {
                taken = try open(file)
            }
            let value = try body(&taken)
            keep(taken)
            return value
        } catch {
            throw VipsError(decoding: error)
        }
    }

    private func keep(_ last: consuming AVIFReader) {
        var last = Optional(last)
        reader.withLock { $0 = last.take() }
    }
}

extension AVIFPicture {
    /// Of RGB, with alpha where there is some.
    var bands: Int { hasAlpha ? 4 : 3 }

    /// Of a sample of RGB.
    var sampleBytes: Int { depth > 8 ? 2 : 1 }

    /// Whether a frame has the form that was said of all.
    fileprivate func isLike(_ stated: AVIFPicture) -> Bool {
        (width, height, depth, hasAlpha)
            == (stated.width, stated.height, stated.depth, stated.hasAlpha)
    }
}

extension VipsError {
    fileprivate init(decoding error: AVIFError) {
        let kind: Kind =
            switch error.kind {
            case .cancelled, .refused: .killed
            case .corrupt: .corrupt
            case .unsupported: .unsupported
            case .outOfMemory: .tooLarge
            case .internal: .internal
            }
        self.init(kind: kind, operation: "avif", text: error.text)
    }
}
