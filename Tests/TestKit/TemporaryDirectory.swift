import Glibc

/// A folder `/tmp/ib-XXXXXX` for one test, short enough for socket paths. It is removed with its
/// contents when the last reference is released.
public final class TemporaryDirectory: Sendable {
    /// The absolute path, without a trailing slash.
    public let path: String

    /// Creates an empty folder, mode 0700.
    public init() {
        var template = Array("/tmp/ib-XXXXXX".utf8CString)
        precondition(mkdtemp(&template) != nil, "mkdtemp: \(errno)")
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit {
        Self.remove(path)
    }

    /// The path of an entry in this folder.
    public func file(_ name: String) -> String {
        path + "/" + name
    }

    /// Writes a file in this folder and returns its path.
    @discardableResult
    public func write(_ bytes: [UInt8], to name: String) -> String {
        let descriptor = open(file(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        precondition(descriptor >= 0, "open \(file(name)): \(errno)")
        defer { close(descriptor) }
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress.map { $0 + written }, $0.count - written)
            }
            precondition(count > 0, "write \(file(name)): \(errno)")
            written += count
        }
        return file(name)
    }

    /// The same for a text.
    @discardableResult
    public func write(_ text: String, to name: String) -> String {
        write(Array(text.utf8), to: name)
    }

    /// The names of the entries directly in this folder, sorted.
    public var entries: [String] { Self.entries(of: path) }

    private static func remove(_ path: String) {
        for entry in entries(of: path) {
            let child = path + "/" + entry
            if unlink(child) != 0 { remove(child) }
        }
        rmdir(path)
    }

    private static func entries(of path: String) -> [String] {
        guard let stream = opendir(path) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}
