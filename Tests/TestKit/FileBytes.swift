import Linux

/// Reads whole files for tests.
public enum FileBytes {
    /// All bytes of the file, or nil if it can't be opened or read.
    public static func read(_ path: String) -> [UInt8]? {
        try? FileDescriptor.open(path).readToEnd(bytesMax: 1 << 40)
    }

    /// The file as text, or nil if it can't be read or isn't UTF-8.
    public static func text(_ path: String) -> String? {
        read(path).flatMap { String(validating: $0, as: UTF8.self) }
    }
}
