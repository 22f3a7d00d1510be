import CodecSupport
import Model
import PNG
import Vips

/// PNG; the default image of an animation.
struct PNGDecoder: FormatDecoder {
    let format = ImageFormat.png
    let loaders = [VipsLoader.png]

    func open(_ bytes: UnsafeRawBufferPointer, at scale: DecodeScale) throws -> VipsImage {
        try .checkedPNG(bytes)
    }

    /// Omits an incomplete chunk, because libvips' reader allocates memory for all of it.
    func partialHeader(_ bytes: UnsafeRawBufferPointer) throws -> VipsImage {
        InflatedBytes.permit(bytes)
        let end = HeaderBytes(Span(_unsafeBytes: bytes)).pngChunkBeyondEnd
        return try .png(UnsafeRawBufferPointer(rebasing: bytes[..<(end ?? bytes.count)]))
    }

    /// Decodes the rows that have arrived, or the passes of an interlaced image, each of which
    /// fills the area. The rest is transparent, or black.
    func openPartial(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale, _ missing: MissingPixels
    ) throws -> VipsImage {
        let template = try partialHeader(bytes)
        let beginning = PNGBeginning(
            width: template.width, height: template.height, bands: template.header.bands,
            bytesPerBand: template.header.bytesPerBand)
        return try .partial(like: template, noting: missing) { pixels in
            let read = try beginning.read(bytes, into: pixels, isCancelled: missing.isCancelled)
            return read.isWhole ? .whole : read.rows > 0 ? .part : .nothing
        }
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
