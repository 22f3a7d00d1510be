import TestKit

/// A directory that one service of the stack sees.
struct Mount: Hashable {
    let service: String
    let path: String
    let isWritable: Bool
}

/// The table of mounts in docker/README.md, the authoritative source: containers and units
/// implement the same one.
struct MountTable {
    private(set) var mounts: Set<Mount> = []
    /// The path of each volume.
    private(set) var paths: [String: String] = [:]
    /// Owner, group and mode by volume, without blanks.
    private(set) var owners: [String: String] = [:]

    /// The volumes that outlive the stack; the others are tmpfs.
    static let lasting: Set = ["cache", "identity"]

    /// Reads the rows whose second cell is a path.
    init() throws {
        for line in try RepositoryText.lines("docker/README.md") {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map { cell in
                String(cell.filter { $0 != "`" && $0 != " " })
            }
            guard cells.count == 8, cells[2].hasPrefix("/") else { continue }
            paths[cells[1]] = cells[2]
            owners[cells[1]] = cells[3]
            for (cell, isWritable) in [(cells[4], true), (cells[5], false)] {
                for service in cell.split(separator: ",") {
                    mounts.insert(
                        Mount(service: String(service), path: cells[2], isWritable: isWritable))
                }
            }
        }
    }
}

/// The text of files of the repository.
enum RepositoryText {
    static func lines(_ path: String) throws -> [String] {
        guard let text = FileBytes.text(RepositoryRoot.file(path)) else {
            throw StackFailure("\(path) can't be read")
        }
        return text.split(separator: "\n").map(String.init)
    }
}
