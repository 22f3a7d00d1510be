/// The pixels of an image that is laid over another one, copied out of the segment of who made
/// them: a reader of segments has one block at a time.
public final class OverlayPixels {
    let bytes: UnsafeRawBufferPointer

    /// Copies the bytes.
    public init(copying source: UnsafeRawBufferPointer) {
        let copy = UnsafeMutableRawBufferPointer.allocate(
            byteCount: source.count, alignment: 64)
        copy.copyMemory(from: source)
        bytes = UnsafeRawBufferPointer(copy)
    }

    deinit {
        bytes.deallocate()
    }
}
