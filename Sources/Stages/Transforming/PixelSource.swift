import ImageModel
import Messages
import StageContract
import Vips
import Zimg

/// The pixels of a job where they lie. Who wrote them is not trusted, and may write on: a layout
/// that does not fit the bytes, or itself, is refused.
struct PixelSource {
    let layout: PixelLayout
    /// As displayed, before any reduction: what geometry counts in.
    let size: PixelSize
    private let bytes: UnsafeRawBufferPointer

    init(_ work: TransformWork, _ bytes: UnsafeRawBufferPointer) throws(ImageError) {
        try self.init(work.layout, work.sourceInfo, work.limits, bytes, of: "the source")
    }

    /// Of what is laid over the image of a job.
    init(
        _ overlay: OverlayInput, _ limits: ImageLimits, _ bytes: UnsafeRawBufferPointer
    ) throws(ImageError) {
        try self.init(overlay.layout, overlay.info, limits, bytes, of: "the overlay")
    }

    private init(
        _ layout: PixelLayout, _ info: ImageInfo, _ limits: ImageLimits,
        _ bytes: UnsafeRawBufferPointer, of what: String
    ) throws(ImageError) {
        self.layout = layout
        size = info.size
        self.bytes = bytes
        guard let count = layout.byteCount, count <= bytes.count, size.isPositive, layout.isActive
        else { throw ImageError(.internalError, "the pixels do not fit their layout") }
        // What counts is what was decoded. The size of the source says where it lies.
        let isWithin = layout.planes.allSatisfy { plane in
            max(plane.size.width, plane.size.height) <= limits.sideMax
                && plane.size.area.map { $0 <= limits.pixelsMax } ?? false
        }
        guard isWithin, max(size.width, size.height) <= Int(Int32.max), size.area != nil,
            count <= limits.pixelBytesMax
        else { throw .over("pixelsMax", "open", "\(what) of \(size) is over the limit") }
    }

    private init(_ layout: PixelLayout, _ size: PixelSize, _ bytes: UnsafeRawBufferPointer) {
        (self.layout, self.size, self.bytes) = (layout, size, bytes)
    }

    /// One of the frames that lie there, as an image of its own.
    func frame(_ index: Int) throws(ImageError) -> PixelSource {
        guard let range = layout.bytes(ofFrame: index), range.upperBound <= bytes.count else {
            throw ImageError(.internalError, "the frames do not fit their layout")
        }
        return PixelSource(
            layout.still, size, UnsafeRawBufferPointer(rebasing: bytes[range]))
    }

    /// From the first sample of the plane to the end of its last row.
    func pixels(of plane: PixelPlane) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            rebasing: bytes[plane.offset..<(plane.offset + plane.stride * plane.size.height)])
    }
}

/// The pixels of an image that is laid over another one, copied out of the segment of who made
/// them: a reader of segments has one block at a time.
public final class OverlayPixels {
    let bytes: UnsafeRawBufferPointer

    /// Copies the bytes.
    public init(copying source: UnsafeRawBufferPointer) {
        let copy = UnsafeMutableRawBufferPointer.allocate(
            byteCount: source.count, alignment: 64)
        copy.copyMemory(from: source)
        bytes = UnsafeRawBufferPointer(copy)
    }

    deinit {
        bytes.deallocate()
    }
}

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
