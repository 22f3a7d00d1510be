import CommandLineInterface
import Imagebus
import Linux
import Model

/// An output file such as that of `-o FILE`: its directory and its name in it.
final class OutputFile {
    private let path: String
    private let folder: FileDescriptor
    private let name: String

    init(_ path: String) throws(OutputError) {
        let cut = path.lastIndex(of: "/")
        let directory = cut.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        self.path = path
        name = cut.map { String(path[path.index(after: $0)...]) } ?? path
        do throws(Errno) {
            if name.isEmpty { throw .isDirectory }
            folder = try FileDescriptor.open(directory, .directory)
        } catch {
            throw OutputError(destination: path, reason: error, wasOpened: false)
        }
    }

    /// Writes the file completely or not at all: to a temporary file that is renamed. Devices, pipes
    /// and links are written to directly.
    func write(_ bytes: UnsafeRawBufferPointer) throws(OutputError) {
        try attempt { (isOpen) throws(Errno) in
            guard try !isPlainFile else { return try replace(with: bytes, &isOpen) }
            let file = try folder.open(name, [.writeOnly, .truncate])
            isOpen = true
            try file.writeAll(bytes)
        }
    }

    /// Writes bytes in the same way.
    func write(_ bytes: [UInt8]) throws(OutputError) {
        try bytes.span.bytes.withUnsafeBytes { (bytes) throws(OutputError) in try write(bytes) }
    }

    /// Writes to a temporary file and renames it, whatever kind of file exists; never blocks.
    func replace(with bytes: [UInt8]) throws(OutputError) {
        try bytes.span.bytes.withUnsafeBytes { (bytes) throws(OutputError) in
            try attempt { (isOpen) throws(Errno) in try replace(with: bytes, &isOpen) }
        }
    }

    /// Checks in advance whether `write` would fail; changes nothing. Skips named pipes, because
    /// their reader would see the test as the end of the output.
    func check() throws(OutputError) {
        try attempt { (_) throws(Errno) in
            if try isPlainFile {
                let temporary = temporaryName
                _ = try makeFile(temporary)
                try? folder.unlink(temporary)
            } else if try folder.status(of: name).type != .pipe {
                _ = try folder.open(name, [.writeOnly, .nonBlocking])
            }
        }
    }

    /// Removes the file.
    func remove() throws(Errno) { try folder.unlink(name) }

    /// Whether it is a regular file or doesn't exist.
    private var isPlainFile: Bool {
        get throws(Errno) {
            do throws(Errno) {
                let type = try folder.status(of: name).type
                if type == .directory { throw .isDirectory }
                return type == .regular
            } catch .noSuchFile {
                return true
            }
        }
    }

    /// Writes to a temporary file in the same directory and renames it.
    private func replace(
        with bytes: UnsafeRawBufferPointer, _ isOpen: inout Bool
    ) throws(Errno) {
        let temporary = temporaryName
        let file = try makeFile(temporary)
        do throws(Errno) {
            isOpen = true
            try file.writeAll(bytes)
            isOpen = false
            try folder.rename(temporary, to: name)
        } catch {
            try? folder.unlink(temporary)
            throw error
        }
    }

    private func makeFile(_ name: String) throws(Errno) -> FileDescriptor {
        try folder.open(name, [.writeOnly, .create, .exclusive, .noFollow], mode: 0o666)
    }

    private var temporaryName: String {
        ".imagebus-\(String(Random.uint64(), radix: 16))"
    }

    /// Runs `body`; its error is that of the output, which `body` may have opened.
    private func attempt(_ body: (inout Bool) throws(Errno) -> Void) throws(OutputError) {
        var isOpen = false
        do throws(Errno) {
            try body(&isOpen)
        } catch {
            throw OutputError(destination: path, reason: error, wasOpened: isOpen)
        }
    }
}

extension GetOptions.OutputTarget {
    /// Checks in advance whether the image could be written.
    func check() throws(OutputError) {
        switch self {
        case .none: break
        case .file(let path): try OutputFile(path).check()
        case .standardOutput: try StandardDescriptors.checkOutput()
        }
    }

    /// Writes an image; does nothing for a miss.
    func write(_ image: ImageResponse) throws(OutputError) {
        guard !image.isMiss else { return }
        switch self {
        case .none: break
        case .file(let path): try image.write(to: path)
        case .standardOutput:
            try image.withBytes { (bytes) throws(OutputError) in try Terminal.put(bytes) }
        }
    }
}

extension ImageResponse {
    /// Writes the image to a file.
    func write(to path: String) throws(OutputError) {
        try withBytes { (bytes) throws(OutputError) in try OutputFile(path).write(bytes) }
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
