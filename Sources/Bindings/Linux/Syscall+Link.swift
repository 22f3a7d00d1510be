import Glibc

/// The text of a symbolic link.
func readLink(
    _ call: (UnsafeMutableBufferPointer<CChar>) -> Int64
) throws(Errno) -> String {
    let buffer = UnsafeMutableBufferPointer<CChar>.allocate(capacity: Int(PATH_MAX))
    defer { buffer.deallocate() }
    let count = try syscall { call(buffer) }
    return String(decoding: UnsafeRawBufferPointer(buffer)[..<Int(count)], as: UTF8.self)
}
