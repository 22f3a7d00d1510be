internal import Glibc

/// Memory for pixels, zeros at first, which goes with its last owner.
///
/// The kernel's pages are zeros already: of a large image no byte is touched before it is written.
final class ZeroedBytes {
    let bytes: UnsafeMutableRawBufferPointer

    init(count: Int) {
        guard let memory = calloc(max(1, count), 1) else {
            fatalError("no memory for \(count) bytes of pixels")
        }
        bytes = UnsafeMutableRawBufferPointer(start: memory, count: count)
    }

    deinit { free(bytes.baseAddress) }
}
