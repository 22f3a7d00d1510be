extension RealProcesses {
    /// Eight megabytes for all segments: loads that don't fit fail with *busy*, and no process
    /// dies.
    @Suite(.enabled(if: PrivateMount.isWanted, "IMAGEBUS_NO_MOUNTS=1"))
    struct SmallSpaceTests {
        private static let bytes = 8 << 20

        /// Mixed loads, and once all of them are done, those that fit alone.
        @Test func whatDoesNotFitIsBusyAndNothingDies() async throws {
            let count = Effort.count("SMALL_SPACE", short: 400, long: 5_000)
            let mount = try PrivateMount(bytes: Self.bytes)
            var random = Effort.generator("small space")
            let origin = try Self.origin()
            let kinds = try await SpaceLoad.learned(origin)
            // Most are small, so that there is work between two loads that don't fit.
            let loads = (0..<count).map { _ in
                random.happens(60) ? 0 : Int.random(in: 0..<kinds.count, using: &random)
            }
            try await withStack(mount: mount) { stack in
                let before = try await stack.awaitIdle()
                let client = try stack.client()
                let ends = await Self.run(loads, kinds, origin, client)
                expectRightOrBusy(ends, loads.map { kinds[$0] })
                let after = try await stack.awaitIdle()
                #expect(Set(after.processes.map(\.pid)) == Set(before.processes.map(\.pid)))
                #expect(after.processes.allSatisfy { $0.restarts == 0 })
                for kind in kinds where kind.fits {
                    let ends = await alone(kind, origin, client)
                    let table = try stack.segmentTable()
                    #expect(
                        ends.allSatisfy { $0 == .right },
                        """
                        \(kind.name): \(ends); \(table); unlinked but mapped: \
                        \(stack.unlinkedButMapped)
                        """)
                }
                #expect(stack.children.count == 7)
            }
        }

        private func expectRightOrBusy(_ ends: [ImageEnd], _ loads: [SpaceLoad]) {
            var table: [String: Int] = [:]
            for (load, end) in zip(loads, ends) { table["\(load.name): \(end)", default: 0] += 1 }
            print(
                "small space: \(table.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" })")
            #expect(
                Set(ends).isSubset(of: [.right, .failed(.busy), .failed(.limitExceeded)]))
            #expect(ends.count { $0 == .right } > ends.count / 2)
            #expect(ends.contains(.failed(.busy)))
        }

        /// Ten, one after another.
        private func alone(
            _ kind: SpaceLoad, _ origin: OriginServer, _ client: ImagebusClient
        ) async -> [ImageEnd] {
            var ends: [ImageEnd] = []
            for number in 0..<10 {
                let task = client.load(kind.request(origin, "after\(number)"))
                ends.append(await ImageEnd(of: task, expected: kind.expected))
            }
            return ends
        }

        /// Sixteen at a time, each with another URL.
        private static func run(
            _ loads: [Int], _ kinds: [SpaceLoad], _ origin: OriginServer, _ client: ImagebusClient
        ) async -> [ImageEnd] {
            let lanes = 16
            return await withTaskGroup(of: [(Int, ImageEnd)].self) { group in
                for lane in 0..<lanes {
                    group.addTask {
                        var ends: [(Int, ImageEnd)] = []
                        for number in stride(from: lane, to: loads.count, by: lanes) {
                            let kind = kinds[loads[number]]
                            let task = client.load(kind.request(origin, "\(number)"))
                            ends.append(
                                (number, await ImageEnd(of: task, expected: kind.expected)))
                        }
                        return ends
                    }
                }
                let all = await group.reduce(into: []) { $0 += $1 }
                return all.sorted { $0.0 < $1.0 }.map(\.1)
            }
        }

        private static func origin() throws -> OriginServer {
            let origin = OriginServer()
            let sizes = ["small": 200, "middle": 800, "large": 2_000]
            for (name, width) in sizes {
                let image = Images.waves(width: width, height: width * 3 / 4)
                origin.route("/\(name).jpg", .bytes(try image.jpeg(quality: 80)))
            }
            let noise = try Images.noise(width: 1_000, height: 800).png()
            origin.route("/heavy.png", .bytes(noise))
            return origin
        }
    }
}

/// One kind of load, and its result if there is enough space.
private struct SpaceLoad: Sendable {
    let name: String
    let path: String
    let side: Int?
    let format: ImageFormat
    /// Whether a single one fits.
    let fits: Bool
    var expected: [UInt8] = []

    func request(_ origin: OriginServer, _ variant: String) -> ImageRequest {
        var request = ImageRequest(url: origin.url("\(path)?\(variant)"))
        request.steps =
            side.map { [.resize(PixelSize(width: $0, height: $0), .fit)] }
            ?? [.flip(horizontal: true, vertical: false)]
        request.output.format = format
        return request
    }

    /// All kinds, with their results on a stack of the usual size.
    static func learned(_ origin: OriginServer) async throws -> [SpaceLoad] {
        var kinds = [
            SpaceLoad(name: "small", path: "/small.jpg", side: 64, format: .jpeg, fits: true),
            SpaceLoad(name: "middle", path: "/middle.jpg", side: nil, format: .jpeg, fits: true),
            SpaceLoad(name: "reduced", path: "/large.jpg", side: 100, format: .jpeg, fits: true),
            SpaceLoad(
                name: "9 MB of pixels", path: "/large.jpg", side: nil, format: .jpeg, fits: false),
            SpaceLoad(
                name: "2 MB each way", path: "/heavy.png", side: nil, format: .png, fits: false),
        ]
        try await withClient { _, client in
            for index in kinds.indices {
                let response = try await client.load(kinds[index].request(origin, "learn")).response
                kinds[index].expected = response.bytes?.array ?? []
            }
        }
        return kinds
    }
}
