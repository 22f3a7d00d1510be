import CodecSupport
import Model
import Vips
import Zimg

/// The pixels of a job in place. Their writer isn't trusted and may still change them: a layout
/// that doesn't fit the bytes or isn't consistent is rejected.
struct PixelSource {
    let layout: PixelLayout
    /// The displayed size before any reduction, which is the unit of geometry.
    let size: PixelSize
    private let bytes: UnsafeRawBufferPointer

    init(_ work: TransformWork, _ bytes: UnsafeRawBufferPointer) throws {
        try self.init(work.layout, work.sourceInfo, work.limits, bytes, of: "the source")
    }

    init(_ overlay: OverlayInput, _ limits: ImageLimits, _ bytes: UnsafeRawBufferPointer) throws {
        try self.init(overlay.layout, overlay.info, limits, bytes, of: "the overlay")
    }

    private init(
        _ layout: PixelLayout, _ info: ImageInfo, _ limits: ImageLimits,
        _ bytes: UnsafeRawBufferPointer, of what: String
    ) throws {
        self.layout = layout
        size = info.size
        self.bytes = bytes
        guard let count = layout.byteCount, count <= bytes.count, size.isPositive, layout.isActive
        else { throw ImageError(.internalError, "the pixels do not match their layout") }
        // The limits apply to the decoded size; the source's size only determines its position.
        let isWithin = layout.planes.allSatisfy { plane in
            max(plane.size.width, plane.size.height) <= limits.sideMax
                && plane.size.area.map { $0 <= limits.pixelsMax } ?? false
        }
        guard isWithin, max(size.width, size.height) <= Int(Int32.max), size.area != nil,
            count <= limits.pixelBytesMax
        else { throw ImageError.over("pixelsMax", "open", "\(what) of \(size) exceeds the limit") }
    }

    private init(_ layout: PixelLayout, _ size: PixelSize, _ bytes: UnsafeRawBufferPointer) {
        (self.layout, self.size, self.bytes) = (layout, size, bytes)
    }

    func frame(_ index: Int) throws -> PixelSource {
        guard let range = layout.bytes(ofFrame: index), range.upperBound <= bytes.count else {
            throw ImageError(.internalError, "the frames do not match their layout")
        }
        return PixelSource(
            layout.still, size, UnsafeRawBufferPointer(rebasing: bytes[range]))
    }

    /// Returns the bytes from the first sample of the plane to the end of its last row.
    func pixels(of plane: PixelPlane) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            rebasing: bytes[plane.offset..<(plane.offset + plane.stride * plane.size.height)])
    }
}

/// The pixels of an overlay, copied from its producer's segment: a block reader has one block at a
/// time.
package final class OverlayPixels {
    let bytes: UnsafeRawBufferPointer

    /// Copies the bytes.
    package init(copying source: UnsafeRawBufferPointer) {
        let copy = UnsafeMutableRawBufferPointer.allocate(
            byteCount: source.count, alignment: 64)
        copy.copyMemory(from: source)
        bytes = UnsafeRawBufferPointer(copy)
    }

    deinit {
        bytes.deallocate()
    }
}

/// Pixels of 1 to 4 bands in their own memory, without row padding, as libvips requires.
final class InterleavedPixels {
    let size: PixelSize
    let bands: Int
    /// 1, or 2 in native byte order.
    let bytesPerBand: Int
    private let memory: UnsafeMutableRawBufferPointer

    /// Joins planes of one size, one per band.
    ///
    /// - Parameters:
    ///   - premultiplied: Whether they have 16 bits and are premultiplied by the last one, alpha.
    ///   - isDeep: Whether they have 16 bits, which are kept.
    init(joining planes: [Plane], premultiplied: Bool = false, isDeep: Bool = false) throws {
        size = planes[0].size
        bands = planes.count
        bytesPerBand = isDeep ? 2 : 1
        let stride = size.width * bands * bytesPerBand
        memory = .allocate(byteCount: stride * size.height, alignment: 64)
        do {
            try withExtendedLifetime(planes) {
                try Interleaving.join(
                    planes.map(\.source), into: memory, stride: stride, width: size.width,
                    height: size.height, isDeep: isDeep, premultiplied: premultiplied)
            }
        } catch {
            memory.deallocate()
            throw ImageError(transforming: error, step: "resize")
        }
    }

    /// Creates uninitialized pixels.
    init(size: PixelSize, bands: Int, bytesPerBand: Int = 1) {
        (self.size, self.bands, self.bytesPerBand) = (size, bands, bytesPerBand)
        memory = .allocate(
            byteCount: size.width * size.height * bands * bytesPerBand, alignment: 64)
    }

    deinit {
        memory.deallocate()
    }

    /// The memory to fill before an image is created from it.
    var mutableBytes: UnsafeMutableRawBufferPointer { memory }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(memory) }

    /// Returns an image of the pixels in place, which live as long as the image. Computations based
    /// on it stop when the job is canceled.
    func image(_ cancellation: CancellationFlag) throws(VipsError) -> VipsImage {
        let image = try VipsImage.pixels(
            bytes, width: size.width, height: size.height, bands: bands,
            bytesPerBand: bytesPerBand, owner: self)
        image.watch { cancellation.isCancelled }
        return image
    }
}
