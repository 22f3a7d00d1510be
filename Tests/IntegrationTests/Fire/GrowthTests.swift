extension RealProcesses {
    /// Resource use after many requests: no more than after a few.
    @Suite struct GrowthTests {
        private static let lanes = 16

        @Test func noProcessGrowsWithTheNumberOfRequests() async throws {
            let count = Effort.count("GROWTH", short: 6_000, long: 100_000)
            var random = Effort.generator("growth")
            // Small enough for the memory tier to evict constantly.
            let arguments = ["--allow-private-networks", "--memory-limit", "1M"]
            try await withGallery(arguments) { stack, client, gallery in
                let moving = try await MovingGallery(beside: gallery, learnedBy: client)
                var lanes = MixedLoads.lanes(Self.lanes, [client], gallery, moving, &random)
                var snapshots: [Snapshot] = []
                for _ in 0..<10 {
                    lanes = try await run(lanes, count / 10)
                    snapshots.append(try await Snapshot(stack, gallery.origin))
                }
                let (first, last) = (snapshots[0], snapshots[9])
                print("growth, after each tenth of \(count) requests, KB:")
                for (process, name) in first.names.sorted(by: { $0.key < $1.key }) {
                    let all = snapshots.compactMap { $0.metrics[process]?.bytes }.map { $0 >> 10 }
                    print("  \(name) \(process): \(all)")
                    // A process that has done its number of jobs is replaced by a new one.
                    guard let before = first.metrics[process], let after = last.metrics[process]
                    else { continue }
                    let what = "\(name): \(before), then \(after)"
                    #expect(after.bytes <= before.bytesLimit, "\(what)")
                    #expect(
                        first.descriptors(of: process) == last.descriptors(of: process), "\(what)")
                }
                let ended = try recycled(in: stack) + last.report.hardCancels
                #expect(last.report.restarts == ended, "\(last.report.outline)")
                print("  segments: \(first.segments), then \(last.segments)")
                #expect(first.report.counter("liveBlocks") == 0)
                #expect(last.report.counter("liveBlocks") == 0)
                for (folder, bytes) in last.segments {
                    // Shared segments have 16 MB; one more open segment isn't growth.
                    #expect(bytes <= (first.segments[folder] ?? 0) + (16 << 20), "\(folder)")
                }
            }
        }

        /// The number of processes that ended because they had done their number of jobs.
        private func recycled(in stack: StackHarness) throws -> Int {
            let log = try #require(FileBytes.text(stack.logFile))
            return log.split(separator: "\n").count { $0.contains("reason=recycled") }
        }

        /// Runs `count` requests on all lanes; each has to end as expected.
        @discardableResult
        private func run(_ lanes: [MixedLoads], _ count: Int) async throws -> [MixedLoads] {
            let each = count / lanes.count
            return await withTaskGroup(of: (MixedLoads, [ImageEnd: Int]).self) { group in
                for lane in lanes {
                    group.addTask {
                        var lane = lane
                        var ends: [ImageEnd: Int] = [:]
                        for _ in 0..<each { ends[await lane.next(), default: 0] += 1 }
                        return (lane, ends)
                    }
                }
                var next: [MixedLoads] = []
                for await (lane, ends) in group {
                    next.append(lane)
                    #expect(Set(ends.keys) == [.right], "\(ends)")
                }
                return next
            }
        }
    }
}

/// The processes of an idle stack, and its segments.
private struct Snapshot {
    let report: StatusReport
    /// By process id.
    let names: [Int32: String]
    let metrics: [Int32: ProcessMetrics]
    /// Idle connections kept by the origin and the download process.
    let keptAlive: Int
    /// Bytes per folder.
    let segments: [String: Int]

    /// Open descriptors, without kept connections.
    func descriptors(of process: Int32) -> Int? {
        let isDownload = names[process]?.hasPrefix("imagebus-downlo") == true
        return metrics[process].map { $0.descriptors - (isDownload ? keptAlive : 0) }
    }

    init(_ stack: StackHarness, _ origin: OriginServer) async throws {
        report = try await stack.awaitIdle(processes: 7)
        var names = [stack.processID: "serve"]
        for child in stack.children { names[child.processID] = child.name }
        var metrics: [Int32: ProcessMetrics] = [:]
        for process in names.keys { metrics[process] = try await .settled(process) }
        (self.names, self.metrics) = (names, metrics)
        keptAlive = origin.openConnectionCount
        segments = try stack.segmentTable().mapValues { $0.reduce(0, +) << 10 }
    }
}
