import CodecSupport
import JPEG
import Model
import Vips

/// JPEG: reduced per block during decoding, and available as planes.
struct JPEGDecoder: LoaderDecoder {
    let format = ImageFormat.jpeg
    let loader = VipsLoader.jpeg

    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage {
        try .jpeg(bytes, shrink: scale.denominator)
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

    func planes(
        of source: SourceImage, at scale: DecodeScale, limits: ImageLimits
    ) -> (any PlanarImage & ~Copyable)? {
        JPEGPlanes(source, reducedBy: scale.denominator, limits: limits)
    }

    /// The coefficients of a multi-scan file, regardless of scale.
    func keptBytes(of source: SourceImage, at scale: DecodeScale) -> Int {
        guard source.header.isInterlaced else { return 0 }
        return (try? JPEGHeader(source.bytes))?.coefficientBytes ?? .max
    }

    func partialDecoder(
        _ cancellation: CancellationFlag, _ missing: MissingPixels
    ) -> any FormatDecoder {
        PartialJPEG(cancellation: cancellation, missing: missing)
    }
}

/// An image that can be written as planes: luma and chroma stay separate, as in the file, which
/// avoids conversions if the output is planar as well.
protocol PlanarImage: ~Copyable {
    /// Writes the planes into a block of `output`, followed by kept metadata.
    consuming func write(
        to output: some OutputSpace, with kept: RetainedMetadata, cancellation: CancellationFlag
    ) throws(ImageError) -> DecodedImage.Frame
}

extension PixelPlane {
    /// Returns the row stride of a plane in bytes, aligned for vector code.
    static func stride(_ columns: Int) -> Int { (columns + 63) / 64 * 64 }
}

/// A JPEG to be written as planes.
struct JPEGPlanes: ~Copyable, PlanarImage {
    private let decoder: JPEGPlaneDecoder
    private let layout: PixelLayout
    /// The size of the decoded data in bytes; larger than the layout, because whole blocks are
    /// decoded.
    private let byteCount: Int

    /// Returns nil if there are no planes that represent sRGB (CMYK, 12 bits, colors with a
    /// profile), or if whole blocks exceed the limit although the pixels don't.
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
        to output: some OutputSpace, with kept: RetainedMetadata, cancellation: CancellationFlag
    ) throws(ImageError) -> DecodedImage.Frame {
        let layout = layout
        let byteCount = byteCount
        let block = try output.reserve(byteCount + kept.byteCount)
        let targets = decoder.planes.indices.map { index in
            let plane = layout.planes[index]
            let memory = block.bytes[plane.offset...].prefix(
                decoder.planes[index].byteCount(stride: plane.stride))
            return SampleTarget(
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
            bands: .gray, offset: offset,
            size: PixelSize(width: plane.width, height: plane.height), stride: stride,
            activeWidth: plane.activeWidth, activeHeight: plane.activeHeight)
    }
}

/// The beginning of a JPEG: the rows that have arrived, or all rows of the scans that have arrived.
/// The rest is gray.
///
/// libvips' loader fails at the hundredth warning, and each missing restart interval causes one.
struct PartialJPEG: PartialDecoder {
    let cancellation: CancellationFlag
    let missing: MissingPixels
    let whole: any FormatDecoder = JPEGDecoder()

    /// Returns as many columns and rows as the loader for whole files.
    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage {
        let decoded = try whole.open(bytes, at: scale)
        let readable = UnsafeRawBufferPointer(
            rebasing: bytes[..<JPEGBeginning.readableCount(bytes)])
        return try .partial(of: "jpeg", like: decoded, noting: missing) {
            pixels throws(CodecError) in
            let decoder = try JPEGRowDecoder(beginning: readable, reduction: scale.denominator)
            return try decoder.decode(
                into: pixels, columns: decoded.width, rows: decoded.height
            ) { cancellation.isCancelled }
        }
    }
}
