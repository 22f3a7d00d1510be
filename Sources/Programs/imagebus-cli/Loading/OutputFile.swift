import CommandLineInterface
import ImageModel
import Imagebus
import Linux
import StackAccess

/// Writes the image of `-o FILE`: whole or not at all.
enum OutputFile {
    /// The same as below.
    static func write(_ bytes: [UInt8], to path: String) throws(OutputError) {
        try bytes.span.bytes.withUnsafeBytes { (bytes) throws(OutputError) in
            try write(bytes, to: path)
        }
    }

    /// Writes beside the file and renames; a device, a pipe or a link is written into.
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

    /// Finds before the work what would keep `write` from writing; leaves everything as it is.
    static func check(_ path: String) throws(OutputError) {
        let place = try OutputPlace(path)
        if try place.isPlainFile {
            try place.tryReplacing()
        } else {
            try place.tryOpening()
        }
    }

    /// Writes beside the file and renames, whatever is there: nothing is ever waited for.
    static func replace(_ bytes: [UInt8], at path: String) throws(OutputError) {
        let place = try OutputPlace(path)
        try bytes.span.bytes.withUnsafeBytes { (bytes) throws(OutputError) in
            try place.replace(with: bytes)
        }
    }

    /// What is not there, or cannot be removed, is left.
    static func remove(_ path: String) { try? OutputPlace(path).remove() }
}

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

extension GetOptions.OutputTarget {
    /// Finds before the work what would keep the image from being written.
    func check() throws(OutputError) {
        switch self {
        case .none: break
        case .file(let path): try OutputFile.check(path)
        case .standardOutput: try StandardDescriptors.checkOutput()
        }
    }

    /// A miss has nothing to write.
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

/// What the name of an output file says of the image that is written there.
enum OutputName {
    /// The format of the name's ending; nil where it says none.
    static func format(of path: String) -> ImageFormat? {
        let name = path.split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return nil }
        return ImageFormat(fileExtension: String(name[name.index(after: dot)...]))
    }

    /// Lets the name decide where no option does, and refuses what contradicts it. Nothing is
    /// decided for the source's own bytes, whose format is not known yet.
    static func settle(_ request: inout ImageRequest, writingTo path: String) throws(UsageError) {
        guard let named = format(of: path) else { return }
        if let format = request.output.format {
            guard format == named else {
                throw UsageError(
                    "--format \(format.name) contradicts the name '\(path)': change one of them")
            }
        } else if !request.isPlain {
            guard named.mayBeEncoded else { throw UsageError(notWritten(named, path)) }
            request.output.format = named
        }
    }

    /// The request for an image that turned out to be of another format than its name says; nil
    /// where it is not.
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
        return "'\(path)' names \(format.name), which this version does not write: end it in "
            + known.joined(separator: ", ")
    }
}
