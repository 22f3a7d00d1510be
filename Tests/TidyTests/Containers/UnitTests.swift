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
}
