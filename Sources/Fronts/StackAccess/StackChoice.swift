import ImageModel

/// Where the coordinator is, and how long it may take to answer.
enum StackChoice: Hashable {
    /// Somebody named it: nobody there is an error of its own.
    case named(StackRoute)
    /// Its supervisor holds the lock: it is waited for.
    case running(StackRoute)
    /// Nobody runs one.
    case none

    /// The named one, else the one whose supervisor holds the lock, else none. Throws `unavailable`
    /// where a runtime directory was named and no stack runs there.
    static func choose(_ options: StackOptions) throws(ImageError) -> StackChoice {
        if let endpoint = options.endpoint {
            return .named(try StackRoute(endpoint: endpoint))
        }
        if options.isPrivate { return .none }
        if let route = try StackRoute(in: options.runtimeDirectory) { return .running(route) }
        guard !options.runtimeDirectory.isNamed else {
            let path = options.runtimeDirectory.path
            throw ImageError(
                .unavailable,
                "no stack runs in \(path): start one with imagebus serve --runtime-dir \(path), or "
                    + "one for this command alone with --private")
        }
        return .none
    }
}
