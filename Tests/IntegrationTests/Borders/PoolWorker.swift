import Messages
import StackKit
import TestKit
import Testing

extension StatusReport {
    /// The first worker of a pool.
    func worker(of pool: String = "mine") -> ProcessStatus? {
        processes.first { $0.pool.text == pool }
    }
}

extension StackHarness {
    /// The worker of the pool `mine` once it is there in that life.
    @discardableResult
    func awaitWorker(restarts: Int = 0) async throws -> StatusReport.ProcessStatus {
        let report = try await awaitStatus("life \(restarts) of the worker") {
            $0.worker().map { Int($0.restarts) == restarts } == true
        }
        return try #require(report.worker())
    }
}
