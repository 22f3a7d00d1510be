package import ImageModel
import Linux
package import SharedArena
import Supervision

/// How a command reaches the coordinator of a stack.
package struct StackRoute: Hashable, Sendable {
    package let paths: RuntimePaths
    /// Users of whom one has to serve it; nil: whoever serves what was named.
    package var servers: Set<UInt32>?
    /// Its supervisor runs here, so a coordinator that is away comes back.
    package var isSupervised: Bool

    /// The one that an endpoint names.
    package init(endpoint: String) throws(ImageError) {
        do throws(RuntimePathsError) {
            paths = try RuntimePaths(endpoint: endpoint)
        } catch {
            throw ImageError(.invalidRequest, error.description)
        }
        isSupervised = (try? StackLock.isHeld(in: paths.root)) == true
    }

    /// The one in a runtime directory; nil where no supervisor of a coordinator runs there.
    package init?(in directory: RuntimePlace, asOperator: Bool = false) throws(ImageError) {
        let root = directory.path
        servers = try directory.servers(at: asOperator ? "admin" : "front")
        do {
            guard try StackLock.isHeld(in: root) else { return nil }
            paths = try RuntimePaths(resolving: root)
        } catch let error as RuntimePathsError {
            throw ImageError(.unavailable, error.description)
        } catch {
            throw ImageError(
                .unavailable,
                "the runtime directory \(root) cannot be looked at (\(error)): choose another "
                    + "with --runtime-dir")
        }
        isSupervised = true
    }

    /// The stack that was just started there.
    package init(own paths: RuntimePaths) {
        self.paths = paths
        isSupervised = true
    }
}
