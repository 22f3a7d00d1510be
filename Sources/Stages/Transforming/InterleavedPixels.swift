import ImageModel
import Vips
import Zimg

/// Pixels of 1 to 4 bands in memory of their own, without padding between rows, which is how
/// libvips wants them.
final class InterleavedPixels {
    let size: PixelSize
    let bands: Int
    private let memory: UnsafeMutableRawBufferPointer

    /// Planes of one size, a band each.
    init(joining planes: [Plane]) throws(ImageError) {
        size = planes[0].size
        bands = planes.count
        memory = .allocate(byteCount: size.width * size.height * bands, alignment: 64)
        do {
            try withExtendedLifetime(planes) { () throws(ZimgError) in
                try Interleaving.join(
                    planes.map(\.source), into: memory, stride: size.width * bands,
                    width: size.width, height: size.height)
            }
        } catch {
            memory.deallocate()
            throw ImageError(transforming: error)
        }
    }

    deinit {
        memory.deallocate()
    }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(memory) }

    /// The pixels where they lie; they live as long as the image.
    func image() throws(VipsError) -> VipsImage {
        try VipsImage.pixels(
            bytes, width: size.width, height: size.height, bands: bands, owner: self)
    }
}
