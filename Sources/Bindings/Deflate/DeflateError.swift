/// Why there is no compressor.
public enum DeflateError: Error, Equatable, Sendable {
    /// Levels are 1 to 12.
    case noSuchLevel(Int)
    /// Its tables could not be allocated.
    case outOfMemory
}
