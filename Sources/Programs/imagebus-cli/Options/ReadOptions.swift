/// What stood on a command line and in the environment, in order.
struct ReadOptions: Hashable {
    /// One option as it was given.
    struct Entry: Hashable {
        let name: String
        /// Empty for a flag.
        let value: String
        let origin: Origin
    }

    /// Where an option stood.
    enum Origin: Hashable {
        case environment
        case commandLine
    }

    var entries: [Entry] = []
    var operands: [String] = []

    func isSet(_ name: String) -> Bool { entries.contains { $0.name == name } }

    /// The last one given counts.
    func last(_ name: String) -> String? { entries.last { $0.name == name }?.value }

    func all(_ name: String) -> [String] { entries.filter { $0.name == name }.map(\.value) }

    /// Parses the last value with that name, if there is one.
    func parsed<Value>(
        _ name: String, _ parse: (String) throws(UsageError) -> Value
    ) throws(UsageError) -> Value? {
        guard let text = last(name) else { return nil }
        do throws(UsageError) {
            return try parse(text)
        } catch {
            throw UsageError("--\(name): \(error.message)")
        }
    }
}
