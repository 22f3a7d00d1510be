import ImageModel
import Linux

/// Writes the image of `-o FILE`: whole or not at all.
enum OutputFile {
    /// Writes beside the file and renames; a device, a pipe or a link is written into.
    static func write(
        _ bytes: UnsafeRawBufferPointer, to path: String
    ) throws(ImageError) {
        do throws(Errno) {
            let cut = path.lastIndex(of: "/")
            let directory = cut.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
            let name = cut.map { String(path[path.index(after: $0)...]) } ?? path
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
