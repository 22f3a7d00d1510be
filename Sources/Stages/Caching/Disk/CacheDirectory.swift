internal import Linux

/// The directory of one disk cache, held by this process alone.
///
/// `lock` in it is locked (flock) for as long as this value lives, so a second process cannot open
/// the same cache; the lock goes with the process, however it ends.
public final class CacheDirectory: Sendable {
    /// As it was given.
    public let path: String
    let root: FileDescriptor
    private let lock: FileDescriptor

    /// Makes the directory where it is missing, parents included (mode 0700), and locks it.
    ///
    /// - Throws: `.inUse` where another process holds it, `.readOnly`, `.full`, `.failed`.
    public init(path: String) throws(DiskError) {
        self.path = path
        do {
            try Self.make(path)
            root = try FileDescriptor.open(path, .directory)
            lock = try root.open("lock", [.readWrite, .create, .noFollow])
            guard try lock.tryLock(.exclusive) else { throw Taken.byAnother }
        } catch let error as Errno {
            throw DiskError(error, "cache directory \(path)")
        } catch {
            throw DiskError(.inUse, "another process uses the cache directory \(path)")
        }
    }

    private enum Taken: Error { case byAnother }

    private static func make(_ path: String) throws(Errno) {
        do {
            try FileDescriptor.makeDirectory(path: path)
        } catch .fileExists {
            return
        } catch .noSuchFile {
            guard let cut = path.lastIndex(of: "/"), cut != path.startIndex else {
                throw .noSuchFile
            }
            try make(String(path[..<cut]))
            try make(path)
        }
    }
}
