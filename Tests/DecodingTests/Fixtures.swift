import Glibc
import Testing

/// The folder that `IMAGEBUS_FIXTURES` names.
enum Fixtures {
    static var exist: Bool { folder != nil }

    private static var folder: String? { getenv("IMAGEBUS_FIXTURES").map { String(cString: $0) } }

    static func read(_ path: String) throws -> [UInt8] {
        let full = "\(try #require(folder))/\(path)"
        let descriptor = open(full, O_RDONLY | O_CLOEXEC)
        try #require(descriptor >= 0, "\(full) cannot be opened")
        defer { close(descriptor) }
        var facts = stat()
        try #require(fstat(descriptor, &facts) == 0)
        let size = Int(facts.st_size)
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = max(0, Glibc.read(descriptor, buffer.baseAddress, size))
        }
    }
}
