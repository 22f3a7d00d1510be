import ImageModel
import Linux
import SharedArena
import Supervision

/// Where the coordinator is, and how long it may take to answer.
enum StackChoice: Hashable {
    /// Somebody named it: nobody there within five seconds is an error of its own.
    case named(RuntimePaths)
    /// Its supervisor holds the lock: it is waited for.
    case running(RuntimePaths)
    /// Nobody runs one.
    case none

    /// DESIGN §2: the named one, else the one whose supervisor holds the lock, else none.
    static func choose(_ options: StackOptions) throws(ImageError) -> StackChoice {
        if let endpoint = options.endpoint {
            do throws(RuntimePathsError) {
                return .named(try RuntimePaths(endpoint: endpoint))
            } catch {
                throw ImageError(.invalidRequest, error.description)
            }
        }
        if options.isPrivate { return .none }
        return try running(in: options.runtimeDirectory).map { .running($0) } ?? .none
    }

    private static func running(in root: String) throws(ImageError) -> RuntimePaths? {
        do {
            guard try StackLock.isHeld(in: root) else { return nil }
            return try RuntimePaths(resolving: root)
        } catch let error as RuntimePathsError {
            throw ImageError(.unavailable, error.description)
        } catch {
            throw ImageError(
                .unavailable,
                "the runtime directory \(root) cannot be looked at (\(error)): choose another "
                    + "with --runtime-dir")
        }
    }
}
