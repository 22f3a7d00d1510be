import ImageModel
import Messages
import StageContract
import Vips

/// How images of one format are opened: a file for each. What the format is, and the scales at
/// which it is decoded, its row says (`FormatTraits`).
protocol FormatDecoder: Sendable {
    var format: ImageFormat { get }

    /// What opens it, as far as that is libvips. Nothing else of libvips can be reached by bytes.
    var loaders: [VipsLoader] { get }

    /// Loads what it would load late, since a sandbox may close in between. Returns false where
    /// this machine lacks something that all images of the format need.
    func prepare() -> Bool

    /// Whether its pixels come turned as they are displayed: what EXIF and XMP say is done then.
    var turnsPixels: Bool { get }

    /// The image at its own size, nothing but its header read: it need not have its pixels.
    func header(_ bytes: UnsafeRawBufferPointer) throws(VipsError) -> VipsImage

    /// The image, its pixels made at one of the format's scales. Of an animation it is the first
    /// frame, with the number of all in the header.
    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage

    /// The columns and rows of an image that was opened at that scale, turned as it is displayed.
    func sides(
        of made: VipsHeader, _ source: SourceImage, at scale: DecodeScale
    ) -> (columns: ReducedSide, rows: ReducedSide)

    /// The image in planes, where the file has such that mean sRGB, and within the limits.
    func planes(
        of source: SourceImage, at scale: DecodeScale, limits: ImageLimits
    ) -> (any PlanarImage & ~Copyable)?

    /// Bytes that are kept of the whole image while fewer pixels are made of it, besides those.
    func keptBytes(of source: SourceImage, at scale: DecodeScale) -> Int

    /// What decodes a file of the format of which but the first bytes are there. The pixels of such
    /// a decoder are made as it opens a file, so it looks at the flag itself, and says then whether
    /// some are missing.
    func ofBeginnings(
        _ cancellation: CancellationFlag, _ missing: MissingPixels
    ) -> any FormatDecoder
}

extension FormatDecoder {
    func prepare() -> Bool { true }

    var turnsPixels: Bool { false }

    /// Of an image whose pixels are made as they are asked for.
    func header(_ bytes: UnsafeRawBufferPointer) throws(VipsError) -> VipsImage {
        try open(bytes, at: .whole)
    }

    /// The whole of each side is in whole columns and rows.
    func sides(
        of made: VipsHeader, _ source: SourceImage, at scale: DecodeScale
    ) -> (columns: ReducedSide, rows: ReducedSide) {
        (ReducedSide(count: made.width), ReducedSide(count: made.height))
    }

    func planes(
        of source: SourceImage, at scale: DecodeScale, limits: ImageLimits
    ) -> (any PlanarImage & ~Copyable)? { nil }

    func keptBytes(of source: SourceImage, at scale: DecodeScale) -> Int { 0 }

    func ofBeginnings(
        _ cancellation: CancellationFlag, _ missing: MissingPixels
    ) -> any FormatDecoder {
        HeaderAlone(whole: self)
    }
}

/// One that leaves a format to a loader of libvips.
protocol LoaderDecoder: FormatDecoder {
    var loader: VipsLoader { get }
}

extension LoaderDecoder {
    var loaders: [VipsLoader] { [loader] }

    /// As its loader makes it, at its own size.
    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage {
        try .load(bytes, by: loader)
    }
}
