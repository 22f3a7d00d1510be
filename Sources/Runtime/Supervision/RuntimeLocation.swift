import Glibc

/// Where a stack lies when nobody says so (SEMANTICS §15.1).
public enum RuntimeLocation {
    /// `$XDG_RUNTIME_DIR/imagebus`, else `/run/imagebus` where it may be written, else
    /// `/dev/shm/imagebus-UID`.
    public static func runtimeDirectory(
        environment: [String: String], userID: UInt32,
        mayWrite: (String) -> Bool = Self.mayWrite
    ) -> String {
        if let parent = environment["XDG_RUNTIME_DIR"], parent.hasPrefix("/") {
            return "\(parent)/imagebus"
        }
        if mayWrite("/run/imagebus") { return "/run/imagebus" }
        return "/dev/shm/imagebus-\(userID)"
    }

    /// `$XDG_CACHE_HOME/imagebus`, else `~/.cache/imagebus`; nil without a home.
    public static func cacheDirectory(environment: [String: String]) -> String? {
        if let parent = environment["XDG_CACHE_HOME"], parent.hasPrefix("/") {
            return "\(parent)/imagebus"
        }
        guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
        return home == "/" ? "/.cache/imagebus" : "\(home)/.cache/imagebus"
    }

    /// Whether this user may write in a directory, or may make it where it is missing.
    public static func mayWrite(_ path: String) -> Bool {
        if access(path, F_OK) == 0 { return access(path, W_OK) == 0 }
        guard let cut = path.utf8.lastIndex(of: UInt8(ascii: "/")), cut > path.startIndex else {
            return false
        }
        return access(String(path[..<cut]), W_OK) == 0
    }
}
