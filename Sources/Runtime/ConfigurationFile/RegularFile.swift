import Linux

/// A file whose bytes are there: no pipe, no device, nothing that somebody has to write first. Who
/// reads it serves others meanwhile, and must not wait.
struct RegularFile: ~Copyable {
    /// What the kernel said of it when it was opened.
    let status: FileStatus
    private let file: FileDescriptor

    init(_ path: String) throws(RegularFileError) {
        let file = try Self.open(path)
        status = try Self.status(of: file)
        self.file = file
    }

    private static func open(_ path: String) throws(RegularFileError) -> FileDescriptor {
        do throws(Errno) {
            // Not blocking: a pipe would wait for its writer.
            return try FileDescriptor.open(path, [.readOnly, .nonBlocking])
        } catch {
            throw .system(error)
        }
    }

    private static func status(
        of file: borrowing FileDescriptor
    ) throws(RegularFileError) -> FileStatus {
        let status: FileStatus
        do throws(Errno) {
            status = try file.status()
        } catch {
            throw .system(error)
        }
        guard status.type == .regular else { throw .notRegular }
        return status
    }

    /// All of them; an error where there are more.
    borrowing func bytes(max bytesMax: Int) throws(RegularFileError) -> [UInt8] {
        do throws(Errno) {
            return try file.readToEnd(bytesMax: bytesMax)
        } catch {
            throw .system(error)
        }
    }
}

/// Why a file is not read.
enum RegularFileError: Error, CustomStringConvertible {
    /// The kernel's reason.
    case system(Errno)
    /// A directory, a pipe, a device.
    case notRegular

    /// Stands behind the name of the file.
    var description: String {
        switch self {
        case .system(let error): "cannot be read (\(error))"
        case .notRegular: "is no regular file"
        }
    }
}
