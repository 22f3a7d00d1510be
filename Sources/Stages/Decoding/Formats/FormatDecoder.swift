import Deflate
import Model
import RSVG
import Vips

/// The decoder of one format, in its own file. The properties of the format and its decoding scales
/// are in its row (`FormatTraits`).
protocol FormatDecoder: Sendable {
    var format: ImageFormat { get }

    /// The libvips loaders that it uses. All other loaders of libvips are blocked.
    var loaders: [VipsLoader] { get }

    /// Loads components that would otherwise be loaded lazily, because a sandbox may block that
    /// later. Returns false if the system lacks something that all images of the format need.
    func prepare() -> Bool

    /// Whether it already applies the orientation of EXIF and XMP to its pixels.
    var turnsPixels: Bool { get }

    /// Returns the image at its full size after reading only its header; the pixels need not exist.
    /// By default opened as a whole, for decoders that decode pixels on demand.
    func header(_ bytes: UnsafeRawBufferPointer) throws -> VipsImage

    /// Opens the image with pixels at one of the format's scales. For an animation, returns the
    /// first frame with the number of frames in the header.
    func open(_ bytes: UnsafeRawBufferPointer, at scale: DecodeScale) throws -> VipsImage

    /// Returns `header` of a file that ends early or is damaged.
    func partialHeader(_ bytes: UnsafeRawBufferPointer) throws -> VipsImage

    /// Opens a file that ends early or is damaged: decodes its pixels now, until the job is
    /// canceled, and notes missing ones. By default there is nothing to show.
    func openPartial(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale, _ missing: MissingPixels
    ) throws -> VipsImage

    /// Returns the columns and rows of an image opened at that scale, in the displayed orientation;
    /// by default each side is mapped to whole columns and rows.
    func sides(
        of decoded: VipsHeader, _ source: SourceImage, at scale: DecodeScale
    ) -> (columns: ReducedSide, rows: ReducedSide)

    /// Writes the image as planes, followed by kept metadata, to a block of `output`. Returns `nil`
    /// unless the file has planes that represent sRGB and are within the limits.
    func writePlanes(
        of source: SourceImage, at scale: DecodeScale, limits: ImageLimits,
        to output: some OutputSpace, with kept: RetainedMetadata, _ cancellation: CancellationFlag
    ) throws -> DecodedImage.Frame?

    /// Returns the number of bytes kept of the whole image while a reduced one is decoded, in
    /// addition to the latter.
    func keptBytes(of source: SourceImage, at scale: DecodeScale) -> Int
}

extension FormatDecoder {
    var loaders: [VipsLoader] { [] }

    func prepare() -> Bool { true }

    var turnsPixels: Bool { false }

    func header(_ bytes: UnsafeRawBufferPointer) throws -> VipsImage {
        try open(bytes, at: .whole)
    }

    func partialHeader(_ bytes: UnsafeRawBufferPointer) throws -> VipsImage { try header(bytes) }

    func openPartial(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale, _ missing: MissingPixels
    ) throws -> VipsImage { throw VipsError.nothingToShow(format) }

    func sides(
        of decoded: VipsHeader, _ source: SourceImage, at scale: DecodeScale
    ) -> (columns: ReducedSide, rows: ReducedSide) {
        (ReducedSide(count: decoded.width), ReducedSide(count: decoded.height))
    }

    func writePlanes(
        of source: SourceImage, at scale: DecodeScale, limits: ImageLimits,
        to output: some OutputSpace, with kept: RetainedMetadata, _ cancellation: CancellationFlag
    ) throws -> DecodedImage.Frame? { nil }

    func keptBytes(of source: SourceImage, at scale: DecodeScale) -> Int { 0 }
}

/// The formats that one process decodes. Families are separated by process, so that a compromised
/// decoder of drawings can't affect photographs.
struct FormatDecoders {
    let family: FormatFamily
    let all: [any FormatDecoder]

    static let raster = FormatDecoders(
        family: .raster,
        all: [
            JPEGDecoder(), PNGDecoder(), GIFDecoder(), WebPDecoder(), TIFFDecoder(),
            HEIFDecoder(format: .heic), HEIFDecoder(format: .heif), AVIFDecoder(),
            JXLDecoder(), BMPDecoder(), ICODecoder(),
        ])

    static let vector = FormatDecoders(family: .vector, all: [SVGDecoder(), PDFDecoder()])

    static func of(_ family: FormatFamily) -> FormatDecoders {
        switch family {
        case .raster: raster
        case .vector: vector
        }
    }

    /// The permitted libvips loaders.
    var loaders: [VipsLoader] { all.flatMap(\.loaders) }

    /// Returns the decoder determined by the first bytes, never by the content type of a server.
    func decoder(of bytes: UnsafeRawBufferPointer) throws -> any FormatDecoder {
        let format = ImageFormat(file: bytes.bindMemory(to: UInt8.self).span)
        if let decoder = all.first(where: { $0.format == format }) {
            let file = HeaderBytes(Span(_unsafeBytes: bytes))
            guard !file.hasHEICFrames || file.hasPrimaryItem || file.hasAVIFBrand else {
                throw ImageError.framesAlone(format)
            }
            return decoder
        }
        switch format.traits.input?.family {
        case nil where format == .undefined: throw ImageError.unknown(bytes)
        case nil: throw ImageError.notDecoded(format)
        case .vector?: throw ImageError.decodedApart(format)
        case .raster?: throw ImageError.notDrawn(format)
        }
    }
}

/// TIFF, its first page.
struct TIFFDecoder: FormatDecoder {
    let format = ImageFormat.tiff
    let loaders = [VipsLoader.tiff]

    func open(_ bytes: UnsafeRawBufferPointer, at scale: DecodeScale) throws -> VipsImage {
        let image = try VipsImage.load(bytes, by: .tiff, options: ["page": 0, "n": 1])
        // libvips misinterprets YCbCr as RGB.
        switch HeaderBytes(Span(_unsafeBytes: bytes)).tiffYCbCr {
        case nil: return image
        case .whole where image.header.bands == 3 && image.header.bytesPerBand == 1:
            return try image.convertedFromYCbCr()
        case .whole, .other:
            throw VipsError(
                kind: .unsupported, operation: "tiff",
                text: "YCbCr without JPEG and with samples other than three of 8 bits per pixel")
        }
    }
}

/// JPEG XL. For an animation, libvips 8.14 returns the last frame and doesn't count frames.
struct JXLDecoder: FormatDecoder {
    let format = ImageFormat.jxl
    let loaders = [VipsLoader.jxl]
    let turnsPixels = true

    /// libvips 8.14 doesn't unpremultiply colors that are stored premultiplied by alpha.
    func open(_ bytes: UnsafeRawBufferPointer, at scale: DecodeScale) throws -> VipsImage {
        let image = try VipsImage.load(bytes, by: .jxl)
        let file = HeaderBytes(Span(_unsafeBytes: bytes))
        guard image.header.hasAlpha, file.jxlAlphaIsPremultiplied == true else { return image }
        return try image.unpremultiplied()
    }
}

/// PDF, its first page on white, rendered at the required size. Its own size is measured in points,
/// 72 per inch.
struct PDFDecoder: FormatDecoder {
    let format = ImageFormat.pdf
    let loaders = [VipsLoader.pdf]

    func open(_ bytes: UnsafeRawBufferPointer, at scale: DecodeScale) throws -> VipsImage {
        // Paper is white: nothing is transparent, although the loader adds a band for it.
        try .pdf(bytes, scale: scale.value).firstBands(3)
    }
}

/// SVG, rendered at the required size. It is read from memory and has no base URL, so external
/// references are not resolved.
struct SVGDecoder: FormatDecoder {
    let format = ImageFormat.svg

    /// Without fonts, texts are omitted.
    func prepare() -> Bool { SVGFonts.load() }

    /// Its own size is measured in CSS pixels, 96 per inch.
    func header(_ bytes: UnsafeRawBufferPointer) throws -> VipsImage {
        let size = try Self.size(of: SVGDrawing(bytes))
        return try .blank(width: size.width, height: size.height, bands: 4)
    }

    func open(_ bytes: UnsafeRawBufferPointer, at scale: DecodeScale) throws -> VipsImage {
        let drawing = try SVGDrawing(bytes)
        let size = try scale.size(Self.size(of: drawing))
        guard max(size.width, size.height) <= SVGDrawing.sideMax, let area = size.area else {
            throw VipsError(kind: .tooLarge, operation: "svg", text: "a drawing of \(size)")
        }
        let pixels = ZeroedBytes(count: 4 * area)
        try drawing.draw(into: pixels.bytes, width: size.width, height: size.height)
        return try .pixels(pixels, size, bands: 4)
    }

    private static func size(of drawing: borrowing SVGDrawing) throws -> PixelSize {
        let (width, height) = (drawing.width.rounded(), drawing.height.rounded())
        guard min(width, height) >= 1 else {
            throw VipsError(kind: .corrupt, operation: "svg", text: "a drawing without a size")
        }
        guard max(width, height) <= Double(VipsImage.sideMax) else {
            throw VipsError(
                kind: .tooLarge, operation: "svg", text: "a drawing of \(width) × \(height)")
        }
        return PixelSize(width: Int(width), height: Int(height))
    }
}

/// An SVG that isn't rendered: its properties come from its first element. A compressed one
/// (`.svgz`) is inflated.
struct UnrenderedSVG {
    /// The document if it was compressed; `nil` if it is the source itself.
    let inflated: [UInt8]?
    let info: ImageInfo

    /// Returns `nil` if the bytes aren't SVG.
    init?(_ bytes: UnsafeRawBufferPointer, _ limits: ImageLimits) {
        inflated = GzipDecompressor.inflated(bytes, atMost: Int(DecodeWork.inflatedBytesMax))
        let size: PixelSize?
        if let inflated {
            size = inflated.withUnsafeBytes { Self.size($0, limits) }
        } else {
            size = Self.size(bytes, limits)
        }
        guard let size else { return nil }
        info = ImageInfo(format: .svg, size: size, hasAlpha: true)
    }

    private static func size(_ bytes: UnsafeRawBufferPointer, _ limits: ImageLimits) -> PixelSize? {
        guard ImageFormat(file: bytes.bindMemory(to: UInt8.self).span) == .svg else { return nil }
        return DrawingSize.of(bytes, sideMax: limits.sideMax, pixelsMax: limits.pixelsMax)
    }
}
