import ImagebusWorker

/// A flip book, a format unknown to Imagebus: `BOOK`; columns, rows and frames as a byte each; the
/// samples per pixel as another one; and the samples of each frame.
struct ProbeBook: Coder {
    let format = ImageFormat.undefined
    private static let headByteCount = 8
    private static let shown: UInt32 = 40_000

    func recognizes(_ data: Span<UInt8>) -> Bool {
        data.count >= Self.headByteCount && (0..<4).map { data[$0] } == Array("BOOK".utf8)
    }

    func header(of data: Span<UInt8>) throws -> PixelForm {
        guard let bands = PixelForm.Bands(rawValue: Int(data[7])) else {
            throw InvalidInput("it has no such samples")
        }
        return PixelForm(width: Int(data[4]), height: Int(data[5]), bands: bands)
    }

    func animation(of data: Span<UInt8>, _ header: PixelForm) -> AnimationProperties? {
        AnimationProperties(
            durations: [UInt32](repeating: Self.shown, count: Int(data[6])), loops: 3)
    }

    func pixels(
        of data: Span<UInt8>, _ header: PixelForm, into pixels: inout MutableSpan<UInt8>,
        _ cancellation: Cancellation
    ) throws {
        try frame(0, of: data, header, into: &pixels, cancellation)
    }

    func frame(
        _ number: Int, of data: Span<UInt8>, _ header: PixelForm,
        into pixels: inout MutableSpan<UInt8>, _ cancellation: Cancellation
    ) throws {
        let start = Self.headByteCount + number * pixels.count
        guard data.count >= start + pixels.count else { throw InvalidInput("it ends early") }
        for index in pixels.indices { pixels[index] = data[start + index] }
    }

    func arrived(
        of data: Span<UInt8>, _ header: PixelForm, into pixels: inout MutableSpan<UInt8>,
        _ cancellation: Cancellation
    ) -> Bool {
        let count = min(data.count - Self.headByteCount, pixels.count)
        for index in 0..<count { pixels[index] = data[Self.headByteCount + index] }
        return count > 0
    }
}
