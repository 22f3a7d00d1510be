public import ImageModel

/// Decodes images of one format, in the place of the decoders of Imagebus: of 8 bits a sample, in
/// sRGB and no orientation, with one frame or several. SDWebImage's coder.
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
    /// is not written. Throws ``InvalidInput`` for a corrupt image. Not called for an animation.
    func pixels(
        of data: Span<UInt8>, _ header: PixelForm, into pixels: inout MutableSpan<UInt8>,
        _ cancellation: Cancellation) throws

    /// How long each frame of an animation is shown, and how often all; `nil` for another image,
    /// as where an author says nothing else. Of two frames or more it is one.
    ///
    /// How many there are is limited once it is known: let no number of a file be the length of
    /// this list that its bytes cannot hold.
    func animation(of data: Span<UInt8>, _ header: PixelForm) throws -> AnimationFacts?

    /// Writes one frame of an animation, from 0 on, as it is shown: all of its rows, as `pixels`
    /// does. Each may be asked for alone.
    func frame(
        _ number: Int, of data: Span<UInt8>, _ header: PixelForm,
        into pixels: inout MutableSpan<UInt8>, _ cancellation: Cancellation) throws

    /// Writes, as `pixels` does, what can be shown of an image of which only the first bytes are
    /// there, and says whether there is anything to see yet; there is not, where an author says
    /// nothing else. Of an animation it is the first frame. What is missing is no error, here, and
    /// in `header` and `animation`, which are asked before.
    func arrived(
        of data: Span<UInt8>, _ header: PixelForm, into pixels: inout MutableSpan<UInt8>,
        _ cancellation: Cancellation
    ) throws -> Bool
}

extension Coder {
    /// All that it is given.
    public func recognises(_ data: Span<UInt8>) -> Bool { true }

    /// It is no animation.
    public func animation(of data: Span<UInt8>, _ header: PixelForm) throws -> AnimationFacts? {
        nil
    }

    /// There is none.
    public func frame(
        _ number: Int, of data: Span<UInt8>, _ header: PixelForm,
        into pixels: inout MutableSpan<UInt8>, _ cancellation: Cancellation
    ) throws {
        throw ImageError(.notSupported, "this coder makes no frames")
    }

    /// There is nothing to see yet.
    public func arrived(
        of data: Span<UInt8>, _ header: PixelForm, into pixels: inout MutableSpan<UInt8>,
        _ cancellation: Cancellation
    ) throws -> Bool { false }
}
