import CodecSupport
import Deflate
import Model
import Testing
import Vips

@testable import Transforming

/// The errors that jobs end with because of errors of libraries.
@Suite struct LibraryErrorTests {
    private static let shortages: [any Error] = [
        VipsError(kind: .tooLarge, operation: "jxlsave", text: "out of memory"),
        CodecError(kind: .outOfMemory, text: "no scratch memory"),
        DeflateError.outOfMemory,
    ]

    private static let cancellations: [any Error] = [
        VipsError(kind: .killed, operation: "jxlsave", text: "killed for image"),
        CodecError(kind: .cancelled, text: ""),
    ]

    private static let defects: [any Error] = [
        VipsError(kind: .corrupt, operation: "jxlsave", text: ""),
        CodecError(kind: .internal, text: ""),
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
