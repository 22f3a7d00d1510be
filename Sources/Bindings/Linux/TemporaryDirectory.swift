import CLinux

/// A private directory of mode 0700 that goes with all its content when the value ends.
public struct TemporaryDirectory: ~Copyable, Sendable {
    /// Its path: short enough for a socket (107 bytes) where `parent` is.
    public let path: String

    /// Makes a directory in `parent` whose name is `prefix` and six random characters.
    public init(in parent: String = "/tmp", prefix: String = "ib-") throws(Errno) {
        // What mkdtemp(3) replaces.
        let places = String(repeating: "X", count: 6)
        var pattern = try checked(path: "\(parent)/\(prefix)\(places)").utf8CString
        let result = pattern.withUnsafeMutableBufferPointer { clinux_mkdtemp($0.baseAddress) }
        if result < 0 { throw Errno(rawValue: -result) }
        path = String(decoding: pattern.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        // What cannot be removed stays: there is nobody to tell.
        try? FileDescriptor.removeTree(path: path)
    }
}

extension FileDescriptor {
    /// Removes a directory with all that is in it; symbolic links are removed, not followed.
    public static func removeTree(path: String) throws(Errno) {
        let cut = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let parent = cut.map { String(path[..<$0]) } ?? "."
        let name = cut.map { String(path[path.utf8.index(after: $0)...]) } ?? path
        try open(parent.isEmpty ? "/" : parent, .directory).removeTree(name)
    }

    /// Removes a directory of this directory with all that is in it.
    public borrowing func removeTree(_ name: String) throws(Errno) {
        try openDirectory(name).removeContent()
        try removeDirectory(name)
    }

    private borrowing func removeContent() throws(Errno) {
        for entry in try entries() {
            if try status(of: entry).type == .directory {
                try removeTree(entry)
            } else {
                try unlink(entry)
            }
        }
    }
}
