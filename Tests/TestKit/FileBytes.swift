import Glibc

/// Reads whole files for tests.
public enum FileBytes {
    /// All bytes of the file, or nil if it can't be opened or read.
    public static func read(_ path: String) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count == 0 { return bytes }
            if count < 0 { return nil }
            bytes += buffer[..<count]
        }
    }

    /// The file as text, or nil if it can't be read or isn't UTF-8.
    public static func text(_ path: String) -> String? {
        read(path).flatMap { String(validating: $0, as: UTF8.self) }
    }
}
