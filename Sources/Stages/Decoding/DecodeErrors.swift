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

    /// Throws unless a value is within that limit.
    static func require(
        _ isWithin: Bool, _ limit: String, _ message: @autoclosure () -> String
    ) throws(ImageError) {
        guard isWithin else { throw .over(limit, message()) }
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

    /// Converts an error of libvips, or of a codec that decodes an image to planes.
    init(decoding error: any Error) {
        switch error {
        case let error as ImageError: self = error
        case let error as VipsError: self.init(error.kind, reason: error)
        case let error as CodecError where error.kind == .outOfMemory:
            self = .over("pixelBytesMax", "decoding the image requires too much memory")
        case let error as CodecError: self.init(VipsError.Kind(error.kind), reason: error)
        default: self.init(.internal, reason: error)
        }
    }

    private init(_ kind: VipsError.Kind, reason error: any Error) {
        let (code, message): (ErrorCode, String)
        switch kind {
        case .corrupt: (code, message) = (.badImageData, "the image is damaged or incomplete")
        case .unsupported:
            (code, message) = (
                .unsupportedFormat, "this version does not decode images of this kind"
            )
        case .tooLarge:
            (code, message) = (
                .limitExceeded, "the image exceeds the limits of its decoder: request fewer pixels"
            )
        case .killed, .refused:
            self = .cancelled
            return
        case .internal: (code, message) = (.internalError, "the image could not be decoded")
        }
        self.init(code, message) {
            $0.reason = Self.reason(error)
            if kind == .tooLarge { $0.limit = "decoder" }
        }
    }

    /// Returns the result of `body`, and converts its errors.
    static func mapping<Result>(_ body: () throws -> Result) throws(ImageError) -> Result {
        do {
            return try body()
        } catch {
            throw ImageError(decoding: error)
        }
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
