extension RealProcesses {
    /// Each kind runs as its own user and as process 1 of its own container, which contains only
    /// the directories that it needs.
    @Suite(
        .enabled(
            if: ContainerPlace.obstacle == nil,
            "there can be no containers here: \(ContainerPlace.obstacle ?? "")"))
    struct BordersTests {
        private let origin = OriginServer()
        private let stack: ContainerStack

        init() throws {
            let image = try Images.photo()
            for name in ["a", "b"] {
                origin.route("/\(name).jpg", .jpeg(image))
            }
            stack = try ContainerStack()
        }

        @Test func aClientOfTheGroupLoadsAnImageAndEachKindIsWell() throws {
            let end = try stack.get([origin.url("/a.jpg"), "--resize", "100x100", "--json"])
            #expect(end.exitStatus == 0, "\(end)")
            #expect(try end.json()["width"]?.integer == 100)
            for layout in ContainerLayout.served {
                try stack[layout.name].run(["health"]).expect(0)
            }
            #expect(
                try stack.stop()
                    == Dictionary(
                        uniqueKeysWithValues: ContainerLayout.served.map { ($0.name, "exit 0") }))
        }

        @Test func noUserOpensWhatIsNotMeantForIt() throws {
            // Another size of a cached original is also read through arena/cache.
            for size in ["100x100", "50x50"] {
                let line = [origin.url("/a.jpg"), "--resize", size]
                #expect(try stack.get(line).exitStatus == 0)
            }
            for layout in ContainerLayout.served + [.client] {
                var expected: [String: String] = [:]
                for volume in ContainerLayout.volumes {
                    let isMeant =
                        layout.writes.contains(volume.path)
                        || layout.reads.contains(volume.path)
                    for path in try contents(of: volume) {
                        expected[path] = isMeant ? "ok" : "EACCES"
                    }
                }
                #expect(try Reach.of(layout, expected.keys.sorted()) == expected, "\(layout.name)")
            }
        }

        /// The directory of a volume with its segments or its socket.
        private func contents(of volume: ContainerLayout.Volume) throws -> [String] {
            let path = stack.place.volume(volume.path)
            let entries = DirectoryEntries.names(path).filter {
                !$0.hasPrefix(".") && $0 != "control"
            }
            if volume.path != "arena/coordinator" {
                #expect(!entries.isEmpty, "\(volume.path)")
            }
            return [path] + entries.map { "\(path)/\($0)" }
        }

        @Test func whoMayConnectIsInTheModesOfTheSockets() throws {
            func mode(_ path: String) throws -> UInt32 {
                let parts = path.split(separator: "/")
                let folder = stack.place.volume(parts.dropLast().joined(separator: "/"))
                let name = String(parts[parts.count - 1])
                return try FileDescriptor.openDirectory(folder).status(of: name).mode
            }
            #expect(try mode("front/front.sock") == 0o660)
            #expect(try mode("admin/admin.sock") == 0o600)
            for kind in WorkerKind.workers {
                #expect(try mode("back/\(kind.name)/back.sock") == 0o660)
                #expect(try mode("back/\(kind.name)/control") & 0o1777 == 0o1770)
                let control = stack.place.volume("back/\(kind.name)/control")
                let pages = DirectoryEntries.names(control).filter { !$0.hasPrefix(".") }
                #expect(pages.count == 1, "\(kind.name)")
                for page in pages {
                    #expect(try mode("back/\(kind.name)/control/\(page)") == 0o644)
                }
            }
        }

        @Test(arguments: WorkerKind.workers)
        func aKilledWorkerIsBackInItsContainer(_ kind: WorkerKind) throws {
            let worker = try #require(try stack[kind.name].workers().first)
            try worker.kill()
            #expect(try worker.ends(within: defaultTimeout))
            try stack.awaitHealth(kind.name, 0)
            #expect(try stack[kind.name].workers().map(\.processID) != [worker.processID])
            try stack.get([origin.url("/b.jpg"), "--resize", "100x100"]).expect(0)
        }

        /// Its workers are in other containers: they keep running, and so does the cache's memory
        /// tier.
        @Test func aCoordinatorThatIsReplacedLeavesTheWorkersOfOthersAlone() throws {
            let line = [origin.url("/a.jpg"), "--resize", "100x100", "--json"]
            #expect(try stack.get(line).json()["cacheType"]?.text == "none")
            func workers() throws -> [[Int32]] {
                try WorkerKind.workers.map { try stack[$0.name].workers().map(\.processID) }
            }
            let before = try workers()
            let layout = try #require(ContainerLayout.served.first { $0.name == "coordinator" })
            try stack.replace(layout)
            for kind in WorkerKind.workers { try stack.awaitHealth(kind.name, 0) }
            #expect(try workers() == before)
            #expect(try stack.get(line).json()["cacheType"]?.text == "memory")
        }

        @Test func aWorkerWithoutACoordinatorIsNotWell() throws {
            let layout = try #require(ContainerLayout.served.first { $0.name == "coordinator" })
            #expect(try stack["coordinator"].stop() == "exit 0")
            try stack.awaitHealth("decode", 1)
            try stack.start(layout)
            try stack.awaitHealth("decode", 0)
        }

        @Test func aHaltedCoordinatorIsNotWellAndNeitherIsAWorkerThatWasNotWelcomed() throws {
            let coordinator = try #require(try stack["coordinator"].workers().first)
            try coordinator.halt()
            let worker = try #require(try stack["decode"].workers().first)
            try worker.kill()
            try stack.awaitHealth("decode", 1)
            try stack["coordinator"].run(["health"]).expect(1)
            try coordinator.resume()
            try stack.awaitHealth("decode", 0)
            try stack.awaitHealth("coordinator", 0)
        }

        /// Process 1 becomes the parent of orphaned processes.
        @Test func whatOthersLeaveInAContainerIsReaped() throws {
            let container = try stack["decode"]
            let before = try container.workers().map(\.processID)
            try container.enter(["/bin/sh", "-c", "/bin/true & exit 0"]).expect(0)
            try pollUntil("the end of zombies") {
                try container.workers().map(\.processID) == before
            }
        }
    }
}
