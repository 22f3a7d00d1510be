import ImagebusWorker

/// The first 14 bytes of a file: the magic number, width and height as 32-bit numbers, samples per
/// pixel, and the color space.
struct QOIHeader {
    /// Bytes of the header and of the end marker after the pixels.
    static let (byteCount, endByteCount) = (14, 8)

    let form: PixelForm

    init(_ data: Span<UInt8>) throws {
        let bytes = data.count - Self.byteCount - Self.endByteCount
        guard bytes > 0 else { throw InvalidInput("it is too short") }
        guard let bands = PixelForm.Bands(rawValue: Int(data[12])), bands.rawValue >= 3,
            (0..<4).map({ data[$0] }) == Array("qoif".utf8), data[13] <= 1
        else { throw InvalidInput("its header is none of QOI") }
        let sides = [4, 8].map { start in
            (start..<start + 4).reduce(0) { $0 << 8 | Int(data[$1]) }
        }
        form = PixelForm(width: sides[0], height: sides[1], bands: bands)
        // One byte encodes a run of at most 62 pixels.
        guard form.size.area ?? 0 <= 62 * bytes else { throw InvalidInput("it ends early") }
    }
}
