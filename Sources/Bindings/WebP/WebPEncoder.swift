internal import CWebP

/// Encodes images that lie in memory.
public enum WebPEncoder {
    /// Encodes planes of YUV 4:2:0, BT.601, limited range (16 to 235, chroma to 240), chroma
    /// centred: what libwebp works on itself, so nothing is copied or converted. Lossy only.
    ///
    /// - Parameters:
    ///   - sources: Y, U and V; U and V have the same stride. No alignment is asked for.
    ///   - sink: takes all bytes it is given, in order, or answers false, which ends the encoding;
    ///     called on this thread, mostly once the image is encoded.
    ///   - isCancelled: asked on this thread, about once for every percent of the work.
    /// - Throws: `tooLarge`, `cancelled`, `refused`, `outOfMemory`, `internal` where a source is
    ///   too small or the encoding is lossless.
    public static func encode(
        planes sources: [WebPSource], as encoding: WebPEncoding,
        to sink: (UnsafeRawBufferPointer) -> Bool, isCancelled: () -> Bool
    ) throws(WebPError) {
        let areFit =
            encoding.isPossible && !encoding.isLossless && sources.count == 3
            && sources[1].stride == sources[2].stride
            && sources.indices.allSatisfy { index in
                let size = encoding.size(ofPlane: index)
                return sources[index].holds(rowBytes: size.width, height: size.height)
            }
        guard areFit else { throw WebPError(kind: .internal, text: "planes do not fit") }
        let bases = sources.map { $0.memory.baseAddress?.assumingMemoryBound(to: UInt8.self) }
        let strides = sources.map { CInt(clamping: $0.stride) }
        try run(sink, isCancelled) { callbacks, code in
            cwebp_encode_planes(encoding.shim, bases, strides, callbacks, &code)
        }
    }

    /// Encodes interleaved RGB or RGBA (not premultiplied); libwebp makes its own copy of all
    /// pixels. Otherwise as for planes.
    ///
    /// - Parameter bands: 3 or 4.
    public static func encode(
        pixels source: WebPSource, bands: Int, as encoding: WebPEncoding,
        to sink: (UnsafeRawBufferPointer) -> Bool, isCancelled: () -> Bool
    ) throws(WebPError) {
        let isFit =
            encoding.isPossible && (3...4).contains(bands)
            && source.holds(rowBytes: encoding.width * bands, height: encoding.height)
        guard isFit, let base = source.memory.baseAddress?.assumingMemoryBound(to: UInt8.self)
        else { throw WebPError(kind: .internal, text: "pixels do not fit") }
        let stride = CInt(clamping: source.stride)
        try run(sink, isCancelled) { callbacks, code in
            cwebp_encode_pixels(encoding.shim, base, stride, CInt(bands), callbacks, &code)
        }
    }

    private static func run(
        _ sink: (UnsafeRawBufferPointer) -> Bool, _ isCancelled: () -> Bool,
        _ body: (cwebp_callbacks, inout CInt) -> cwebp_status
    ) throws(WebPError) {
        var code: CInt = 0
        let status = WebPCallbacks.withContext(sink, isCancelled) { context in
            let callbacks = cwebp_callbacks(
                sink: passToSink, stop: askWhetherCancelled, context: context)
            return body(callbacks, &code)
        }
        guard status == CWEBP_FINE else { throw WebPError(status, code: code) }
    }
}

/// Where samples to be encoded lie.
public struct WebPSource {
    /// From the first sample to the last.
    public let memory: UnsafeRawBufferPointer
    /// Bytes from one row to the next, less than 2 GB.
    public let stride: Int

    /// Memory that stays valid and unchanged while `WebPEncoder.encode` runs.
    public init(memory: UnsafeRawBufferPointer, stride: Int) {
        self.memory = memory
        self.stride = stride
    }

    fileprivate func holds(rowBytes: Int, height: Int) -> Bool {
        stride >= rowBytes && stride <= Int(CInt.max)
            && memory.count >= stride * (height - 1) + rowBytes
    }
}
