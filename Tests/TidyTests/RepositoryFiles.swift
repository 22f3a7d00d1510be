import TestKit

/// The files of the repository that these tests were built from, without build folders and hidden
/// ones.
enum RepositoryFiles {
    /// Paths of all files below `folder`, relative to the root, sorted.
    static func paths(below folder: String = "") -> [String] {
        let names = DirectoryEntries.names(RepositoryRoot.file(folder))
        return names.filter { !$0.hasPrefix(".") }.flatMap { name in
            let path = folder.isEmpty ? name : "\(folder)/\(name)"
            return isFolder(path) ? paths(below: path) : [path]
        }
    }

    /// The lines of a file; empty if it doesn't exist or isn't text.
    static func lines(of path: String) -> [String] {
        let text = FileBytes.text(RepositoryRoot.file(path)) ?? ""
        return text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    static func exists(_ path: String) -> Bool {
        isFolder(path) || FileBytes.read(RepositoryRoot.file(path)) != nil
    }

    private static func isFolder(_ path: String) -> Bool {
        !DirectoryEntries.names(RepositoryRoot.file(path)).isEmpty
    }
}
