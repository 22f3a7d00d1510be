import TestKit
import Testing

/// The units of systemd implement the same table as the containers.
@Suite struct UnitTests {
    private static let root = "/run/imagebus/"
    private static let units = [
        "coordinator": "imagebus-coordinator.service", "cache": "imagebus-cache.service",
        "download": "imagebus-download@.service", "decode": "imagebus-decode@.service",
        "transform": "imagebus-transform@.service", "gateway": "imagebus-gateway.service",
    ]

    @Test(arguments: units.keys.sorted())
    func aServiceSeesWhatItsContainerWould(service: String) throws {
        var mounts: Set<Mount> = []
        for line in try unit(service) {
            guard let bind = line.wholeMatch(of: /Bind(ReadOnly)?Paths=(.*)/) else { continue }
            for path in bind.output.2.split(separator: " ") {
                mounts.insert(
                    Mount(
                        service: service, path: String(path), isWritable: bind.output.1 == nil))
            }
        }
        let expected = try MountTable().mounts.filter {
            $0.service == service && $0.path.hasPrefix(Self.root)
        }
        #expect(!expected.isEmpty)
        #expect(mounts == expected)
    }

    @Test func eachDirectoryHasTheOwnerOfTheTable() throws {
        var numbers: [Substring: Substring] = [:]
        for line in try RepositoryText.lines("systemd/imagebus.sysusers.conf") {
            let words = line.split(separator: " ")
            if words.count >= 3, words[0] != "#" { numbers[words[1]] = words[2] }
        }
        var owners: [String: String] = [:]
        for line in try RepositoryText.lines("systemd/imagebus.tmpfiles.conf") {
            let words = line.split(separator: " ")
            guard words.count == 5, words[0] == "d", words[3] != "root" else { continue }
            let (user, group) = (numbers[words[3]] ?? "?", numbers[words[4]] ?? "?")
            owners[String(words[1])] = "\(user):\(group)\(words[2])"
        }
        let table = try MountTable()
        let expected = table.paths.filter { $0.value.hasPrefix(Self.root) }
        #expect(Set(owners.keys) == Set(expected.values))
        for (volume, path) in expected { #expect(owners[path] == table.owners[volume], "\(path)") }
    }

    /// The unit of the cache has more: without `--memory-limit` a quarter of it is the memory tier.
    @Test(arguments: units.keys.sorted())
    func aServiceHasAtLeastTheMemoryOfItsContainer(service: String) throws {
        let compose = try RepositoryText.lines("docker/compose.yaml").joined(separator: "\n")
        let setting = "mem_limit: ${IMAGEBUS_\(service.uppercased())_MEMORY:-"
        let wanted = try mebibytes(in: compose, behind: setting)
        let given = try mebibytes(
            in: try unit(service).joined(separator: "\n"), behind: "\nMemoryMax=")
        #expect(given >= wanted, "\(service): \(given) MiB, but its container has \(wanted)")
    }

    private func unit(_ service: String) throws -> [String] {
        try RepositoryText.lines("systemd/\(try #require(Self.units[service]))")
    }

    private func mebibytes(in text: String, behind name: String) throws -> Int {
        let rest = text[try #require(text.firstRange(of: name)).upperBound...]
        let size = try #require(rest.prefixMatch(of: /(\d+)([mMgG])/)).output
        return try #require(Int(size.1)) << (size.2.lowercased() == "g" ? 10 : 0)
    }
}
