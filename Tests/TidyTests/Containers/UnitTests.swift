import Testing

/// The units and the containers implement the same table.
@Suite struct UnitTests {
    private static let root = "/run/imagebus/"
    private static let services = [
        "coordinator": "imagebus-coordinator.service", "cache": "imagebus-cache.service",
        "download": "imagebus-download@.service", "decode": "imagebus-decode@.service",
        "transform": "imagebus-transform@.service", "gateway": "imagebus-gateway.service",
    ]
    private let files = RepositoryFiles()

    private func table() throws -> MountTable {
        MountTable(markdown: try #require(files.text(of: "docker/README.md")))
    }

    @Test(arguments: services.keys.sorted())
    func aServiceSeesWhatItsContainerWould(service: String) throws {
        let name = try #require(Self.services[service])
        let unit = try #require(files.text(of: "systemd/\(name)"))
        let expected = try table().mounts.filter {
            $0.service == service && $0.path.hasPrefix(Self.root)
        }
        let plain = expected.map {
            Mount(service: service, volume: "", path: $0.path, isWritable: $0.isWritable)
        }
        #expect(!plain.isEmpty)
        #expect(UnitFiles.mounts(of: service, unit: unit).sorted() == plain.sorted())
    }

    @Test func eachDirectoryHasTheOwnerOfTheTable() throws {
        let units = UnitFiles(
            sysusers: try #require(files.text(of: "systemd/imagebus.sysusers.conf")),
            tmpfiles: try #require(files.text(of: "systemd/imagebus.tmpfiles.conf")))
        let table = try table()
        var expected: [String: String] = [:]
        for mount in table.mounts where mount.path.hasPrefix(Self.root) {
            expected[mount.path] = table.owners.first { $0.volume == mount.volume }?.owner
        }
        #expect(units.owners == expected)
    }

    /// The unit of the cache has more: without `--memory-limit` a quarter of it is the memory tier.
    @Test(arguments: services.keys.sorted())
    func aServiceHasAtLeastTheMemoryOfItsContainer(service: String) throws {
        let name = try #require(Self.services[service])
        let unit = try #require(files.text(of: "systemd/\(name)"))
        let compose = try #require(files.text(of: "docker/compose.yaml"))
        let ofUnit = try #require(unit.firstMatch(of: /\nMemoryMax=([0-9]+)([MG])\n/))
        let setting = "mem_limit: ${IMAGEBUS_\(service.uppercased())_MEMORY:-"
        let rest = try #require(compose.split(separator: setting).dropFirst().first)
        let ofContainer = try #require(rest.prefixMatch(of: /([0-9]+)([mg])/))
        let (wanted, given) = (
            try mebibytes(ofContainer.output.1, ofContainer.output.2),
            try mebibytes(ofUnit.output.1, ofUnit.output.2)
        )
        #expect(given >= wanted, "\(service): \(given) MiB, but its container has \(wanted)")
    }

    private func mebibytes(_ number: Substring, _ unit: Substring) throws -> Int {
        try #require(Int(number)) << (unit.lowercased() == "g" ? 10 : 0)
    }
}
