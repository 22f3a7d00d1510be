extension RealProcesses {
    /// The file system of the segments is filled up: loads end with typed errors, no process ends,
    /// and the stack recovers by itself.
    @Suite(.enabled(if: PrivateMount.isWanted, "IMAGEBUS_NO_MOUNTS=1"))
    struct FullSharedMemoryTests {
        private let origin = OriginServer()
        private let image: [UInt8]

        init() throws {
            image = try Images.waves(width: 400, height: 300).png()
            origin.route("/*", .bytes(image))
        }

        private func ends(
            _ count: Int, _ name: String, _ client: ImagebusClient
        ) async -> [ErrorCode?] {
            var ends: [ErrorCode?] = []
            for number in 0..<count {
                let url = origin.url("/\(name)\(number).png")
                ends.append(await client.load(ImageRequest(url, fit: 50)).errorCode)
            }
            return ends
        }

        private func awaitServed(_ client: ImagebusClient) async throws {
            try await pollUntil("three images") {
                await ends(3, "again", client) == [nil, nil, nil]
            }
        }

        @Test func loadsAreBusyAndGoOnOnceThereIsSpace() async throws {
            let mount = try PrivateMount(bytes: 16 << 20)
            let arguments = [
                "--allow-private-networks", "--gateway", "127.0.0.1:0", "--gateway-unsigned",
            ]
            try await withClient(arguments, mount: mount) { stack, client in
                #expect(await ends(1, "first", client) == [nil])
                let processes = Set(stack.children.map(\.processID))
                let filler = try SpaceFiller(in: stack.runtimeDirectory)
                let full = await ends(20, "full", client)
                #expect(Set(full).isSubset(of: [nil, .busy, .limitExceeded]), "\(full)")
                #expect(full.contains(.busy))
                let path = "/_/rs:fit:50:50/plain/\(origin.url("/visitor.png"))@png"
                let port = try stack.gatewayPort()
                #expect([200, 429, 503].contains(try RawClient.get(path, port).status))
                #expect(try stack.run(["status"]).exitStatus == 0, "operators see why")
                try filler.remove()
                try await awaitServed(client)
                #expect(try RawClient.get(path, port).status == 200)
                #expect(Set(stack.children.map(\.processID)) == processes)
            }
        }

        /// Processes started meanwhile find no space for their own segments.
        @Test func whatEndsMeanwhileIsBack() async throws {
            let mount = try PrivateMount(bytes: 16 << 20)
            try await withClient(mount: mount) { stack, client in
                #expect(await ends(1, "first", client) == [nil])
                let filler = try SpaceFiller(in: stack.runtimeDirectory)
                let before = stack.children
                for process in before { try process.kill() }
                for process in before { _ = try process.ends(within: defaultTimeout) }
                let full = await ends(3, "full", client)
                #expect(
                    Set(full).isSubset(of: [nil, .busy, .unavailable, .limitExceeded]), "\(full)")
                try filler.remove()
                try await awaitServed(client)
                _ = try await stack.awaitStatus("all processes") { $0.processes.count == 7 }
            }
        }
    }
}
