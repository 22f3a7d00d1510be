internal import CVipsShims

/// An image as libvips sees it: a description of how to make pixels, which are computed when
/// something asks for them (`write`, `copiedToMemory`, `save`).
///
/// Errors of the pixels therefore come from those three. An image made from bytes in memory holds
/// `owner` as long as it or anything derived from it lives. Not `Sendable`: libvips has one error
/// buffer for the process, so one thread works with images at a time.
public final class VipsImage {
    typealias Handle = cvips_image

    let pointer: Handle
    let owner: AnyObject?

    /// Takes over one reference.
    init(adopting pointer: Handle, owner: AnyObject?) {
        self.pointer = pointer
        self.owner = owner
    }

    deinit {
        cvips_unref(pointer)
    }

    /// Runs a shim that makes an image and adopts what it made.
    static func make(
        _ operation: String, owner: AnyObject?, otherwise kind: VipsError.Kind = .internal,
        _ body: (UnsafeMutablePointer<Handle?>) -> CInt
    ) throws(VipsError) -> VipsImage {
        var out: Handle?
        guard body(&out) == 0, let out else {
            throw VipsError.take(operation, otherwise: kind)
        }
        return VipsImage(adopting: out, owner: owner)
    }

    /// The same, for an operation on this image.
    func derive(
        _ operation: String,
        _ body: (Handle, UnsafeMutablePointer<Handle?>) -> CInt
    ) throws(VipsError) -> VipsImage {
        try withExtendedLifetime(self) { () throws(VipsError) -> VipsImage in
            try Self.make(operation, owner: owner) { out in body(pointer, out) }
        }
    }
}
