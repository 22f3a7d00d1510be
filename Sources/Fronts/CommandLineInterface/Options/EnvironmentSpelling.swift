import ImageModel

/// Variables that are options misspelled. A variable that is like none is somebody else's: scripts
/// and containers have variables with our prefix, too.
package enum EnvironmentSpelling {
    private static let prefix = "IMAGEBUS_"

    /// A line for each variable that is no option and nearly one.
    package static func warnings(
        _ environment: [String: String], options: some Sequence<OptionDefinition>,
        others: [String]
    ) -> [String] {
        let known = Set(options.map(\.environmentName) + others)
        let words = known.map(bare).sorted()
        return environment.keys.sorted().compactMap { name in
            guard name.hasPrefix(prefix), !known.contains(name),
                let near = Nearness.nearest(bare(name), words)
            else { return nil }
            return "\(name) is no variable of Imagebus and has no effect, did you mean "
                + "\(prefix)\(near)?"
        }
    }

    private static func bare(_ name: String) -> String { String(name.dropFirst(prefix.count)) }
}
