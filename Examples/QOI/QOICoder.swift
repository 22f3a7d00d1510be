import ImagebusWorker

/// Decodes images of the Quite OK Image Format (https://qoiformat.org), which Imagebus recognizes
/// but doesn't decode itself.
struct QOICoder: Coder {
    let format = ImageFormat.qoi

    func header(of data: Span<UInt8>) throws -> PixelForm { try QOIHeader(data).form }

    func pixels(
        of data: Span<UInt8>, _ header: PixelForm, into pixels: inout MutableSpan<UInt8>,
        _ cancellation: Cancellation
    ) throws {
        var decoder = QOIDecoder()
        try decoder.decode(data, into: &pixels, bands: header.bands.rawValue) {
            try cancellation.check()
        }
    }
}
