import CommandLineInterface
import Linux

/// Where an output file is: its directory, and its name in there.
struct OutputPlace: ~Copyable {
    private let path: String
    private let folder: FileDescriptor
    private let name: String

    init(_ path: String) throws(OutputError) {
        let cut = path.lastIndex(of: "/")
        let directory = cut.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        self.path = path
        name = cut.map { String(path[path.index(after: $0)...]) } ?? path
        if name.isEmpty {
            throw OutputError(destination: path, reason: .isDirectory, wasOpened: false)
        }
        folder = try Self.named(path) { () throws(Errno) in
            try FileDescriptor.open(directory, .directory)
        }
    }

    /// Nothing there is as good as a file.
    var isPlainFile: Bool {
        get throws(OutputError) {
            try Self.named(path) { () throws(Errno) in
                do throws(Errno) {
                    let type = try folder.status(of: name).type
                    if type == .directory { throw .isDirectory }
                    return type == .regular
                } catch .noSuchFile {
                    return true
                }
            }
        }
    }

    /// Writes into what is there.
    borrowing func overwrite(with bytes: UnsafeRawBufferPointer) throws(OutputError) {
        let file = try Self.named(path) { () throws(Errno) in
            try folder.open(name, [.writeOnly, .truncate])
        }
        try Self.named(path, wasOpened: true) { () throws(Errno) in try file.writeAll(bytes) }
    }

    /// Whether what is there could be opened. A named pipe is not: whoever waits to read it would
    /// take the trial for the whole output.
    borrowing func tryOpening() throws(OutputError) {
        try Self.named(path) { () throws(Errno) in
            guard try folder.status(of: name).type != .pipe else { return }
            _ = try folder.open(name, [.writeOnly, .nonBlocking])
        }
    }

    /// Writes beside what is there and renames.
    borrowing func replace(with bytes: UnsafeRawBufferPointer) throws(OutputError) {
        let temporary = temporaryName
        let file = try makeFile(temporary)
        do throws(OutputError) {
            try Self.named(path, wasOpened: true) { () throws(Errno) in try file.writeAll(bytes) }
            try Self.named(path) { () throws(Errno) in try folder.rename(temporary, to: name) }
        } catch {
            try? folder.unlink(temporary)
            throw error
        }
    }

    /// Whether a file can be made here: makes one and removes it.
    borrowing func tryReplacing() throws(OutputError) {
        let temporary = temporaryName
        _ = try makeFile(temporary)
        try? folder.unlink(temporary)
    }

    borrowing func remove() throws(Errno) { try folder.unlink(name) }

    private borrowing func makeFile(_ name: String) throws(OutputError) -> FileDescriptor {
        try Self.named(path) { () throws(Errno) in
            try folder.open(name, [.writeOnly, .create, .exclusive, .noFollow], mode: 0o666)
        }
    }

    private var temporaryName: String {
        ".imagebus-\(String(Random.uint64(), radix: 16))"
    }

    private static func named<Value: ~Copyable>(
        _ path: String, wasOpened: Bool = false, _ body: () throws(Errno) -> Value
    ) throws(OutputError) -> Value {
        do throws(Errno) {
            return try body()
        } catch {
            throw OutputError(destination: path, reason: error, wasOpened: wasOpened)
        }
    }
}
