import Glibc
import Linux

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

    deinit { try? FileDescriptor.removeTree(path: path) }

    /// The path of an entry in this folder.
    public func file(_ name: String) -> String {
        path + "/" + name
    }

    /// Writes a file in this folder and returns its path.
    @discardableResult
    public func write(_ bytes: [UInt8], to name: String) -> String {
        do throws(Errno) {
            try FileDescriptor.open(file(name), [.writeOnly, .create, .truncate]).writeAll(bytes)
        } catch {
            preconditionFailure("\(file(name)) cannot be written: \(error)")
        }
        return file(name)
    }

    /// The same for a text.
    @discardableResult
    public func write(_ text: String, to name: String) -> String {
        write(Array(text.utf8), to: name)
    }

    /// Writes a configuration and returns the arguments of a stack with it that may connect to
    /// private networks.
    public func configuration(_ text: String) -> [String] {
        ["--allow-private-networks", "--config", write(text, to: "imagebus.yaml")]
    }

    /// The names of the entries directly in this folder, sorted.
    public var entries: [String] { DirectoryEntries.names(path) }
}
