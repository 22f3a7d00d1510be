import ImageModel
import JPEG
import Messages
import StageContract
import Vips

/// JPEG: made smaller block by block as it is decoded, and in the planes that it has.
struct JPEGDecoder: LoaderDecoder {
    let format = ImageFormat.jpeg
    let loader = VipsLoader.jpeg

    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage {
        try .jpeg(bytes, shrink: scale.denominator)
    }

    /// libvips leaves out the column and the row of which there is a part.
    func sides(
        of made: VipsHeader, _ source: SourceImage, at scale: DecodeScale
    ) -> (columns: ReducedSide, rows: ReducedSide) {
        let (size, orientation) = (source.info.size, source.orientation)
        return (
            ReducedSide(
                stored: size.width, reduction: scale.denominator, made: made.width,
                isMirrored: orientation.mirrorsHorizontally),
            ReducedSide(
                stored: size.height, reduction: scale.denominator, made: made.height,
                isMirrored: orientation.mirrorsVertically)
        )
    }

    func planes(
        of source: SourceImage, at scale: DecodeScale, limits: ImageLimits
    ) -> (any PlanarImage & ~Copyable)? {
        JPEGPlanes(source, reducedBy: scale.denominator, limits: limits)
    }

    /// The coefficients of a file with several scans, whatever the scale.
    func keptBytes(of source: SourceImage, at scale: DecodeScale) -> Int {
        guard source.header.isInterlaced else { return 0 }
        return (try? JPEGHeader(source.bytes))?.coefficientBytes ?? .max
    }

    func ofBeginnings(
        _ cancellation: CancellationFlag, _ missing: MissingPixels
    ) -> any FormatDecoder {
        PartialJPEG(cancellation, missing)
    }
}
