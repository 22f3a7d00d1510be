extension RealProcesses {
    /// `Examples/small.yaml` with the command from README: images without transformation, in little
    /// memory.
    @Suite struct SmallMachineTests {
        private let origin = OriginServer()
        private let folder = TemporaryDirectory()
        private static let mebibyte = 1 << 20

        /// The command that a user copies, and the file that it names, which contains the same
        /// line.
        private func command() throws -> (arguments: [String], configuration: String) {
            let readme = try #require(FileBytes.text(RepositoryRoot.file("README.md")))
            let line = try #require(
                readme.firstMatch(of: /`(imagebus serve --config Examples\/small\.yaml [^`]+)`/))
            let configuration = try #require(
                FileBytes.text(RepositoryRoot.file("Examples/small.yaml")))
            #expect(configuration.contains("\n#     \(line.output.1)\n"))
            let words = line.output.1.split(separator: " ").map(String.init)
            #expect(words[..<4] == ["imagebus", "serve", "--config", "Examples/small.yaml"])
            return (Array(words[4...]), configuration)
        }

        @Test func theMemoryTierHasTwentyImages() async throws {
            let (arguments, configuration) = try command()
            try await stack(arguments, configuration) { stack in
                try await loadAll(of: stack)
                let report = try await stack.awaitStatus("the disk") {
                    $0.caches.first.map { $0.diskEntries >= 25 } ?? false
                }
                let cache = try #require(report.caches.first)
                #expect((1...20).contains(cache.memoryEntries))
                #expect(cache.memoryBytes <= UInt64(80 * Self.mebibyte))
                #expect(cache.memoryBytesMax == UInt64(80 * Self.mebibyte))
                #expect(cache.diskBytesMax == 1 << 30)
            }
        }

        /// With the lines that the comment in the file recommends.
        @Test func thereIsNoMemoryTierWhereTheCommentIsFollowed() async throws {
            let (arguments, configuration) = try command()
            let lines = configuration.split(separator: "\n", omittingEmptySubsequences: false)
            let without = lines.filter { !$0.hasPrefix("    memory-") }
                .map { $0 == "    # memory-cache: no" ? "    memory-cache: no" : String($0) }
            #expect(lines.count - without.count == 2)
            #expect(without.contains("    memory-cache: no"))
            try await stack(arguments, without.joined(separator: "\n")) { stack in
                try await loadAll(of: stack)
                let report = try await stack.awaitStatus("the disk") {
                    $0.caches.first.map { $0.diskEntries >= 25 } ?? false
                }
                #expect(report.caches.first?.memoryEntries == 0)
                let again = try stack.get([origin.url("/3"), "--json", "-o", "/dev/null"])
                #expect(try again.json()["cacheType"]?.text == "disk", "\(again)")
            }
        }

        /// 24 images of 4 MiB, and a photo of six megapixels.
        private func loadAll(of stack: StackHarness) async throws {
            let images = try (0..<24).map { try ChunkStack.image(4 << 20, seed: $0) }
            for (number, image) in images.enumerated() {
                origin.route("/\(number)", .bytes(image))
            }
            let photo = try Images.waves(width: 3_000, height: 2_000).jpeg(quality: 90)
            origin.route("/photo", .jpeg(photo))
            let client = try stack.client()
            for (number, image) in images.enumerated() {
                let response = try await client.load(origin.url("/\(number)")).response
                #expect(response.bytes?.array == image)
            }
            var request = ImageRequest(url: origin.url("/photo"))
            request.wantsExplanation = true
            let response = try await client.load(request).response
            #expect(response.bytes?.array == photo)
            #expect(response.info?.size == PixelSize(width: 3_000, height: 2_000))
            let explanation = try #require(response.explanation)
            #expect(explanation.decoded == nil)
            #expect(explanation.transformed == nil)
            try expectLittleMemory(of: stack)
        }

        /// As counted by the kernel. The limits are several times the actual use, since each
        /// process counts shared pages of libraries; pixels of the photo alone would be 18 MB.
        private func expectLittleMemory(of stack: StackHarness) throws {
            let arena = DirectoryEntries.names("\(stack.runtimeDirectory)/arena/decode")
            #expect(arena.filter { !$0.hasPrefix(".") } == [], "no process may produce pixels")
            var names: [String] = []
            for process in [try ObservedProcess(stack.processID)] + stack.children {
                let status = FileBytes.text("/proc/\(process.processID)/status") ?? ""
                let resident = try #require(Self.mebibytes("VmRSS", in: status))
                let shared = try #require(Self.mebibytes("RssShmem", in: status))
                names.append(process.name)
                print("RSS of \(process.name): \(resident) MiB, \(shared) of them shared memory")
                #expect(resident - shared < 128, "\(process.name)")
                // The memory tier and results in flight; originals in flight.
                #expect(shared < 256, "\(process.name)")
                if process.name == "imagebus-decode" { #expect(resident < 128) }
            }
            let expected = ["cache", "coordi", "decode", "downlo"].map { "imagebus-\($0)" }
            #expect(names.sorted() == ["imagebus"] + expected)
        }

        private static func mebibytes(_ field: String, in status: String) -> Int? {
            let line = status.split(separator: "\n").first { $0.hasPrefix("\(field):") }
            return line?.split { $0 == " " || $0 == "\t" }.dropFirst().first.flatMap { Int($0) }
                .map { $0 >> 10 }
        }

        private func stack(
            _ arguments: [String], _ configuration: String,
            body: (StackHarness) async throws -> Void
        ) async throws {
            let path = folder.write(configuration, to: "small.yaml")
            let stack = try StackHarness(
                ["--config", path, "--allow-address", origin.authority] + arguments)
            try stack.start()
            try await body(stack)
            try stack.stop()
        }
    }
}
