import ImageModel

/// Where the coordinator is, and how long it may take to answer.
enum StackChoice: Hashable {
    /// Somebody named it: nobody there is an error of its own.
    case named(StackRoute)
    /// Its supervisor holds the lock: it is waited for.
    case running(StackRoute)
    /// Nobody runs one.
    case none

    /// The named one, else the one whose supervisor holds the lock, else none.
    static func choose(_ options: StackOptions) throws(ImageError) -> StackChoice {
        if let endpoint = options.endpoint {
            return .named(try StackRoute(endpoint: endpoint))
        }
        if options.isPrivate { return .none }
        return try StackRoute(in: options.runtimeDirectory).map { .running($0) } ?? .none
    }
}
