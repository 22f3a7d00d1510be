import JPEG
import Model
import Vips
import Zimg

extension ImageError {
    static var notAnImage: ImageError {
        ImageError(.badImageData, "the data is not an image in a known format")
    }

    static var cancelled: ImageError {
        ImageError(.cancelled, "cancelled while the image was being decoded")
    }

    /// The error for an unknown format.
    static func unknown(_ bytes: UnsafeRawBufferPointer) -> ImageError {
        guard bytes.starts(with: [0x1F, 0x8B]) else { return .notAnImage }
        return ImageError(
            .unsupportedFormat,
            "the data is compressed with gzip, like an .svgz file, which is not supported: send "
                + "it with 'Content-Encoding: gzip', or uncompressed"
        ) { $0.format = "gzip" }
    }

    /// The error for an image that was declared to be a drawing.
    static func notDrawn(_ format: ImageFormat) -> ImageError {
        ImageError(
            .badImageData, "the image is \(format.name), but was declared as another format")
    }

    /// The error for an HEVC sequence without an image besides its frames.
    static func framesAlone(_ format: ImageFormat) -> ImageError {
        ImageError(
            .unsupportedFormat,
            "this \(format.name) file has HEVC frames, which are not decoded, and no primary "
                + "image: send it with a primary image, or as an AVIF sequence"
        ) { $0.format = format.name }
    }

    static func over(_ limit: String, _ message: String) -> ImageError {
        ImageError(.limitExceeded, message) { $0.limit = limit }
    }

    /// The same error for an image whose header has been read, so that only its pixels can be
    /// damaged.
    var asDamagedPixels: ImageError {
        guard code == .badImageData else { return self }
        var error = self
        error.message =
            "the image is damaged or incomplete after its header; request it without steps, "
            + "format and quality to get its bytes unchanged"
        error.damagesPixelsOnly = true
        return error
    }

    /// Converts an error of libvips during decoding.
    init(decoding error: VipsError) {
        switch error.kind {
        case .corrupt:
            self.init(.badImageData, "the image is damaged or incomplete", reason: error)
        case .unsupported:
            self.init(
                .unsupportedFormat, "this version does not decode images of this kind",
                reason: error)
        case .tooLarge:
            self.init(
                .limitExceeded,
                "the image exceeds the limits of its decoder: request fewer pixels", reason: error)
            typedDetails.limit = "decoder"
        case .killed, .refused:
            self = .cancelled
        case .internal:
            self.init(.internalError, "the image could not be decoded", reason: error)
        }
    }

    /// Converts an error of libjpeg during decoding.
    init(decoding error: JPEGError) {
        switch error.kind {
        case .corrupt:
            self.init(.badImageData, "the image is damaged or incomplete", reason: error)
        case .unsupported:
            self.init(
                .unsupportedFormat, "this version does not decode images of this kind",
                reason: error)
        case .cancelled, .refused: self = .cancelled
        case .outOfMemory:
            self = .over("pixelBytesMax", "decoding the image requires too much memory")
        case .internal:
            self.init(.internalError, "the image could not be decoded", reason: error)
        }
    }

    /// Converts an error of zimg during decoding.
    init(decoding error: ZimgError) {
        switch error.kind {
        case .cancelled: self = .cancelled
        case .outOfMemory:
            self = .over("pixelBytesMax", "decoding the image requires too much memory")
        case .unsupported, .internal:
            self.init(.internalError, "the image could not be decoded", reason: error)
        }
    }

    /// Calls libvips and converts its errors.
    static func mapping<Result>(
        _ body: () throws(VipsError) -> Result
    ) throws(ImageError) -> Result {
        do {
            return try body()
        } catch {
            throw ImageError(decoding: error)
        }
    }

    private init(_ code: ErrorCode, _ message: String, reason error: some Error) {
        self.init(code, message) { $0.reason = Self.reason(error) }
    }
}
