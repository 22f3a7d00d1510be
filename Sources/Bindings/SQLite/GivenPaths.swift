internal import CSQLite
internal import Glibc

/// SQLite's own access to files, but that a path stays what was given.
///
/// SQLite looks for the path behind all links and opens that later, also for its log: through
/// `/proc/self/fd/N/name` it would not open what is in that directory, but what is by then at the
/// path which the directory had. No link is followed at the end of a path.
enum GivenPaths {
    static let name = "given-paths"
    /// What registering it came to, which happens once.
    static let code: Int32 = register()

    private static func register() -> Int32 {
        guard let own = sqlite3_vfs_find("unix"), let name = strdup(name) else {
            return SQLITE_NOMEM
        }
        // SQLite keeps it for as long as the process lives.
        let files = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        files.initialize(to: own.pointee)
        files.pointee.pNext = nil
        files.pointee.zName = UnsafePointer(name)
        files.pointee.xFullPathname = { _, path, size, full in
            guard let path, let full, strlen(path) < Int(size) else { return SQLITE_CANTOPEN }
            strcpy(full, path)
            return SQLITE_OK
        }
        return sqlite3_vfs_register(files, 0)
    }
}
