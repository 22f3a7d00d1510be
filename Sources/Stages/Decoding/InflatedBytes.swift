import ImageModel
import Messages
import PNG

/// The bytes that a job may inflate (SEMANTICS §9.8): each time that a PNG is opened, its rows as
/// its header says, and as much of metadata as is permitted. A file of 2 MB may have 2 GB behind
/// its pixels.
enum InflatedBytes {
    /// libvips reads a header when it looks for the loader, opens the file and makes its pixels.
    private static let headersRead = 3

    /// A job begins with an image of that format.
    static func limit(_ format: ImageFormat, _ limits: ImageLimits) {
        switch format {
        case .png, .ico:
            let (each, overflows) = limits.metadataBytesMax.multipliedReportingOverflow(
                by: headersRead)
            InflateLimit.begin(each: overflows ? .max : each)
        // Their decoders inflate into memory of the size that they need.
        default: InflateLimit.lift()
        }
    }

    /// A PNG is opened.
    static func permit(_ png: UnsafeRawBufferPointer) { InflateLimit.permit(rowBytes(png)) }

    /// Throws `limitExceeded` if there was more to inflate.
    static func check() throws(ImageError) {
        guard InflateLimit.isExceeded else { return }
        throw .over(
            "inflatedBytesMax",
            "the compressed parts of the file have more bytes than its pixels need and "
                + "metadata-limit permits: save the image again without them")
    }

    /// Bytes of all rows with their filters, of an interlaced image those of all passes at least.
    private static func rowBytes(_ png: UnsafeRawBufferPointer) -> Int {
        guard png.count >= headerEnd else { return 0 }
        let samples = [0: 1, 2: 3, 3: 1, 4: 2, 6: 4][png[colorType]] ?? 4
        let bits = samples * Int(png[depth])
        let rows = number(png, width).multipliedReportingOverflow(by: bits)
        let bytes = (rows.partialValue / 8 + 2).multipliedReportingOverflow(by: number(png, height))
        guard !rows.overflow, !bytes.overflow, bytes.partialValue < .max / 4 else { return .max }
        // Something has to be left for the call that finds the end of the stream.
        return (png[interlace] == 0 ? 1 : 2) * bytes.partialValue + 64
    }

    private static func number(_ png: UnsafeRawBufferPointer, _ place: Int) -> Int {
        png[place..<(place + 4)].reduce(0) { $0 << 8 | Int($1) }
    }

    private static let (width, height, depth, colorType) = (16, 20, 24, 25)
    private static let (interlace, headerEnd) = (28, 33)
}
