import AVIF
import Deflate
import Model
import Testing
import Vips

@testable import JPEG
@testable import Transforming
@testable import WebP
@testable import Zimg

/// The errors that jobs end with because of errors of libraries.
@Suite struct LibraryErrorTests {
    private static let shortages: [any Error] = [
        VipsError(kind: .tooLarge, operation: "jxlsave", text: "out of memory"),
        ZimgError(kind: .outOfMemory, text: "no scratch memory"),
        JPEGError(kind: .outOfMemory, text: "Insufficient memory (case 4)"),
        WebPError(kind: .outOfMemory, text: "libwebp error 1"),
        AVIFError(kind: .outOfMemory, text: "libavif error 26"),
        DeflateError.outOfMemory,
    ]

    private static let cancellations: [any Error] = [
        VipsError(kind: .killed, operation: "jxlsave", text: "killed for image"),
        ZimgError(kind: .cancelled, text: ""), JPEGError(kind: .cancelled, text: ""),
        WebPError(kind: .cancelled, text: ""), AVIFError(kind: .cancelled, text: ""),
    ]

    private static let defects: [any Error] = [
        VipsError(kind: .corrupt, operation: "jxlsave", text: ""),
        ZimgError(kind: .internal, text: ""), JPEGError(kind: .internal, text: ""),
        WebPError(kind: .internal, text: ""), AVIFError(kind: .internal, text: ""),
        DeflateError.noSuchLevel(13),
    ]

    @Test func aLackOfMemoryExceedsALimit() {
        for shortage in Self.shortages {
            let error = ImageError(transforming: shortage, step: "resize")
            #expect(error.code == .limitExceeded, "\(shortage)")
            #expect(error.details["step"] == "resize")
            #expect(error.details["limit"] == "pixelBytesMax")
            #expect(error.details["reason"]?.isEmpty == false)
        }
    }

    @Test func aCanceledJobIsCanceled() {
        for cancellation in Self.cancellations {
            let error = ImageError(transforming: cancellation, step: "resize")
            #expect(error.code == .cancelled, "\(cancellation)")
        }
    }

    /// The pixels are those of a decoder, so no source is at fault.
    @Test func anyOtherErrorIsADefect() {
        for defect in Self.defects {
            let error = ImageError(transforming: defect, step: "resize")
            #expect(error.code == .internalError, "\(defect)")
        }
    }
}
