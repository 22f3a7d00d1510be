internal import CWebP

/// What goes beside the image in a WebP, by libwebpmux.
public enum WebPContainer {
    /// The image of a finished file with these chunks beside it; empty ones are none. Nobody reads
    /// what they say.
    ///
    /// - Parameters:
    ///   - exif: from the header of its TIFF on.
    ///   - sink: takes all bytes at once, or answers false; called on this thread.
    /// - Throws: `refused`, `outOfMemory`, `internal` where `file` is no WebP.
    public static func enclose(
        profile: [UInt8], exif: [UInt8], xmp: [UInt8], in file: UnsafeRawBufferPointer,
        to sink: (UnsafeRawBufferPointer) -> Bool
    ) throws(WebPError) {
        let file = cwebp_bytes(
            bytes: file.baseAddress?.assumingMemoryBound(to: UInt8.self), count: file.count)
        let status = WebPCallbacks.withContext(sink, { false }) { context in
            profile.withShim { profile in
                exif.withShim { exif in
                    xmp.withShim { xmp in
                        cwebp_enclose(file, profile, exif, xmp, passToSink, context)
                    }
                }
            }
        }
        guard status == CWEBP_FINE else { throw WebPError(status, code: 0) }
    }
}

extension [UInt8] {
    fileprivate func withShim<Result>(_ body: (cwebp_bytes) -> Result) -> Result {
        withUnsafeBufferPointer { body(cwebp_bytes(bytes: $0.baseAddress, count: $0.count)) }
    }
}
