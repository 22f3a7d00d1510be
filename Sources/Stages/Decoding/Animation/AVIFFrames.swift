import AVIF
import Animation
import ImageModel
import Messages
import StageContract
import Synchronization
import Vips

/// The frames of one AVIF image sequence, in any order. The decoder is kept between two of them: it
/// has what the next one is made of.
final class AVIFFrames: Sendable {
    /// What is known of a frame before its pixels.
    struct Header {
        let picture: AVIFPicture
        let profile: [UInt8]
    }

    /// Of each frame as it is coded, which is decoded no larger.
    let size: PixelSize
    private let sequence = Mutex<AVIFSequence?>(nil)

    init(_ size: PixelSize) { self.size = size }

    /// Of all of them.
    func header(in file: UnsafeRawBufferPointer) throws(VipsError) -> Header {
        try withSequence(file) { sequence throws(AVIFError) in
            Header(picture: sequence.picture, profile: sequence.profile)
        }
    }

    /// The pixels of one, as `AVIFSequence` writes them.
    ///
    /// - Parameters:
    ///   - file: the same bytes as before.
    ///   - header: what was said of all.
    func pixels(
        of index: Int, _ header: Header, in file: UnsafeRawBufferPointer,
        _ cancellation: CancellationFlag
    ) throws(VipsError) -> ZeroedBytes {
        try withSequence(file) { sequence throws(AVIFError) in
            try sequence.decode(index, in: file) { cancellation.isCancelled }
            guard sequence.picture.isLike(header.picture) else {
                throw AVIFError(kind: .corrupt, text: "a frame is other than its header says")
            }
            let picture = header.picture
            let pixels = ZeroedBytes(
                count: picture.width * picture.height * picture.bands * picture.sampleBytes)
            try sequence.copy(to: pixels.bytes, bands: picture.bands)
            return pixels
        }
    }

    /// One that threw is not asked again: what it keeps may be damaged.
    private func withSequence<Value>(
        _ file: UnsafeRawBufferPointer,
        _ body: (inout AVIFSequence) throws(AVIFError) -> Value
    ) throws(VipsError) -> Value {
        do throws(AVIFError) {
            var taken: AVIFSequence
            if let kept = sequence.withLock({ $0.take() }) {
                taken = kept
            } else {
                let limits = ImageLimits.ofWorkers
                taken = try AVIFSequence(
                    file, pixelsMax: min(size.area ?? .max, limits.pixelsMax),
                    framesMax: limits.pagesMax)
            }
            let value = try body(&taken)
            keep(taken)
            return value
        } catch {
            throw VipsError(decoding: error)
        }
    }

    private func keep(_ last: consuming AVIFSequence) {
        var last = Optional(last)
        sequence.withLock { $0 = last.take() }
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
