import ImageModel
import StageContract
import Vips
import Zimg

/// Pixels of 1 to 4 bands in memory of their own, without padding between rows, which is how
/// libvips wants them.
final class InterleavedPixels {
    let size: PixelSize
    let bands: Int
    /// 1, or 2 in the machine's order.
    let bytesPerBand: Int
    private let memory: UnsafeMutableRawBufferPointer

    /// Planes of one size, a band each.
    ///
    /// - Parameters:
    ///   - premultiplied: they are of 16 bits, and the last is alpha, by which the others were
    ///     multiplied.
    ///   - isDeep: they are of 16 bits, which stay.
    init(
        joining planes: [Plane], premultiplied: Bool = false, isDeep: Bool = false
    ) throws(ImageError) {
        size = planes[0].size
        bands = planes.count
        bytesPerBand = isDeep ? 2 : 1
        let stride = size.width * bands * bytesPerBand
        memory = .allocate(byteCount: stride * size.height, alignment: 64)
        do {
            try withExtendedLifetime(planes) { () throws(ZimgError) in
                let sources = planes.map(\.source)
                let (columns, rows) = (size.width, size.height)
                if isDeep {
                    try Interleaving.joinDeep(
                        sources, into: memory, stride: stride, width: columns, height: rows,
                        premultiplied: premultiplied)
                } else if premultiplied {
                    try Interleaving.unpremultiply(
                        sources, into: memory, stride: stride, width: columns, height: rows)
                } else {
                    try Interleaving.join(
                        sources, into: memory, stride: stride, width: columns, height: rows)
                }
            }
        } catch {
            memory.deallocate()
            throw ImageError(transforming: error, step: "resize")
        }
    }

    /// Uninitialised, of 8 bits.
    init(size: PixelSize, bands: Int) {
        (self.size, self.bands, bytesPerBand) = (size, bands, 1)
        memory = .allocate(byteCount: size.width * size.height * bands, alignment: 64)
    }

    deinit {
        memory.deallocate()
    }

    /// To be written before an image is made of them.
    var mutableBytes: UnsafeMutableRawBufferPointer { memory }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(memory) }

    /// The pixels where they lie; they live as long as the image. Whatever is computed from them
    /// stops when the job is cancelled.
    func image(_ cancellation: CancellationFlag) throws(VipsError) -> VipsImage {
        let image = try VipsImage.pixels(
            bytes, width: size.width, height: size.height, bands: bands,
            bytesPerBand: bytesPerBand, owner: self)
        image.watch { cancellation.isCancelled }
        return image
    }
}
