import ImageModel
import JPEG
import Vips
import Zimg

extension ImageError {
    static var cancelled: ImageError {
        ImageError(.cancelled, "cancelled while the image was transformed")
    }

    static func unencodable(_ format: ImageFormat) -> ImageError {
        ImageError(
            .unsupportedFormat, "this version does not encode \(format.name)",
            details: ["format": format.name])
    }

    static func step(_ step: String, _ message: String) -> ImageError {
        ImageError(.stepFailed, "\(step): \(message)", details: ["step": step])
    }

    static func over(_ limit: String, _ step: String, _ message: String) -> ImageError {
        ImageError(.limitExceeded, message, details: ["limit": limit, "step": step])
    }

    /// What an error of libvips means here, where the pixels are our own: a defect of ours, unless
    /// the work was stopped.
    init(transforming error: VipsError, step: String) {
        self.init(error, isCancelled: error.kind == .killed, step: step)
    }

    /// The same of zimg.
    init(transforming error: ZimgError) {
        self.init(error, isCancelled: error.kind == .cancelled, step: "resize")
    }

    /// The same of libjpeg.
    init(transforming error: JPEGError) {
        self.init(error, isCancelled: error.kind == .cancelled, step: "encode")
    }

    private init(_ error: some Error, isCancelled: Bool, step: String) {
        guard !isCancelled else {
            self = .cancelled
            return
        }
        let text = String("\(error)".prefix(200))
        self.init(
            .internalError, "the image could not be transformed",
            details: ["step": step, "reason": String(text.map { $0.isNewline ? " " : $0 })])
    }
}
