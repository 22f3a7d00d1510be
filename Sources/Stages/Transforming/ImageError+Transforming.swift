import ImageModel
import Vips

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
        guard error.kind != .killed else {
            self = .cancelled
            return
        }
        let text = String(error.description.prefix(200))
        self.init(
            .internalError, "the image could not be transformed",
            details: ["step": step, "reason": String(text.map { $0.isNewline ? " " : $0 })])
    }
}
