extension RealProcesses {
    /// Processes are killed one after another while requests run: no request is lost or gets a
    /// wrong image.
    @Suite struct ChaosTests {
        private static let lanes = 4

        @Test func noRequestIsLostOrWrongWhileProcessesAreKilled() async throws {
            let image = try Images.photo()
            let origin = OriginServer("/a.jpg", .jpeg(image))
            try await withClient { stack, client in
                let expected = try await client.load(ImageRequest(origin.url("/a.jpg"), fit: 100))
                    .response.bytes?.array
                let isOver = Gate()
                let ends = Recorder<ImageEnd>()
                let lanes = (0..<Self.lanes).map { lane in
                    Task {
                        var number = lane
                        while !isOver.isOpen {
                            let url = origin.url("/a.jpg?\(number)")
                            let task = client.load(ImageRequest(url, fit: 100))
                            ends.append(await ImageEnd(of: task, expected: expected))
                            number += Self.lanes
                        }
                    }
                }
                let order: [WorkerKind] =
                    WorkerKind.workers + [.coordinator] + WorkerKind.workers + [.coordinator]
                for kind in order { try await replace(kind, in: stack) }
                isOver.open()
                for lane in lanes { await lane.value }
                let others = ends.values.filter { $0 != .right }
                #expect(others.isEmpty, "of \(ends.values.count): \(Set(others))")
                #expect(ends.values.count > order.count)
            }
        }

        /// Kills one process of a kind and waits until its replacement is ready.
        private func replace(_ kind: WorkerKind, in stack: StackHarness) async throws {
            let before = try await stack.awaitStatus("a \(kind.name) process") {
                !$0.processes(kind).isEmpty
            }
            let process = try #require(before.processes(kind).first)
            try stack.child(process).kill()
            _ = try await stack.awaitStatus("all processes after a \(kind.name) was killed") {
                report in
                report.processes.count == stack.children.count && report.processes.count == 7
                    && !report.processes(kind).contains { $0.pid == process.pid }
            }
        }
    }
}

/// How a load under test ended.
enum ImageEnd: Hashable, Sendable {
    case right
    case wrong
    case failed(ErrorCode)

    init(of task: LoadTask, expected: [UInt8]?) async {
        do throws(ImageError) {
            self = try await task.response.bytes?.array == expected ? .right : .wrong
        } catch {
            self = .failed(error.code)
        }
    }
}
