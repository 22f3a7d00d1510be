internal import CJPEG

/// The owner of libjpeg's decoder, its header read.
struct JPEGHandle: ~Copyable {
    let pointer: OpaquePointer
    let header: JPEGHeader

    /// The bytes must outlive the handle. If they are but the beginning of a file, they may end
    /// anywhere behind the header.
    init(
        _ bytes: UnsafeRawBufferPointer, limits: JPEGLimits, isBeginning: Bool = false
    ) throws(JPEGError) {
        var header = cjpeg_header()
        var failure = cjpeg_failure()
        let limits = cjpeg_limits(
            scans_max: CInt(clamping: limits.scans), memory_max: limits.coefficientBytes,
            takes_beginning: isBeginning ? 1 : 0)
        guard
            let pointer = cjpeg_open(bytes.baseAddress, bytes.count, limits, &header, &failure)
        else { throw JPEGError(failure) }
        self.pointer = pointer
        self.header = JPEGHeader(header) { cjpeg_sampling_of(pointer, CInt($0)) }
    }

    deinit {
        cjpeg_close(pointer)
    }
}
