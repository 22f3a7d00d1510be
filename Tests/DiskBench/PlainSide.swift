import Glibc
import Linux
import Synchronization

/// A simple file cache: two levels of folders, a temporary file and a rename, no limit, and a trim
/// that stats every file and removes the older half.
final class PlainSide: Side {
    private let root: PlainFolder
    private let entries: Int
    private let images: Images
    private var filled = 0
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 64)

    init(_ directory: String, _ images: Images, entries: Int) throws {
        root = try PlainFolder(directory)
        self.images = images
        self.entries = entries
    }

    deinit { buffer.deallocate() }

    func store(_ number: Int) throws {
        let place = Self.place(number)
        let temporary = "\(place.name).tmp"
        let file = try create(temporary, in: place.folders)
        let body = UnsafeMutableRawBufferPointer(rebasing: buffer[..<images.bytes(number)])
        images.fill(body, number)
        try file.writeAll(UnsafeRawBufferPointer(body))
        try root.descriptor.rename(temporary, to: place.name)
    }

    private func create(_ name: String, in folders: [String]) throws(Errno) -> FileDescriptor {
        let options: OpenOptions = [.writeOnly, .create, .truncate]
        do throws(Errno) {
            return try root.descriptor.open(name, options, mode: 0o600)
        } catch .noSuchFile {
            for folder in folders { _ = try? root.descriptor.makeDirectory(folder) }
            return try root.descriptor.open(name, options, mode: 0o600)
        }
    }

    func hit(_ number: Int) throws -> Bool {
        let name = Self.place(number).name
        do throws(Errno) { return try read(name) } catch .noSuchFile { return false }
    }

    private func read(_ name: String) throws(Errno) -> Bool {
        let file = try root.descriptor.open(name, .readOnly)
        let size = try file.status().size
        let target = UnsafeMutableRawBufferPointer(rebasing: buffer[..<size])
        filled = try file.readFully(into: target, at: 0)
        return filled == size
    }

    func isRight(_ number: Int) -> Bool {
        images.areRight(UnsafeRawBufferPointer(rebasing: buffer[..<filled]), number)
    }

    func beginTrim() throws {
        let root = root
        let keep = entries / 2
        _ = try Thread(name: "trim") { root.trim(keep: keep) }
    }

    func isTrimmed() -> Bool { root.isTrimmed.load(ordering: .acquiring) }

    /// A name that is spread over the folders like a hash.
    private static func place(_ number: Int) -> (name: String, folders: [String]) {
        let hash = UInt64(number + 1) &* 0x9E37_79B9_7F4A_7C15
        let outer = String(hash >> 60, radix: 16)
        let inner = "\(outer)/\(String(hash >> 52 & 0xff, radix: 16))"
        return ("\(inner)/\(String(hash, radix: 16))-\(number)", [outer, inner])
    }
}

/// The root folder, trimmed by a separate thread.
private final class PlainFolder: Sendable {
    let descriptor: FileDescriptor
    let isTrimmed = Atomic<Bool>(false)

    private struct Dated {
        let name: String
        let date: Int64
    }

    init(_ path: String) throws(Errno) { descriptor = try FileDescriptor.openDirectory(path) }

    /// Removes the oldest files, keeping `keep`.
    func trim(keep: Int) {
        do {
            let files = try files().sorted { $0.date < $1.date }
            for file in files.dropLast(keep) { try descriptor.unlink(file.name) }
        } catch {
            Measurement.log("trim: \(error)")
        }
        isTrimmed.store(true, ordering: .releasing)
    }

    private func files() throws(Errno) -> [Dated] {
        var files: [Dated] = []
        for outer in try names(in: ".") {
            for inner in try names(in: outer) {
                for name in try names(in: "\(outer)/\(inner)") {
                    files.append(try dated("\(outer)/\(inner)/\(name)"))
                }
            }
        }
        return files
    }

    private func names(in folder: String) throws(Errno) -> [String] {
        let opened = try descriptor.openDirectory(folder)
        return try opened.entries()
    }

    private func dated(_ name: String) throws(Errno) -> Dated {
        let status = try descriptor.status(of: name)
        let date = status.modifiedSeconds * 1_000_000_000 + Int64(status.modifiedNanoseconds)
        return Dated(name: name, date: date)
    }
}
