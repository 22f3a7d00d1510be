import ImageModel
import Linux

/// Writes the image of `-o FILE`: whole or not at all.
enum OutputFile {
    /// The same as below.
    static func write(_ bytes: [UInt8], to path: String) throws(ImageError) {
        try bytes.span.bytes.withUnsafeBytes { (bytes) throws(ImageError) in
            try write(bytes, to: path)
        }
    }

    /// Writes beside the file and renames; a device, a pipe or a link is written into.
    static func write(
        _ bytes: UnsafeRawBufferPointer, to path: String
    ) throws(ImageError) {
        do throws(Errno) {
            let (directory, name) = split(path)
            let folder = try FileDescriptor.open(directory, .directory)
            if try isPlainFile(name, in: folder) {
                try replace(name, in: folder, bytes)
            } else {
                let file = try folder.open(name, [.writeOnly, .truncate])
                try file.writeAll(bytes)
                try file.close()
            }
        } catch {
            throw ImageError(.internalError, "\(path) cannot be written (\(error))")
        }
    }

    /// Writes beside the file and renames, whatever is there: nothing is ever waited for.
    static func replace(_ bytes: [UInt8], at path: String) throws(ImageError) {
        do throws(Errno) {
            let (directory, name) = split(path)
            let folder = try FileDescriptor.open(directory, .directory)
            try bytes.span.bytes.withUnsafeBytes { (bytes) throws(Errno) in
                try replace(name, in: folder, bytes)
            }
        } catch {
            throw ImageError(.internalError, "\(path) cannot be written (\(error))")
        }
    }

    /// What is not there, or cannot be removed, is left.
    static func remove(_ path: String) {
        let (directory, name) = split(path)
        try? FileDescriptor.open(directory, .directory).unlink(name)
    }

    private static func split(_ path: String) -> (directory: String, name: String) {
        guard let cut = path.lastIndex(of: "/") else { return (".", path) }
        return (
            cut == path.startIndex ? "/" : String(path[..<cut]),
            String(path[path.index(after: cut)...])
        )
    }

    /// Nothing there is as good as a file.
    private static func isPlainFile(
        _ name: String, in folder: borrowing FileDescriptor
    ) throws(Errno) -> Bool {
        do throws(Errno) {
            return try folder.status(of: name).type == .regular
        } catch .noSuchFile {
            return true
        }
    }

    private static func replace(
        _ name: String, in folder: borrowing FileDescriptor, _ bytes: UnsafeRawBufferPointer
    ) throws(Errno) {
        let temporary = ".\(name.prefix(100)).\(String(Random.uint64(), radix: 16))"
        let file = try folder.open(
            temporary, [.writeOnly, .create, .exclusive, .noFollow], mode: 0o666)
        do throws(Errno) {
            try file.writeAll(bytes)
            try folder.rename(temporary, to: name)
        } catch {
            try? folder.unlink(temporary)
            throw error
        }
    }
}
