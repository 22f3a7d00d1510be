import Testing

@Suite struct ContainerTests {
    private let files = RepositoryFiles()

    @Test func composeMountsWhatTheTableSays() throws {
        let table = MountTable(markdown: try #require(files.text(of: "docker/README.md")))
        let compose = ComposeFile(yaml: try #require(files.text(of: "docker/compose.yaml")))
        // The output volume belongs to the example.
        let mounts = compose.mounts.filter { $0.volume != "thumbnails" }
        #expect(mounts.sorted() == table.mounts.sorted())
        #expect(compose.strange == [])
        let services = [
            "coordinator", "download", "cache", "decode", "transform", "gateway", "example",
        ]
        #expect(compose.services == services)
        #expect(Set(mounts.map(\.service)) == Set(services))
    }

    @Test func everyTmpfsHasTheOwnerOfTheTable() throws {
        let table = MountTable(markdown: try #require(files.text(of: "docker/README.md")))
        let compose = ComposeFile(yaml: try #require(files.text(of: "docker/compose.yaml")))
        #expect(compose.owners == table.owners.filter { !Self.lasting.contains($0.volume) })
    }

    /// Persistent volumes aren't tmpfs: their owner is that of the directory in the image.
    private static let lasting: Set = ["cache", "identity"]

    @Test func whatOutlivesTheStackHasTheOwnerOfTheTableInItsImage() throws {
        let table = MountTable(markdown: try #require(files.text(of: "docker/README.md")))
        let image = ImageDirectories(dockerfile: try #require(files.text(of: "docker/Dockerfile")))
        let lasting = table.mounts.filter { Self.lasting.contains($0.volume) }
        #expect(Set(lasting.map(\.volume)) == Self.lasting)
        for mount in lasting {
            let owner = try #require(table.owners.first { $0.volume == mount.volume }).owner
            let installed = image.owners[mount.service]?[mount.path]
            #expect(installed == owner, "\(mount)")
        }
    }

    // MARK: - Tests of the rules

    private let table = """
        | volume | at | owner | writable in | read-only in | because |
        |---|---|---|---|---|---|
        | `front` | `/run/front` | 4100:4120 2750 | coordinator | example, cache | listeners |
        """
    private let yaml = """
        services:
          coordinator:
            volumes:
              - front:/run/front
          cache:
            volumes:
              # Only to look.
              - front:/run/front:ro
            tmpfs: ["/run:size=1m"]
          example:
            volumes:
              - front:/run/front:ro

        volumes:
          front:
            driver_opts:
              o: uid=4100,gid=4120,mode=2750,size=1m
        """

    @Test func tableAndFileAreRead() {
        let (table, compose) = (MountTable(markdown: table), ComposeFile(yaml: yaml))
        #expect(table.mounts.count == 3)
        #expect(compose.mounts == table.mounts)
        #expect(compose.owners == table.owners)
    }

    @Test func directoriesOfImagesAreRead() {
        let dockerfile = """
            FROM bus AS cache
            RUN apt-get update \\
                && install --directory --owner=4102 --group=4103 --mode=0700 /var/a
            USER 4102
            FROM bus AS other
            RUN install --directory --owner=1 /b
            """
        let image = ImageDirectories(dockerfile: dockerfile)
        #expect(image.owners == ["cache": ["/var/a": "4102:4103 0700"], "other": ["/b": "1:? ?"]])
    }

    @Test(arguments: [
        (":ro\n    tmpfs", "\n    tmpfs"),
        ("- front:/run/front\n", "- front:/run/other\n"),
        ("  example:\n    volumes:\n", "  example:\n    volumes:\n      - admin:/run/admin\n"),
    ])
    func aMountThatTheTableDoesNotHaveIsFound(allowed: String, planted: String) {
        #expect(yaml.contains(allowed))
        let compose = ComposeFile(yaml: yaml.replacing(allowed, with: planted))
        #expect(compose.mounts != MountTable(markdown: table).mounts)
    }

    @Test func aDirectoryOfTheHostIsFound() {
        let planted = yaml.replacing("- front:/run/front\n", with: "- /etc:/run/front\n")
        #expect(ComposeFile(yaml: planted).strange == ["coordinator: - /etc:/run/front"])
    }
}
