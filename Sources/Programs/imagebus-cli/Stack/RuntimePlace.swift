import ImageModel
import SharedArena

/// A runtime directory, and whether an option or a variable of ours named it.
struct RuntimePlace: Hashable, Sendable {
    let path: String
    let isNamed: Bool

    init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        path = try ServeOptions.runtimeDirectory(read, environment)
        isNamed = read.isSet(OptionDefinition.runtimeDirectory.name)
    }

    /// Who may serve it; nil: whoever does, since it was named.
    ///
    /// A directory that nobody named may be anybody's: nothing is opened in it before it is known
    /// to be of this user or of root.
    func servers(at door: String) throws(ImageError) -> Set<UInt32>? {
        guard !isNamed else { return nil }
        do throws(UntrustedDirectoryError) {
            return try TrustedServers(in: path, door: door)?.userIDs ?? []
        } catch {
            throw ImageError(.addressForbidden, error.description)
        }
    }
}
