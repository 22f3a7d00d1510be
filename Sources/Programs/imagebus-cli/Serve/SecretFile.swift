import Linux
import Messages
import Supervision

/// The key that keeps the cached images of different users apart (DESIGN §3): it lives as long as
/// the cache, so it lies in its directory.
enum SecretFile {
    private static let name = "identity.key"

    /// Makes the cache directory where it is missing, so that the coordinator can write there.
    ///
    /// nil where the stack has no cache on disk, or that cannot be written: the key then lives as
    /// long as the coordinator, and what was cached for somebody is loaded anew after it.
    static func prepare(_ options: ServeOptions) -> String? {
        guard options.kinds.contains(.coordinator), options.kinds.contains(.cache),
            let directory = options.cacheDirectory
        else { return nil }
        let parts = directory.split(separator: "/")
        for count in parts.indices {
            // What cannot be made shows below.
            try? FileDescriptor.makeDirectory(
                path: "/" + parts[...count].joined(separator: "/"))
        }
        return RuntimeLocation.mayWrite(directory) ? "\(directory)/\(name)" : nil
    }
}
