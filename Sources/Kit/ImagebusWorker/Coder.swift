public import ImageModel

/// Decodes images of one format that Imagebus knows, in the place of its own decoders: of 8 bits a
/// sample, in sRGB, one page and no orientation. SDWebImage's coder.
///
/// One image is decoded at a time, on a thread of its own; a function that heeds no cancel ends the
/// process, and so does one that traps, such as with an index beyond the bytes: check what the file
/// says. What `header` and `pixels` throw besides ``InvalidInput``, ``Failure`` and `ImageError`
/// is `internalError` for the caller, who learns its type; the log has the rest.
public protocol Coder: Sendable {
    /// What it decodes; `formats-in` of the pool names it as well. Where no signature of Imagebus
    /// tells the format it is `undefined`, and `recognises` says of what is its own.
    var format: ImageFormat { get }

    /// Whether the bytes are of its format, by their signature; they are, where an author says
    /// nothing else. Otherwise the next pool is asked that is granted them.
    func recognises(_ data: Span<UInt8>) -> Bool

    /// What the first bytes of a file say. Throws ``InvalidInput`` for what is no such image.
    ///
    /// The bytes are a stranger's, and may change while they are read: nothing that they say is to
    /// be read twice and expected to be the same.
    func header(of data: Span<UInt8>) throws -> PixelForm

    /// Writes the pixels of that header, whose size is within the limits of the stack: rows from
    /// top to bottom, without gaps. `pixels` has room for them and nothing else, and is 0 where it
    /// is not written. Throws ``InvalidInput`` for a corrupt image.
    func pixels(
        of data: Span<UInt8>, _ header: PixelForm, into pixels: inout MutableSpan<UInt8>,
        _ cancellation: Cancellation) throws
}

extension Coder {
    /// All that it is given.
    public func recognises(_ data: Span<UInt8>) -> Bool { true }
}
