import ImageModel
import Imagebus
import Messages
import TestKit
import Testing

extension RealProcesses {
    /// A worker whose loop stands still is killed by `serve`, which says so: unlike other kills
    /// from outside this is held against what the worker did.
    @Suite struct StandstillTests {
        /// A picture whose decode takes so long that a signal finds it there.
        private static let slow = Result { try Pictures.noise(width: 4_000, height: 3_000).png() }

        @Test func whatDecodersStandStillWithIsQuarantined() async throws {
            let origin = OriginServer()
            origin.route("/a.png", .bytes(try Self.slow.get()))
            try await withStack { stack in
                let client = try stack.client()
                // Two decodes of one picture at a time, so that five seconds are enough.
                let tasks = [100, 2_000].map { side in
                    client.load(request(origin.url("/a.png"), side))
                }
                try await haltUntilQuarantined(stack, .decode, atATime: 2)
                for task in tasks { #expect(await error(of: task) == .poisoned) }
                let log = FileBytes.text(stack.logFile) ?? ""
                #expect(log.contains("its loop stood still"))
                #expect(
                    try stack.run(["blacklist", "list", "--json"]).outputText
                        .contains("\"decode\""))
            }
        }

        /// Twice five seconds.
        @Test(.enabled(if: Effort.isLong))
        func whatADownloadWorkerStandsStillWithIsQuarantined() async throws {
            let origin = OriginServer()
            origin.route("/hang.png", .hang(until: Gate()))
            try await withStack { stack in
                let client = try stack.client()
                let task = client.load(request(origin.url("/hang.png"), 100))
                try await haltUntilQuarantined(stack, .download, atATime: 1)
                #expect(await error(of: task) == .poisoned)
            }
        }

        /// Halts the workers that have a job, as many as are wanted, until the last one ends.
        private func haltUntilQuarantined(
            _ stack: StackHarness, _ kind: WorkerKind, atATime count: Int
        ) async throws {
            var wanted = count
            while true {
                let report = try await stack.awaitStatus("\(wanted) that work, or none to come") {
                    $0.counter("quarantined") == 1
                        || $0.processes(kind).count { $0.state == "busy" } >= wanted
                }
                if report.counter("quarantined") == 1 { return }
                let halted = try report.processes(kind).filter { $0.state == "busy" }
                    .map(stack.child)
                for process in halted { try process.halt() }
                // Late looks of `serve` do not count, and on a full machine many are late.
                try stack.expectGone(halted, within: .seconds(90))
                // Where one was done before it was halted.
                wanted = 1
            }
        }

        private func request(_ url: String, _ side: Int) -> ImageRequest {
            var request = ImageRequest(url, fit: side)
            request.options = .fromLoaderOnly
            request.timeoutMilliseconds = 300_000
            request.storeCacheTypes = .none
            request.originalStoreCacheTypes = .none
            return request
        }

        private func error(of task: LoadTask) async -> ErrorCode? {
            do throws(ImageError) {
                _ = try await task.response
                return nil
            } catch {
                return error.code
            }
        }
    }
}
