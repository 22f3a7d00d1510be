import Model
import Vips

/// Decodes trusted input to pixels, using libvips only.
struct PixelDecoder {
    private let limits: ImageLimits

    /// The loader of each supported format.
    static let loaders: [ImageFormat: VipsLoader] = [
        .jpeg: .jpeg, .png: .png, .webp: .webp, .gif: .gif, .tiff: .tiff, .heic: .heif,
        .heif: .heif, .avif: .heif, .jxl: .jxl,
    ]

    init(_ limits: ImageLimits) { self.limits = limits }

    /// Returns the pixels as stored, and the orientation to apply for display.
    func decode(
        _ bytes: [UInt8]
    ) throws(ImageError) -> (image: PixelImage, orientation: Orientation) {
        let format = ImageFormat(file: bytes.span)
        guard let loader = Self.loaders[format] else {
            throw ImageError(
                .unsupportedFormat, "\(format.name) is not supported in this process"
            ) { $0.format = format.name }
        }
        let source = HeldBytes(bytes)
        do throws(VipsError) {
            let image = try VipsImage.load(
                source.bytes, by: loader,
                options: Self.haveFrames.contains(format) ? ["page": 0, "n": 1] : [:],
                owner: source)
            let header = image.header
            try check(header)
            // libheif has already applied the orientation.
            let exif = loader == .heif ? 1 : header.orientation ?? 1
            let stated = format.traits.statedColors?(HeaderBytes(bytes.span))
            return (try pixels(of: image, format, stated), Orientation(exif: exif))
        } catch {
            throw ImageError(inProcess: error)
        }
    }

    private static let haveFrames: Set<ImageFormat> = [.webp, .gif, .tiff, .heic, .heif, .avif]

    /// Checks the limits before any pixels are decoded.
    private func check(_ header: VipsHeader) throws(VipsError) {
        let area = header.width.multipliedReportingOverflow(by: header.height)
        guard !area.overflow, header.width <= limits.sideMax, header.height <= limits.sideMax,
            area.partialValue <= limits.pixelsMax,
            // Assumes four bands of the file's bit depth.
            area.partialValue <= limits.pixelBytesMax / (4 * header.bytesPerBand)
        else {
            throw VipsError(
                kind: .tooLarge, operation: "load",
                text: "an image of \(header.width) × \(header.height) exceeds the limits")
        }
    }

    private func pixels(
        of image: VipsImage, _ format: ImageFormat, _ stated: StatedColors?
    ) throws(VipsError) -> PixelImage {
        let space = image.header.color.profileSpace.flatMap(ProfileSpace.init(rawValue:))
        let embedded = image.withProfile { SampleProfile($0, for: space) } ?? nil
        // A damaged profile is ignored.
        let byProfile = SampleProfile(embedded, stated: stated, for: space).flatMap { profile in
            let isGrayAsRGB = image.header.bands < 3 && profile.space == .rgb
            return try? (isGrayAsRGB ? image.convertedToSRGB() : image)
                .embedding(profile: profile.bytes, xmp: [])
                .convertedToSRGBByProfile(isPerceptual: profile.isPerceptualOnly)
        }
        let shown = try (byProfile ?? image).convertedToSRGB()
        let header = shown.header
        guard (3...4).contains(header.bands), header.bytesPerBand == 1 else {
            throw VipsError(
                kind: .unsupported, operation: "load",
                text: "an image of \(header.bands) bands after its conversion to sRGB")
        }
        var samples = [UInt8](repeating: 0, count: header.width * header.height * header.bands)
        let written = samples.withUnsafeMutableBytes { samples in
            Result { () throws(VipsError) in try shown.write(to: samples) }
        }
        try written.get()
        return PixelImage(
            size: PixelSize(width: header.width, height: header.height), bands: header.bands,
            samples: samples, format: format)
    }
}

extension ImageError {
    /// Creates the error to report for an error of libvips in this process.
    fileprivate init(inProcess error: VipsError) {
        let code: ErrorCode =
            switch error.kind {
            case .corrupt: .badImageData
            case .unsupported: .unsupportedFormat
            case .tooLarge: .limitExceeded
            case .killed, .refused, .internal: .internalError
            }
        self.init(code, error.text) { $0.operation = error.operation }
    }
}
