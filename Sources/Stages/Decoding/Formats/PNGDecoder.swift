import CodecSupport
import Model
import PNG
import Vips

/// PNG; the default image of an animation.
struct PNGDecoder: LoaderDecoder {
    let format = ImageFormat.png
    let loader = VipsLoader.png

    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage {
        try .checkedPNG(bytes)
    }

    func partialDecoder(
        _ cancellation: CancellationFlag, _ missing: MissingPixels
    ) -> any FormatDecoder {
        PartialPNG(cancellation: cancellation, missing: missing)
    }
}

extension VipsImage {
    /// Checks that all chunks are within the file, because libvips' reader allocates memory for
    /// their declared sizes.
    static func checkedPNG(_ bytes: UnsafeRawBufferPointer) throws(VipsError) -> VipsImage {
        guard HeaderBytes(Span(_unsafeBytes: bytes)).pngChunkBeyondEnd == nil else {
            throw VipsError(
                kind: .corrupt, operation: "png", text: "a chunk extends beyond the end")
        }
        InflatedBytes.permit(bytes)
        return try .png(bytes)
    }
}

/// The beginning of a PNG: the rows that have arrived, or the passes of an interlaced image, each
/// of which fills the area. The rest is transparent, or black. For an animation, the default image.
struct PartialPNG: PartialDecoder {
    let cancellation: CancellationFlag
    let missing: MissingPixels
    let whole: any FormatDecoder = PNGDecoder()

    /// Omits an incomplete chunk, because libvips' reader allocates memory for all of it.
    func header(_ bytes: UnsafeRawBufferPointer) throws(VipsError) -> VipsImage {
        InflatedBytes.permit(bytes)
        let end = HeaderBytes(Span(_unsafeBytes: bytes)).pngChunkBeyondEnd
        return try .png(UnsafeRawBufferPointer(rebasing: bytes[..<(end ?? bytes.count)]))
    }

    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage {
        let template = try header(bytes)
        let beginning = PNGBeginning(
            width: template.width, height: template.height, bands: template.header.bands,
            bytesPerBand: template.header.bytesPerBand)
        return try .partial(of: "png", like: template, noting: missing) {
            pixels throws(CodecError) in
            let read = try beginning.read(bytes, into: pixels) { cancellation.isCancelled }
            return read.isWhole ? .whole : read.rows > 0 ? .part : .nothing
        }
    }
}
