extension RealProcesses {
    /// A killed process is restarted, and its jobs are completed nevertheless.
    @Suite struct WorkerDeathTests {
        @Test(arguments: WorkerKind.workers)
        func aKilledWorkerIsBackAndItsRequestIsAnswered(_ kind: WorkerKind) async throws {
            let source = try Images.photo()
            let origin = OriginServer("/a.jpg", .jpeg(source))
            try await withStack(decoders: 1) { stack in
                let before = try await stack.awaitStatus("one process of each kind") {
                    $0.processes(kind).first?.state == "ready"
                }
                let worker = try process(kind, before, in: stack)
                try worker.halt()
                let client = try stack.client()
                let task = client.load(ImageRequest(origin.url("/a.jpg"), fit: 100))
                _ = try await stack.awaitStatus("a job at the halted \(kind.name) process") {
                    $0.processes(kind).first?.state == "busy"
                }
                try worker.kill()
                let image = try await task.response
                #expect(image.info?.size == PixelSize(width: 100, height: 75))
                let after = try await stack.awaitStatus("a new \(kind.name) process") { report in
                    report.processes(kind).contains {
                        $0.state == "ready" && Int32($0.pid) != worker.processID
                    }
                }
                #expect(after.processes(kind).count == 1)
                #expect(after.processes(kind).first?.restarts == 1)
                #expect(try stack.run(["health"]).exitStatus == 0)
            }
        }

        @Test func aKilledCoordinatorIsBackAndItsRequestIsAnswered() async throws {
            let slow = try SlowImage()
            try await withClient { stack, client in
                let task = client.load(ImageRequest(slow.origin.url("/slow.jpg"), fit: 100))
                #expect(await slow.origin.waitForRequest("/slow.jpg"))
                let before = try await stack.awaitStatus("the coordinator") { _ in true }
                try process(.coordinator, before, in: stack).kill()
                #expect(await slow.origin.waitForRequest("/slow.jpg", count: 2))
                slow.gate.open()
                #expect(try await task.response.info?.size == PixelSize(width: 100, height: 75))
                let after = try await stack.awaitStatus("all processes") {
                    $0.processes.count == before.processes.count
                }
                let old = before.processes(.coordinator).first?.pid
                #expect(after.processes(.coordinator).first?.pid != old)
                #expect(after.processes(.coordinator).first?.restarts == 1)
            }
        }

        private func process(
            _ kind: WorkerKind, _ report: StatusReport, in stack: StackHarness
        ) throws -> ObservedProcess {
            let pid = try #require(report.processes(kind).first?.pid)
            return try #require(stack.children.first { $0.processID == Int32(pid) })
        }
    }
}
