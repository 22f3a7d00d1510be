/// A copy of bytes, for as long as images refer to them: their owner in `VipsImage.load` and
/// `VipsImage.pixels`. Read-only.
public final class HeldBytes: Sendable {
    // Unsafe: nobody writes them, and they go with this object.
    /// The bytes, valid as long as this object.
    public nonisolated(unsafe) let bytes: UnsafeRawBufferPointer

    /// A copy of these.
    public init(_ array: [UInt8]) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: array.count, alignment: 64)
        copy.copyBytes(from: array)
        bytes = UnsafeRawBufferPointer(copy)
    }

    deinit { bytes.deallocate() }
}
