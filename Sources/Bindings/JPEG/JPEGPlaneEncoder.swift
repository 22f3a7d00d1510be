internal import CJPEG

/// Encodes planes of samples, full range, chroma centred: what `JPEGPlaneDecoder` gives.
public enum JPEGPlaneEncoder {
    /// Encodes one image.
    ///
    /// - Parameters:
    ///   - sources: one for each plane of `encoding`. No padding or alignment is asked for; rows of
    ///     a multiple of 8 columns are read where they lie, others through a copy of 16 rows.
    ///   - next: gives memory for at least that many more bytes, or nil to end the encoding. It is
    ///     called on this thread; what it gave before is full by then, and stays the caller's.
    ///   - isCancelled: asked on this thread on every row of MCUs, of each pass.
    /// - Returns: how many bytes were written into all the memory that `next` gave.
    /// - Throws: `refused` where `next` gave none, `cancelled`, `outOfMemory`, `unsupported` where
    ///   the image is too large, `internal` where a source is too small.
    public static func encode(
        _ sources: [JPEGPlaneSource], as encoding: JPEGEncoding,
        into next: (_ minimum: Int) -> UnsafeMutableRawBufferPointer?, isCancelled: () -> Bool
    ) throws(JPEGError) -> Int {
        try check(sources, encoding)
        let bases = sources.map { $0.memory.baseAddress?.assumingMemoryBound(to: UInt8.self) }
        let strides = sources.map(\.stride)
        var written = 0
        var failure = cjpeg_failure()
        let status = JPEGSink.withContext(next, isCancelled) { context in
            cjpeg_encode(
                encoding.shim, bases, strides, takeFromSink, askSinkWhetherCancelled, context,
                &written, &failure)
        }
        guard status == CJPEG_FINE else { throw JPEGError(failure) }
        return written
    }

    private static func check(
        _ sources: [JPEGPlaneSource], _ encoding: JPEGEncoding
    ) throws(JPEGError) {
        guard encoding.width > 0, encoding.height > 0, (1...100).contains(encoding.quality) else {
            throw JPEGError(kind: .internal, text: "no such encoding")
        }
        let areFit =
            sources.count == encoding.planeCount
            && sources.indices.allSatisfy { index in
                let size = encoding.size(ofPlane: index)
                return sources[index].holds(width: size.width, height: size.height)
            }
        guard areFit else { throw JPEGError(kind: .internal, text: "sources do not fit") }
    }
}

/// Where a plane to be encoded lies.
public struct JPEGPlaneSource {
    /// From the first sample to the last.
    public let memory: UnsafeRawBufferPointer
    /// Bytes from one row to the next.
    public let stride: Int

    /// Memory that stays valid and unchanged while `JPEGPlaneEncoder.encode` runs.
    public init(memory: UnsafeRawBufferPointer, stride: Int) {
        self.memory = memory
        self.stride = stride
    }

    fileprivate func holds(width: Int, height: Int) -> Bool {
        stride >= width && memory.count >= stride * (height - 1) + width
    }
}

extension JPEGEncoding {
    fileprivate var shim: cjpeg_encoding {
        let factors = subsampling.factors
        return cjpeg_encoding(
            width: CInt(clamping: width), height: CInt(clamping: height),
            components: CInt(planeCount), horizontal: CInt(factors.horizontal),
            vertical: CInt(factors.vertical), quality: CInt(clamping: quality),
            is_progressive: isProgressive ? 1 : 0, optimises_coding: optimisesCoding ? 1 : 0)
    }
}
