import ImageModel
import Imagebus
import Messages
import TestKit
import Testing

extension RealProcesses {
    /// A process whose loop stands still is replaced without anybody's help.
    @Suite struct HangTests {
        @Test func haltedProcessesAreKilledAndStartedAgain() async throws {
            let origin = OriginServer()
            let picture = try Pictures.waves(width: 400, height: 300).jpeg(quality: 85)
            origin.route("/a.jpg", .bytes(picture))
            try await withStack { stack in
                let client = try stack.client()
                let report = try await stack.awaitIdle()
                let decoders = try report.processes(.decode).map(stack.child)
                let coordinator = try stack.child(#require(report.processes(.coordinator).first))
                for process in decoders + [coordinator] { try process.halt() }
                let task = client.load(ImageRequest(origin.url("/a.jpg"), fit: 100))
                for process in decoders + [coordinator] {
                    #expect(try process.ends(within: defaultTimeout), "\(process.processID)")
                }
                let size = try await task.response.info?.size
                #expect(size == PixelSize(width: 100, height: 75))
                let after = try await stack.awaitStatus("all processes") {
                    $0.processes.count == report.processes.count
                }
                #expect(after.processes(.coordinator).allSatisfy { $0.restarts == 1 })
                #expect(after.processes(.decode).allSatisfy { $0.restarts == 1 })
                #expect(after.processes(.transform).allSatisfy { $0.restarts == 0 })
            }
        }
    }
}
