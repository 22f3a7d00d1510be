/// The table of mounts in docker/README.md, the authoritative source: compose.yaml is compared with
/// it here, and the mounts of running containers in docker/test.
struct MountTable {
    private(set) var mounts: Set<Mount> = []
    private(set) var owners: Set<VolumeOwner> = []

    /// Reads rows whose first cell is a volume in a code span and whose second one is a path.
    init(markdown: String) {
        for line in markdown.split(separator: "\n") {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map(Self.plain)
            guard cells.count == 8, cells[2].hasPrefix("/") else { continue }
            owners.insert(VolumeOwner(volume: cells[1], owner: cells[3]))
            for (cell, isWritable) in [(cells[4], true), (cells[5], false)] {
                for service in cell.split(separator: ",").map(Self.plain) where !service.isEmpty {
                    mounts.insert(
                        Mount(
                            service: service, volume: cells[1], path: cells[2],
                            isWritable: isWritable))
                }
            }
        }
    }

    private static func plain(_ cell: some StringProtocol) -> String {
        String(
            cell.filter { $0 != "`" }.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
