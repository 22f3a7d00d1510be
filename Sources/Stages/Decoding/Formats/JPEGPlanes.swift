import ImageModel
import JPEG
import Messages
import StageContract

/// A JPEG on its way to planes.
struct JPEGPlanes: ~Copyable, PlanarImage {
    private let decoder: JPEGPlaneDecoder
    private let layout: PixelLayout
    /// Bytes of all that is decoded; more than those of the layout, since whole blocks are.
    private let byteCount: Int

    /// Nil for what does not come in planes that mean sRGB: CMYK, 12 bits, colours that a profile
    /// explains; and where whole blocks are over the limit though pixels are not.
    init?(_ source: SourceImage, reducedBy reduction: Int, limits: ImageLimits) {
        guard !source.needsProfile,
            let decoder = try? JPEGPlaneDecoder(
                source.bytes, reduction: reduction,
                limits: JPEGLimits(
                    scans: JPEGLimits.standard.scans, coefficientBytes: limits.pixelBytesMax))
        else { return nil }
        var (planes, end): ([PixelPlane], Int) = ([], 0)
        for plane in decoder.planes {
            let stride = PixelPlane.stride(plane.paddedWidth)
            planes.append(PixelPlane(plane, offset: end, stride: stride))
            end += plane.byteCount(stride: stride)
        }
        guard end <= limits.pixelBytesMax else { return nil }
        layout = PixelLayout(planes: planes, orientation: source.orientation)
        byteCount = end
        self.decoder = decoder
    }

    consuming func write(
        to output: some OutputSpace, with kept: KeptBytes, cancellation: CancellationFlag
    ) throws(ImageError) -> DecodedImage.Frame {
        let layout = layout
        let byteCount = byteCount
        let block = try output.reserve(byteCount + kept.byteCount)
        let targets = decoder.planes.indices.map { index in
            let plane = layout.planes[index]
            let memory = block.bytes[plane.offset...].prefix(
                decoder.planes[index].byteCount(stride: plane.stride))
            return JPEGPlaneTarget(
                memory: UnsafeMutableRawBufferPointer(rebasing: memory), stride: plane.stride)
        }
        do {
            try decoder.decode(into: targets) { cancellation.isCancelled }
        } catch {
            output.discard(block)
            throw ImageError(decoding: error)
        }
        return block.frame(layout, pixelBytes: byteCount, with: kept)
    }
}

extension PixelPlane {
    init(_ plane: JPEGPlane, offset: Int, stride: Int) {
        self.init(
            bands: .grey, offset: offset,
            size: PixelSize(width: plane.width, height: plane.height), stride: stride,
            activeWidth: plane.activeWidth, activeHeight: plane.activeHeight)
    }
}
