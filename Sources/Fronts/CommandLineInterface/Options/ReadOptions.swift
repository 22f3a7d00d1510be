/// What stood on a command line and in the environment, in order.
package struct ReadOptions: Hashable {
    /// One option as it was given.
    package struct Entry: Hashable {
        package let name: String
        /// Empty for a flag.
        package let value: String
        package let origin: Origin

        package init(name: String, value: String, origin: Origin) {
            (self.name, self.value, self.origin) = (name, value, origin)
        }
    }

    /// Where an option stood.
    package enum Origin: Hashable {
        case environment
        case commandLine
    }

    package var entries: [Entry] = []
    package var operands: [String] = []

    package init() {}

    package func isSet(_ name: String) -> Bool { entries.contains { $0.name == name } }

    /// The last one given counts.
    package func last(_ name: String) -> String? { entries.last { $0.name == name }?.value }

    package func all(_ name: String) -> [String] { entries.filter { $0.name == name }.map(\.value) }

    /// Parses the last value with that name, if there is one.
    package func parsed<Value>(
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
