package import CommandLineInterface
package import ImageModel
import SharedArena

/// A runtime directory, and whether an option or a variable of ours named it.
package struct RuntimePlace: Hashable, Sendable {
    package let path: String
    package let isNamed: Bool

    package init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        path = try read.runtimeDirectory(environment)
        isNamed = read.isSet(OptionDefinition.runtimeDirectory.name)
    }

    /// Who may serve it; nil: whoever does, since it was named.
    ///
    /// A directory that nobody named may be anybody's: nothing is opened in it before it is known
    /// to be of this user or of root.
    package func servers(at listener: String) throws(ImageError) -> Set<UInt32>? {
        guard !isNamed else { return nil }
        do throws(UntrustedDirectoryError) {
            return try TrustedServers(in: path, listener: listener)?.userIDs ?? []
        } catch {
            throw ImageError(.addressForbidden, error.description)
        }
    }
}
