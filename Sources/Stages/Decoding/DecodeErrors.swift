import ImageModel
import JPEG
import StageContract
import Vips
import Zimg

extension ImageError {
    static var notAnImage: ImageError {
        ImageError(.badImageData, "these bytes are no image of a known format")
    }

    static var cancelled: ImageError {
        ImageError(.cancelled, "cancelled while the image was decoded")
    }

    /// Of bytes whose format nobody knows.
    static func unknown(_ bytes: UnsafeRawBufferPointer) -> ImageError {
        guard bytes.starts(with: [0x1F, 0x8B]) else { return .notAnImage }
        return ImageError(
            .unsupportedFormat,
            "these bytes are packed with gzip, as an .svgz is, and images are not unpacked: send "
                + "them with 'Content-Encoding: gzip', or unpacked",
            details: ["format": "gzip"])
    }

    /// Of an image that was said to be a drawing.
    static func notDrawn(_ format: ImageFormat) -> ImageError {
        ImageError(
            .badImageData, "the bytes are \(format.name), and were said to be another format")
    }

    /// Of a sequence of HEVC without an image that is none of its frames.
    static func framesAlone(_ format: ImageFormat) -> ImageError {
        ImageError(
            .unsupportedFormat,
            "this file in \(format.name) has frames and no primary image beside them, and frames "
                + "of HEVC are not decoded: send it with a primary image, or as an AVIF sequence",
            details: ["format": format.name])
    }

    static func over(_ limit: String, _ message: String) -> ImageError {
        ImageError(.limitExceeded, message, details: ["limit": limit])
    }

    /// The same of an image whose header was read: what is damaged is its pixels.
    var ofPixels: ImageError {
        guard code == .badImageData else { return self }
        var error = self
        error.message =
            "the image is damaged or incomplete behind its header; without steps, format and "
            + "quality its bytes come as they are"
        error.damagesPixelsOnly = true
        return error
    }

    /// What an error of libvips means for whoever wanted the image decoded.
    init(decoding error: VipsError) {
        switch error.kind {
        case .corrupt:
            self.init(
                .badImageData, "the image is damaged or incomplete", details: Self.details(error))
        case .unsupported:
            self.init(
                .unsupportedFormat, "this version does not decode images of this kind",
                details: Self.details(error))
        case .tooLarge:
            self.init(
                .limitExceeded,
                "the image is larger than its decoder makes any: ask for fewer pixels",
                details: ["limit": "decoder", "reason": Self.reason(error)])
        case .killed, .refused:
            self = .cancelled
        case .internal:
            self.init(
                .internalError, "the image could not be decoded", details: Self.details(error))
        }
    }

    /// What an error of libjpeg means for whoever wanted the image decoded.
    init(decoding error: JPEGError) {
        let details = Self.details(error)
        switch error.kind {
        case .corrupt:
            self.init(.badImageData, "the image is damaged or incomplete", details: details)
        case .unsupported:
            self.init(
                .unsupportedFormat, "this version does not decode images of this kind",
                details: details)
        case .cancelled, .refused: self = .cancelled
        case .outOfMemory:
            self = .over("pixelBytesMax", "decoding the image takes too much memory")
        case .internal:
            self.init(.internalError, "the image could not be decoded", details: details)
        }
    }

    /// What an error of zimg means for whoever wanted the image decoded.
    init(decoding error: ZimgError) {
        switch error.kind {
        case .cancelled: self = .cancelled
        case .outOfMemory:
            self = .over("pixelBytesMax", "decoding the image takes too much memory")
        case .unsupported, .internal:
            self.init(
                .internalError, "the image could not be decoded", details: Self.details(error))
        }
    }

    /// Runs calls of libvips, their errors mapped.
    static func mapping<Result>(
        _ body: () throws(VipsError) -> Result
    ) throws(ImageError) -> Result {
        do {
            return try body()
        } catch {
            throw ImageError(decoding: error)
        }
    }

    private static func details(_ error: some Error) -> [String: String] {
        ["reason": reason(error)]
    }
}
