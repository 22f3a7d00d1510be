import CodecSupport
import JPEG
import Model
import Vips

/// JPEG: reduced per block during decoding, and available as planes.
struct JPEGDecoder: FormatDecoder {
    let format = ImageFormat.jpeg
    let loaders = [VipsLoader.jpeg]

    func open(_ bytes: UnsafeRawBufferPointer, at scale: DecodeScale) throws -> VipsImage {
        try .jpeg(bytes, shrink: scale.denominator)
    }

    /// Decodes the rows that have arrived, or all rows of the scans that have; the rest is gray.
    /// Returns as many columns and rows as libvips' loader, which fails at the hundredth warning:
    /// each missing restart interval causes one.
    func openPartial(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale, _ missing: MissingPixels
    ) throws -> VipsImage {
        let decoded = try open(bytes, at: scale)
        let readable = UnsafeRawBufferPointer(
            rebasing: bytes[..<JPEGBeginning.readableCount(bytes)])
        return try .partial(like: decoded, noting: missing) { pixels in
            let decoder = try JPEGRowDecoder(beginning: readable, reduction: scale.denominator)
            return try decoder.decode(
                into: pixels, columns: decoded.width, rows: decoded.height,
                isCancelled: missing.isCancelled)
        }
    }

    /// libvips omits partial columns and rows.
    func sides(
        of decoded: VipsHeader, _ source: SourceImage, at scale: DecodeScale
    ) -> (columns: ReducedSide, rows: ReducedSide) {
        let (size, orientation) = (source.info.size, source.orientation)
        return (
            ReducedSide(
                stored: size.width, reduction: scale.denominator, decoded: decoded.width,
                isMirrored: orientation.mirrorsHorizontally),
            ReducedSide(
                stored: size.height, reduction: scale.denominator, decoded: decoded.height,
                isMirrored: orientation.mirrorsVertically)
        )
    }

    func writePlanes(
        of source: SourceImage, at scale: DecodeScale, limits: ImageLimits,
        to output: some OutputSpace, with kept: RetainedMetadata, _ cancellation: CancellationFlag
    ) throws -> DecodedImage.Frame? {
        guard
            let planes = JPEGPlanes(source, reducedBy: scale.denominator, limits: limits)
        else { return nil }
        return try planes.write(to: output, with: kept, cancellation)
    }

    /// The coefficients of a multi-scan file, regardless of scale.
    func keptBytes(of source: SourceImage, at scale: DecodeScale) -> Int {
        guard source.header.isInterlaced else { return 0 }
        return (try? JPEGHeader(source.bytes))?.coefficientBytes ?? .max
    }
}

/// An image that can be written as planes: luma and chroma stay separate, as in the file, which
/// avoids conversions if the output is planar as well.
protocol PlanarImage: ~Copyable {
    var layout: PixelLayout { get }
    /// The size of the written planes in bytes; may be larger than that of the layout.
    var byteCount: Int { get }

    /// Writes the planes to the beginning of `memory`.
    consuming func write(
        to memory: UnsafeMutableRawBufferPointer, _ cancellation: CancellationFlag
    ) throws
}

extension PlanarImage where Self: ~Copyable {
    /// Writes the planes to a block of `output`, followed by kept metadata.
    consuming func write(
        to output: some OutputSpace, with kept: RetainedMetadata, _ cancellation: CancellationFlag
    ) throws -> DecodedImage.Frame {
        // Planes may have been decoded before, which can't be canceled.
        guard !cancellation.isCancelled else { throw ImageError.cancelled }
        let (layout, count) = (layout, byteCount)
        let block = try output.reserve(count + kept.byteCount)
        do {
            try write(to: block.bytes, cancellation)
        } catch {
            output.discard(block)
            throw error
        }
        return block.frame(layout, bytes: count, with: kept)
    }
}

extension PixelPlane {
    /// Returns the row stride of a plane in bytes, aligned for vector code.
    static func stride(_ columns: Int) -> Int { (columns + 63) / 64 * 64 }
}

/// A JPEG to be written as planes.
struct JPEGPlanes: ~Copyable, PlanarImage {
    private let decoder: JPEGPlaneDecoder
    let layout: PixelLayout
    /// Whole blocks are decoded.
    let byteCount: Int

    /// Returns nil if there are no planes that represent sRGB (CMYK, 12 bits, colors with a
    /// profile), or if whole blocks exceed the limit although the pixels don't.
    init?(_ source: SourceImage, reducedBy reduction: Int, limits: ImageLimits) {
        guard !source.needsProfile,
            let decoder = try? JPEGPlaneDecoder(
                source.bytes, reduction: reduction,
                coefficientBytesMax: limits.pixelBytesMax)
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
        to memory: UnsafeMutableRawBufferPointer, _ cancellation: CancellationFlag
    ) throws {
        let targets = zip(layout.planes, decoder.planes).map { plane, decoded in
            let part = memory[plane.offset...].prefix(decoded.byteCount(stride: plane.stride))
            return SampleTarget(
                memory: UnsafeMutableRawBufferPointer(rebasing: part), stride: plane.stride)
        }
        try decoder.decode(into: targets) { cancellation.isCancelled }
    }
}

extension PixelPlane {
    init(_ plane: JPEGPlane, offset: Int, stride: Int) {
        self.init(
            bands: .gray, offset: offset,
            size: PixelSize(width: plane.width, height: plane.height), stride: stride,
            activeWidth: plane.activeWidth, activeHeight: plane.activeHeight)
    }
}
