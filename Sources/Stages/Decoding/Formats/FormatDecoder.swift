import Deflate
import ImageModel
import Messages
import RSVG
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

/// The formats that one process decodes. No process decodes those of two families: what a drawing
/// does to its decoder is no matter for a photograph.
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

    /// What libvips may open.
    var loaders: [VipsLoader] { all.flatMap(\.loaders) }

    /// The decoder of what the first bytes say, never of what a server said.
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

/// TIFF, the first page of it.
struct TIFFDecoder: LoaderDecoder {
    let format = ImageFormat.tiff
    let loader = VipsLoader.tiff

    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage {
        let image = try VipsImage.load(bytes, by: loader, options: ["page": 0, "n": 1])
        // libvips takes Y, Cb and Cr for red, green and blue.
        switch HeaderBytes(Span(_unsafeBytes: bytes)).tiffYCbCr {
        case nil: return image
        case .whole where image.header.bands == 3 && image.header.bytesPerBand == 1:
            return try image.convertedFromYCbCr()
        case .whole, .other:
            throw VipsError(
                kind: .unsupported, operation: "tiff",
                text: "YCbCr without JPEG, in other samples than three of 8 bits for each pixel")
        }
    }
}

/// JPEG XL. Of an animation libvips 8.14 makes the last frame, and counts none.
struct JXLDecoder: LoaderDecoder {
    let format = ImageFormat.jxl
    let loader = VipsLoader.jxl
    let turnsPixels = true

    /// libvips 8.14 leaves colours multiplied by alpha where they are stored so.
    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage {
        let image = try VipsImage.load(bytes, by: loader)
        let file = HeaderBytes(Span(_unsafeBytes: bytes))
        guard image.header.hasAlpha, file.jxlAlphaIsPremultiplied == true else { return image }
        return try image.unpremultiplied()
    }
}

/// PDF, the first page of it on white, drawn as large as it is needed. Its own size is that of its
/// points, 72 to the inch.
struct PDFDecoder: LoaderDecoder {
    let format = ImageFormat.pdf
    let loader = VipsLoader.pdf

    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage {
        // White is paper: nothing is transparent, though the loader has a band for it.
        try .pdf(bytes, scale: scale.value).firstBands(3)
    }
}

/// SVG, drawn as large as it is needed. It is read from memory and has no address: what it names
/// outside of itself is not there.
struct SVGDecoder: FormatDecoder {
    let format = ImageFormat.svg
    let loaders: [VipsLoader] = []

    /// Without fonts texts are left out.
    func prepare() -> Bool { SVGFonts.load() }

    /// Its own size is that of CSS pixels, 96 to the inch.
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
            let kind = error.lacksMemory ? VipsError.Kind.tooLarge : .corrupt
            throw VipsError(kind: kind, operation: "svg", text: error.text)
        }
        return try .pixels(
            UnsafeRawBufferPointer(pixels.bytes), width: size.width, height: size.height, bands: 4,
            owner: pixels)
    }

    private static func read(_ bytes: UnsafeRawBufferPointer) throws(VipsError) -> SVGDrawing {
        do {
            return try SVGDrawing(bytes)
        } catch {
            throw VipsError(kind: .corrupt, operation: "svg", text: error.text)
        }
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

/// An SVG that nobody draws here: what is known of it is in its first element. One that came
/// compressed (`.svgz`) is inflated.
struct UndrawnSVG {
    /// The document where it came compressed; `nil`: it is the source itself.
    let inflated: [UInt8]?
    let info: ImageInfo

    /// `nil` for what is no SVG.
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
