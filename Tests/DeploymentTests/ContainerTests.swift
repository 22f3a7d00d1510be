import TestKit
import Testing

/// The containers see the directories in the table of docker/README.md, and no others.
@Suite struct ContainerTests {
    private static let services = [
        "coordinator", "download", "cache", "decode", "transform", "gateway", "example",
    ]

    @Test func composeMountsWhatTheTableSays() throws {
        let table = try MountTable()
        var service = "", services: [String] = []
        var mounts: Set<Mount> = []
        let lines = try RepositoryText.lines("docker/compose.yaml")
        for line in lines.drop(while: { $0 != "services:" }).prefix(while: { $0 != "volumes:" }) {
            if let name = line.wholeMatch(of: #/  (\w+):/#)?.output.1 {
                service = String(name)
                services.append(service)
            }
            // The output volume belongs to the example.
            guard let mount = line.prefixMatch(of: #/      - (?!thumbnails:)(.*)/#) else {
                continue
            }
            let form = /([a-z-]+):([^:]+)(:ro)?/
            let parts = try #require(mount.output.1.wholeMatch(of: form)?.output, "\(line)")
            let path = String(parts.2)
            #expect(table.paths[String(parts.1)] == path, "\(line)")
            mounts.insert(Mount(service: service, path: path, isWritable: parts.3 == nil))
        }
        #expect(services == Self.services)
        #expect(mounts == table.mounts)
    }

    @Test func everyTmpfsHasTheOwnerOfTheTable() throws {
        var owners: [String: String] = [:]
        var volume = ""
        let lines = try RepositoryText.lines("docker/compose.yaml").drop { $0 != "volumes:" }
        for line in lines {
            if let name = line.prefixMatch(of: #/  ([\w-]+):/#) { volume = String(name.output.1) }
            guard let owner = line.firstMatch(of: /uid=(\d+),gid=(\d+),mode=(\d+)/) else {
                continue
            }
            owners[volume] = "\(owner.output.1):\(owner.output.2)\(owner.output.3)"
        }
        let table = try MountTable()
        #expect(owners == table.owners.filter { !MountTable.lasting.contains($0.key) })
    }

    /// Persistent volumes aren't tmpfs: their owner is that of the directory in the image.
    @Test func whatOutlivesTheStackHasTheOwnerOfTheTableInItsImage() throws {
        let text = try RepositoryText.lines("docker/Dockerfile").joined(separator: "\n")
        let table = try MountTable()
        for volume in MountTable.lasting {
            let path = try #require(table.paths[volume])
            let directory = try Regex(
                #"--directory --owner=(\d+) --group=(\d+) --mode=(\d+)[^\n]* "# + path,
                as: (Substring, Substring, Substring, Substring).self)
            let found = try #require(text.firstMatch(of: directory)?.output, "\(volume)")
            #expect("\(found.1):\(found.2)\(found.3)" == table.owners[volume])
        }
    }
}
