import Linux
import Messages
import Supervision

/// The key that keeps the cached images of different users apart (SEMANTICS §15.1): it lives as
/// long as the cache, so it lies in its directory, unless somebody names another place.
enum SecretFile {
    private static let name = "identity.key"

    /// Makes the directory where it is missing, so that the coordinator can write there.
    ///
    /// nil where no file is named and the stack has no cache on disk, or that cannot be used: the
    /// cache says why, and goes on without it or ends. The key then lives as long as the
    /// coordinator, and what was cached for somebody is loaded anew after it. A file that is named
    /// and cannot be had is the coordinator's to complain of.
    static func prepare(_ options: ServeOptions) -> String? {
        guard options.kinds.contains(.coordinator) else { return nil }
        if let named = options.secretFile {
            makeDirectories(String(named[..<(named.lastIndex(of: "/") ?? named.startIndex)]))
            return named
        }
        guard options.kinds.contains(.cache), let directory = options.cacheDirectory else {
            return nil
        }
        guard (try? FileDescriptor.openTrusted(directory)) != nil else { return nil }
        return RuntimeLocation.mayWrite(directory) ? "\(directory)/\(name)" : nil
    }

    /// What cannot be made shows when it is used.
    private static func makeDirectories(_ directory: String) {
        let parts = directory.split(separator: "/")
        for count in parts.indices {
            try? FileDescriptor.makeDirectory(
                path: "/" + parts[...count].joined(separator: "/"))
        }
    }
}
