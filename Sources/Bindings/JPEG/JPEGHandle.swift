internal import CJPEG

/// The owner of libjpeg's decoder, its header read.
struct JPEGHandle: ~Copyable {
    let pointer: OpaquePointer
    let header: JPEGHeader

    /// The bytes must outlive the handle.
    init(_ bytes: UnsafeRawBufferPointer, limits: JPEGLimits) throws(JPEGError) {
        var header = cjpeg_header()
        var failure = cjpeg_failure()
        let limits = cjpeg_limits(
            scans_max: CInt(clamping: limits.scans), memory_max: limits.coefficientBytes)
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
