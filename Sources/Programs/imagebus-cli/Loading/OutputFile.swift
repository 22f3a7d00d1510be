import CommandLineInterface
import Imagebus
import Linux
import Model

/// Writes the image for `-o FILE`, completely or not at all.
enum OutputFile {
    /// Writes bytes to a file; see below.
    static func write(_ bytes: [UInt8], to path: String) throws(OutputError) {
        try bytes.span.bytes.withUnsafeBytes { (bytes) throws(OutputError) in
            try write(bytes, to: path)
        }
    }

    /// Writes to a temporary file and renames it; devices, pipes and links are written to directly.
    static func write(
        _ bytes: UnsafeRawBufferPointer, to path: String
    ) throws(OutputError) {
        let place = try OutputPlace(path)
        if try place.isPlainFile {
            try place.replace(with: bytes)
        } else {
            try place.overwrite(with: bytes)
        }
    }

    /// Checks in advance whether `write` would fail; changes nothing.
    static func check(_ path: String) throws(OutputError) {
        let place = try OutputPlace(path)
        if try place.isPlainFile {
            try place.tryReplacing()
        } else {
            try place.tryOpening()
        }
    }

    /// Writes to a temporary file and renames it, whatever kind of file exists; never blocks.
    static func replace(_ bytes: [UInt8], at path: String) throws(OutputError) {
        let place = try OutputPlace(path)
        try bytes.span.bytes.withUnsafeBytes { (bytes) throws(OutputError) in
            try place.replace(with: bytes)
        }
    }

    /// Removes a file; ignores errors.
    static func remove(_ path: String) { try? OutputPlace(path).remove() }
}

/// The location of an output file: its directory and its name in it.
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

    /// Whether it is a regular file or doesn't exist.
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

    /// Writes into the existing file.
    borrowing func overwrite(with bytes: UnsafeRawBufferPointer) throws(OutputError) {
        let file = try Self.named(path) { () throws(Errno) in
            try folder.open(name, [.writeOnly, .truncate])
        }
        try Self.named(path, wasOpened: true) { () throws(Errno) in try file.writeAll(bytes) }
    }

    /// Checks whether the existing file can be opened. Skips named pipes, because their reader
    /// would see the test as the end of the output.
    borrowing func tryOpening() throws(OutputError) {
        try Self.named(path) { () throws(Errno) in
            guard try folder.status(of: name).type != .pipe else { return }
            _ = try folder.open(name, [.writeOnly, .nonBlocking])
        }
    }

    /// Writes to a temporary file in the same directory and renames it.
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

    /// Checks whether a file can be created here by creating one and removing it.
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

extension GetOptions.OutputTarget {
    /// Checks in advance whether the image could be written.
    func check() throws(OutputError) {
        switch self {
        case .none: break
        case .file(let path): try OutputFile.check(path)
        case .standardOutput: try StandardDescriptors.checkOutput()
        }
    }

    /// Writes an image; does nothing for a miss.
    func write(_ image: ImageResponse) throws(OutputError) {
        guard !image.isMiss else { return }
        switch self {
        case .none: break
        case .file(let path):
            try image.withBytes { (bytes) throws(OutputError) in
                try OutputFile.write(bytes, to: path)
            }
        case .standardOutput:
            try image.withBytes { (bytes) throws(OutputError) in try Terminal.put(bytes) }
        }
    }
}

/// The relation between an output file's name and the image's format.
enum OutputName {
    /// Returns the format for the name's extension; `nil` if there is none.
    static func format(of path: String) -> ImageFormat? {
        let name = path.split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return nil }
        return ImageFormat(fileExtension: String(name[name.index(after: dot)...]))
    }

    /// Sets the format from the name if no option specifies it, and refuses contradictions.
    /// Unmodified sources are not affected, because their format is not known yet.
    static func settle(_ request: inout ImageRequest, writingTo path: String) throws(UsageError) {
        guard let named = format(of: path) else { return }
        if let format = request.output.format {
            guard format == named else {
                throw UsageError(
                    "--format \(format.name) does not match '\(path)': change one of them")
            }
        } else if !request.isPlain {
            guard named.mayBeEncoded else { throw UsageError(notWritten(named, path)) }
            request.output.format = named
        }
    }

    /// Returns a new request if the image's format differs from that of the file name; `nil`
    /// otherwise.
    static func correction(
        of request: ImageRequest, for image: ImageFormat, writingTo path: String
    ) throws(ImageError) -> ImageRequest? {
        guard let named = format(of: path), named != image, request.output.format == nil else {
            return nil
        }
        guard named.mayBeEncoded else {
            throw ImageError(
                .invalidRequest, "the image is \(image.name), and \(notWritten(named, path))")
        }
        var request = request
        request.output.format = named
        return request
    }

    private static func notWritten(_ format: ImageFormat, _ path: String) -> String {
        let known = ImageFormat.encodable.map(\.name)
        return "'\(path)' selects \(format.name), which is not supported for output: use "
            + known.joined(separator: ", ")
    }
}
