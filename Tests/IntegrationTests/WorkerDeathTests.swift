extension RealProcesses {
    /// A killed process is restarted, and its jobs are completed nevertheless.
    @Suite struct WorkerDeathTests {
        @Test(arguments: WorkerKind.workers)
        func aKilledWorkerIsBackAndItsRequestIsAnswered(_ kind: WorkerKind) async throws {
            let source = try Images.photo()
            let origin = OriginServer("/a.jpg", .jpeg(source))
            try await withClient(decoders: 1) { stack, client in
                let before = try await stack.awaitStatus("one process of each kind") {
                    $0.processes(kind).first?.state == "ready"
                }
                let worker = try stack.child(#require(before.processes(kind).first))
                try worker.halt()
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
    }
}
