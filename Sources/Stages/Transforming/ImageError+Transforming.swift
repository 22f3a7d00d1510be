import AVIF
import ImageModel
import JPEG
import StageContract
import Vips
import WebP
import Zimg

extension ImageError {
    static var cancelled: ImageError {
        ImageError(.cancelled, "cancelled while the image was transformed")
    }

    /// Why there is none, the writer knows.
    static var noRoom: ImageError {
        ImageError(.internalError, "there is no room for what goes beside the pixels")
    }

    static func step(_ step: String, _ message: String) -> ImageError {
        ImageError(.stepFailed, "\(step): \(message)", details: ["step": step])
    }

    static func over(_ limit: String, _ step: String, _ message: String) -> ImageError {
        ImageError(.limitExceeded, message, details: ["limit": limit, "step": step])
    }

    /// What an error of a library means here, where the pixels are our own: a defect of ours,
    /// unless the work was stopped.
    init(transforming error: any Error, step: String) {
        switch error {
        case let error as ImageError: self = error
        case let error as VipsError where error.kind == .killed: self = .cancelled
        case let error as ZimgError where error.kind == .cancelled: self = .cancelled
        case let error as JPEGError where error.kind == .cancelled: self = .cancelled
        case let error as WebPError where error.kind == .cancelled: self = .cancelled
        case let error as AVIFError where error.kind == .cancelled: self = .cancelled
        default:
            self.init(
                .internalError, "the image could not be transformed",
                details: ["step": step, "reason": Self.reason(error)])
        }
    }
}
