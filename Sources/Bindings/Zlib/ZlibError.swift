/// Why compressed bytes cannot be decompressed.
public enum ZlibError: Error, Equatable, Sendable {
    /// The bytes are not in the format; zlib's own words say where it saw that.
    case corrupt(String)
    /// The state of a stream could not be allocated.
    case outOfMemory
}
