internal import CVipsShims

extension VipsImage {
    /// Computes all pixels and encodes them, handing the bytes to `sink` piece by piece, from the
    /// first to the last.
    ///
    /// - Parameters:
    ///   - sink: takes all bytes it is given, or answers false, which ends the save. It is called
    ///     on this thread or on one of libvips, never on two at once, never after this returns.
    /// - Throws: `refused` when the sink refused, `killed`, `corrupt` where the pixels come from
    ///   damaged bytes, `internal`.
    public func save(
        _ encoding: VipsEncoding, to sink: (UnsafeRawBufferPointer) -> Bool
    ) throws(VipsError) {
        let result = withoutActuallyEscaping(sink) { sink in
            let box = VipsSink(sink)
            let status = withExtendedLifetime(self) {
                save(encoding, context: Unmanaged.passUnretained(box).toOpaque())
            }
            return (status: status, refused: box.refused)
        }
        guard result.status == 0 else {
            let error = VipsError.take("save", otherwise: .corrupt)
            guard result.refused else { throw error }
            throw VipsError(kind: .refused, operation: error.operation, text: error.text)
        }
    }

    private func save(_ encoding: VipsEncoding, context: UnsafeMutableRawPointer) -> CInt {
        switch encoding {
        case .jpeg(let quality, let progressive, let optimised, let subsampling):
            let options = cvips_jpeg_options(
                quality: CInt(quality), progressive: progressive ? 1 : 0,
                optimise_coding: optimised ? 1 : 0, subsampling: CInt(subsampling.rawValue),
                strip: 1)
            return cvips_save_jpeg(pointer, options, passToSink, context)
        case .png(let compression, let filter, let interlaced, let palette):
            let options = cvips_png_options(
                compression: CInt(compression), filter_bits: CInt(filter.rawValue),
                interlace: interlaced ? 1 : 0, palette: palette?.shim ?? cvips_palette(), strip: 1)
            return cvips_save_png(pointer, options, passToSink, context)
        case .webp(let quality, let lossless, let effort):
            let options = cvips_webp_options(
                quality: CInt(quality), lossless: lossless ? 1 : 0, effort: CInt(effort), strip: 1)
            return cvips_save_webp(pointer, options, passToSink, context)
        case .gif(let bits, let dither, let effort, let interlaced):
            let options = cvips_gif_options(
                bits: CInt(bits), dither: dither, effort: CInt(effort),
                interlace: interlaced ? 1 : 0)
            return cvips_save_gif(pointer, options, passToSink, context)
        case .tiff(let predicts, let encloses):
            return cvips_save_tiff(
                pointer, predicts ? 1 : 0, encloses ? 0 : 1, passToSink, context)
        case .jxl(let quality, let lossless, let effort, let encloses):
            let options = cvips_jxl_options(
                quality: CInt(quality), lossless: lossless ? 1 : 0, effort: CInt(effort),
                strip: encloses ? 0 : 1)
            return cvips_save_jxl(pointer, options, passToSink, context)
        }
    }
}

extension VipsEncoding.Palette {
    fileprivate var shim: cvips_palette {
        cvips_palette(
            bits: CInt(bits), quality: CInt(quality), dither: dither, effort: CInt(effort))
    }
}

/// What a C callback can carry in place of a closure.
private final class VipsSink {
    private let sink: (UnsafeRawBufferPointer) -> Bool
    private(set) var refused = false

    init(_ sink: @escaping (UnsafeRawBufferPointer) -> Bool) {
        self.sink = sink
    }

    func take(_ bytes: UnsafeRawBufferPointer) -> CInt {
        guard !refused, sink(bytes) else {
            refused = true
            return -1
        }
        return 0
    }
}

private func passToSink(
    context: UnsafeMutableRawPointer?, bytes: UnsafeRawPointer?, count: Int
) -> CInt {
    guard let context else { return -1 }
    // `save` holds the sink until libvips has returned.
    let sink = Unmanaged<VipsSink>.fromOpaque(context).takeUnretainedValue()
    return sink.take(UnsafeRawBufferPointer(start: bytes, count: count))
}
