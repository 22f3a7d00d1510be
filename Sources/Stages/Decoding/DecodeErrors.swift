import CodecSupport
import Model
import Vips

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
    init(decoding error: VipsError) { self.init(error.kind, reason: error) }

    /// Converts an error of a codec that decodes an image to planes.
    init(decoding error: CodecError) {
        guard error.kind != .outOfMemory else {
            self = .over("pixelBytesMax", "decoding the image requires too much memory")
            return
        }
        self.init(VipsError.Kind(error.kind), reason: error)
    }

    private init(_ kind: VipsError.Kind, reason error: some Error) {
        switch kind {
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
        case .killed, .refused: self = .cancelled
        case .internal:
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

extension VipsError {
    /// Converts an error of a codec that decodes an image to pixels.
    init(_ error: CodecError, operation: String) {
        self.init(kind: Kind(error.kind), operation: operation, text: error.text)
    }
}

extension VipsError.Kind {
    fileprivate init(_ kind: CodecError.Kind) {
        self =
            switch kind {
            case .corrupt: .corrupt
            case .unsupported: .unsupported
            case .tooLarge, .outOfMemory: .tooLarge
            case .cancelled, .refused: .killed
            case .internal: .internal
            }
    }
}
