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
    func header(_ bytes: UnsafeRawBufferPointer) throws(VipsError) -> VipsImage

    /// Opens the image with pixels at one of the format's scales. For an animation, returns the
    /// first frame with the number of frames in the header.
    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage

    /// Returns the columns and rows of an image opened at that scale, in the displayed orientation.
    func sides(
        of decoded: VipsHeader, _ source: SourceImage, at scale: DecodeScale
    ) -> (columns: ReducedSide, rows: ReducedSide)

    /// Returns the image as planes if the file has planes that represent sRGB and are within the
    /// limits.
    func planes(
        of source: SourceImage, at scale: DecodeScale, limits: ImageLimits
    ) -> (any PlanarImage & ~Copyable)?

    /// Returns the number of bytes kept of the whole image while a reduced one is decoded, in
    /// addition to the latter.
    func keptBytes(of source: SourceImage, at scale: DecodeScale) -> Int

    /// Returns a decoder of the format for files that end early or are damaged. It decodes pixels
    /// when it opens a file, so it checks the flag itself, and notes missing pixels.
    func partialDecoder(
        _ cancellation: CancellationFlag, _ missing: MissingPixels
    ) -> any FormatDecoder
}

extension FormatDecoder {
    func prepare() -> Bool { true }

    var turnsPixels: Bool { false }

    /// The default for decoders that decode pixels on demand.
    func header(_ bytes: UnsafeRawBufferPointer) throws(VipsError) -> VipsImage {
        try open(bytes, at: .whole)
    }

    /// The default for decoders that map each side to whole columns and rows.
    func sides(
        of decoded: VipsHeader, _ source: SourceImage, at scale: DecodeScale
    ) -> (columns: ReducedSide, rows: ReducedSide) {
        (ReducedSide(count: decoded.width), ReducedSide(count: decoded.height))
    }

    func planes(
        of source: SourceImage, at scale: DecodeScale, limits: ImageLimits
    ) -> (any PlanarImage & ~Copyable)? { nil }

    func keptBytes(of source: SourceImage, at scale: DecodeScale) -> Int { 0 }

    func partialDecoder(
        _ cancellation: CancellationFlag, _ missing: MissingPixels
    ) -> any FormatDecoder {
        HeaderAlone(whole: self)
    }
}

/// A decoder of incomplete files, which otherwise behaves like that of whole files. It has no
/// planes.
protocol PartialDecoder: FormatDecoder {
    var whole: any FormatDecoder { get }
}

extension PartialDecoder {
    var format: ImageFormat { whole.format }

    var loaders: [VipsLoader] { whole.loaders }

    var turnsPixels: Bool { whole.turnsPixels }

    func header(_ bytes: UnsafeRawBufferPointer) throws(VipsError) -> VipsImage {
        try whole.header(bytes)
    }

    func sides(
        of decoded: VipsHeader, _ source: SourceImage, at scale: DecodeScale
    ) -> (columns: ReducedSide, rows: ReducedSide) { whole.sides(of: decoded, source, at: scale) }

    func keptBytes(of source: SourceImage, at scale: DecodeScale) -> Int {
        whole.keptBytes(of: source, at: scale)
    }
}

/// A decoder that uses a loader of libvips.
protocol LoaderDecoder: FormatDecoder {
    var loader: VipsLoader { get }
}

extension LoaderDecoder {
    var loaders: [VipsLoader] { [loader] }

    /// The default for loaders without scaling.
    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage {
        try .load(bytes, by: loader)
    }
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
    func decoder(of bytes: UnsafeRawBufferPointer) throws(ImageError) -> any FormatDecoder {
        let format = ImageFormat(file: bytes.bindMemory(to: UInt8.self).span)
        if let decoder = all.first(where: { $0.format == format }) {
            let file = HeaderBytes(Span(_unsafeBytes: bytes))
            guard !file.hasHEICFrames || file.hasPrimaryItem || file.hasAVIFBrand else {
                throw .framesAlone(format)
            }
            return decoder
        }
        switch format.traits.input?.family {
        case nil where format == .undefined: throw .unknown(bytes)
        case nil: throw .notDecoded(format)
        case .vector?: throw .decodedApart(format)
        case .raster?: throw .notDrawn(format)
        }
    }
}

/// TIFF, its first page.
struct TIFFDecoder: LoaderDecoder {
    let format = ImageFormat.tiff
    let loader = VipsLoader.tiff

    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage {
        let image = try VipsImage.load(bytes, by: loader, options: ["page": 0, "n": 1])
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
struct JXLDecoder: LoaderDecoder {
    let format = ImageFormat.jxl
    let loader = VipsLoader.jxl
    let turnsPixels = true

    /// libvips 8.14 doesn't unpremultiply colors that are stored premultiplied by alpha.
    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage {
        let image = try VipsImage.load(bytes, by: loader)
        let file = HeaderBytes(Span(_unsafeBytes: bytes))
        guard image.header.hasAlpha, file.jxlAlphaIsPremultiplied == true else { return image }
        return try image.unpremultiplied()
    }
}

/// PDF, its first page on white, rendered at the required size. Its own size is measured in points,
/// 72 per inch.
struct PDFDecoder: LoaderDecoder {
    let format = ImageFormat.pdf
    let loader = VipsLoader.pdf

    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage {
        // Paper is white: nothing is transparent, although the loader adds a band for it.
        try .pdf(bytes, scale: scale.value).firstBands(3)
    }
}

/// SVG, rendered at the required size. It is read from memory and has no base URL, so external
/// references are not resolved.
struct SVGDecoder: FormatDecoder {
    let format = ImageFormat.svg
    let loaders: [VipsLoader] = []

    /// Without fonts, texts are omitted.
    func prepare() -> Bool { SVGFonts.load() }

    /// Its own size is measured in CSS pixels, 96 per inch.
    func header(_ bytes: UnsafeRawBufferPointer) throws(VipsError) -> VipsImage {
        let size = try Self.size(of: Self.read(bytes))
        return try .blank(width: size.width, height: size.height, bands: 4)
    }

    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage {
        let drawing = try Self.read(bytes)
        let size = try scale.size(Self.size(of: drawing))
        guard max(size.width, size.height) <= SVGDrawing.sideMax, let area = size.area else {
            throw VipsError(kind: .tooLarge, operation: "svg", text: "a drawing of \(size)")
        }
        let pixels = ZeroedBytes(count: 4 * area)
        do {
            try drawing.draw(into: pixels.bytes, width: size.width, height: size.height)
        } catch {
            throw VipsError(error, operation: "svg")
        }
        return try .pixels(pixels, size, bands: 4)
    }

    private static func read(_ bytes: UnsafeRawBufferPointer) throws(VipsError) -> SVGDrawing {
        do { return try SVGDrawing(bytes) } catch { throw VipsError(error, operation: "svg") }
    }

    private static func size(of drawing: borrowing SVGDrawing) throws(VipsError) -> PixelSize {
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

    private static func size(
        _ bytes: UnsafeRawBufferPointer, _ limits: ImageLimits
    ) -> PixelSize? {
        guard ImageFormat(file: bytes.bindMemory(to: UInt8.self).span) == .svg else { return nil }
        return DrawingSize.of(bytes, sideMax: limits.sideMax, pixelsMax: limits.pixelsMax)
    }
}
