internal import CAVIF

/// Encodes images that lie in memory.
public enum AVIFEncoder {
    /// Encodes planes of YUV, 8 bits, BT.601, full range, chroma centred, where they lie. Lossy
    /// only.
    ///
    /// - Parameters:
    ///   - sources: Y, U and V, or Y alone. No alignment is asked for.
    ///   - sink: takes all bytes at once, or answers false, which ends the encoding; called on this
    ///     thread, once the image is encoded.
    ///   - isCancelled: asked on this thread before the image is encoded and after it: libaom
    ///     cannot be stopped on the way.
    /// - Throws: `cancelled`, `refused`, `outOfMemory`, `internal` where a source is too small or
    ///   the encoding is lossless.
    public static func encode(
        planes sources: [AVIFSource], as encoding: AVIFEncoding,
        to sink: (UnsafeRawBufferPointer) -> Bool, isCancelled: () -> Bool
    ) throws(AVIFError) {
        let areFit =
            encoding.isPossible && encoding.depth == 8 && !encoding.isLossless
            && sources.count == encoding.planeCount
            && sources.indices.allSatisfy { index in
                let size = encoding.size(ofPlane: index)
                return sources[index].holds(rowBytes: size.width, height: size.height)
            }
        guard areFit else { throw AVIFError(kind: .internal, text: "planes do not fit") }
        let bases = sources.map { $0.memory.baseAddress?.assumingMemoryBound(to: UInt8.self) }
        let strides = sources.map { CInt(clamping: $0.stride) }
        try run(sink, isCancelled) { callbacks, code in
            encoding.withShim { cavif_encode_planes($0, bases, strides, callbacks, &code) }
        }
    }

    /// Encodes interleaved RGB or RGBA (not premultiplied); libavif makes planes of them first.
    /// Otherwise as for planes.
    ///
    /// Where more than 8 bits are written, samples are of 16, in the machine's order.
    ///
    /// - Parameter bands: 3 or 4.
    /// - Returns: whether the file has alpha: it has none where every pixel is opaque.
    public static func encode(
        pixels source: AVIFSource, bands: Int, as encoding: AVIFEncoding,
        to sink: (UnsafeRawBufferPointer) -> Bool, isCancelled: () -> Bool
    ) throws(AVIFError) -> Bool {
        let isFit =
            encoding.isPossible && (3...4).contains(bands)
            && source.holds(
                rowBytes: encoding.width * bands * (encoding.depth > 8 ? 2 : 1),
                height: encoding.height)
        guard isFit, let base = source.memory.baseAddress?.assumingMemoryBound(to: UInt8.self)
        else { throw AVIFError(kind: .internal, text: "pixels do not fit") }
        let stride = CInt(clamping: source.stride)
        var hasAlpha: CInt = 0
        try run(sink, isCancelled) { callbacks, code in
            encoding.withShim {
                cavif_encode_pixels($0, base, stride, CInt(bands), callbacks, &hasAlpha, &code)
            }
        }
        return hasAlpha != 0
    }

    private static func run(
        _ sink: (UnsafeRawBufferPointer) -> Bool, _ isCancelled: () -> Bool,
        _ body: (cavif_callbacks, inout CInt) -> cavif_status
    ) throws(AVIFError) {
        var code: CInt = 0
        let status = AVIFCallbacks.withContext(sink, isCancelled) { context in
            let callbacks = cavif_callbacks(
                sink: passToSink, stop: askWhetherCancelled, context: context)
            return body(callbacks, &code)
        }
        guard status == CAVIF_FINE else { throw AVIFError(status, code: code) }
    }
}

/// Where samples to be encoded lie.
public struct AVIFSource {
    /// From the first sample to the last.
    public let memory: UnsafeRawBufferPointer
    /// Bytes from one row to the next, less than 2 GB.
    public let stride: Int

    /// Memory that stays valid and unchanged while `AVIFEncoder.encode` runs.
    public init(memory: UnsafeRawBufferPointer, stride: Int) {
        self.memory = memory
        self.stride = stride
    }

    fileprivate func holds(rowBytes: Int, height: Int) -> Bool {
        stride >= rowBytes && stride <= Int(CInt.max)
            && memory.count >= stride * (height - 1) + rowBytes
    }
}
