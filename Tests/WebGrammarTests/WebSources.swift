import TestKit

/// The source text of the module.
enum WebSources {
    /// All lines of the files in a folder of the module; empty: of all files.
    static func lines(below folder: String) -> [Substring] {
        let room = RepositoryRoot.file("Sources/Fronts/WebGrammar")
        let folders = folder.isEmpty ? DirectoryEntries.names(room) : [folder]
        return folders.flatMap { folder in
            DirectoryEntries.names("\(room)/\(folder)").flatMap { name in
                (FileBytes.text("\(room)/\(folder)/\(name)") ?? "").split(separator: "\n")
            }
        }
    }

    /// The text of all files in a folder of the repository, recursively.
    static func text(below folder: String) -> String {
        DirectoryEntries.names(RepositoryRoot.file(folder)).map { name in
            let place = "\(folder)/\(name)"
            return FileBytes.text(RepositoryRoot.file(place)) ?? text(below: place)
        }.joined()
    }
}
