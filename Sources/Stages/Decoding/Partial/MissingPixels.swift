import ImageModel
import Synchronization
import Vips

/// Whether a file lacks pixels that it should have, as the decoders of beginnings find it. A file
/// that ends behind its last pixel lacks none.
final class MissingPixels: Sendable {
    /// Whether what is there is shown all the same.
    private let arePermitted: Bool
    private let found = Atomic(false)

    init(arePermitted: Bool) { self.arePermitted = arePermitted }

    /// Whether any were missing so far.
    var wereFound: Bool { found.load(ordering: .relaxed) }

    /// Some are missing.
    ///
    /// - Throws: `corrupt` where nothing is to be shown then.
    func note() throws(VipsError) {
        guard arePermitted else {
            throw VipsError(kind: .corrupt, operation: "decode", text: "pixels are missing")
        }
        found.store(true, ordering: .relaxed)
    }

    /// A whole frame is missing.
    func noteFrame() throws(ImageError) {
        try ImageError.mapping { () throws(VipsError) in try note() }
    }
}

/// How much of an image its bytes have.
enum ArrivedPixels {
    case nothing, part, whole
}
