import TestKit

/// The source text of the module.
enum WebSources {
    /// All lines of the module.
    static var lines: [Substring] {
        text(below: "Sources/Fronts/WebGrammar").split(separator: "\n")
    }

    /// The text of all files in a folder of the repository, recursively.
    static func text(below folder: String) -> String {
        DirectoryEntries.names(RepositoryRoot.file(folder)).map { name in
            let place = "\(folder)/\(name)"
            return FileBytes.text(RepositoryRoot.file(place)) ?? text(below: place)
        }.joined()
    }
}
