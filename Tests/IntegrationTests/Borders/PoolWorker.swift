extension StatusReport {
    /// The first worker of a pool.
    func worker(of pool: String = "mine") -> ProcessStatus? {
        processes.first { $0.pool.text == pool }
    }
}

extension StackHarness {
    /// Waits for the worker of the pool `mine` after `restarts` restarts. Throws at once if its
    /// program ends by itself before it is ready.
    @discardableResult
    func awaitWorker(restarts: Int = 0) async throws -> StatusReport.ProcessStatus {
        let report = try await awaitStatus("life \(restarts) of the worker") { report in
            if let worker = report.worker(), Int(worker.restarts) == restarts { return true }
            try expectStarting(pool: "mine")
            return false
        }
        return try #require(report.worker())
    }
}
