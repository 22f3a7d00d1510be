import Imagebus
import Messages
import TestKit
import Testing

extension RealProcesses {
    /// Sessions begin whatever else the coordinator does at that moment.
    @Suite struct SessionTests {
        @Test func everyHelloIsAnsweredHoweverManyComeAtOnce() async throws {
            try await withStack { stack in
                let configuration = try ClientConfiguration(
                    runtimeDirectory: stack.runtimeDirectory, connectTimeoutMilliseconds: 5_000)
                try await withThrowingTaskGroup { group in
                    for _ in 0..<8 {
                        group.addTask {
                            for _ in 0..<100 {
                                let client = try ImagebusClient(configuration)
                                _ = try await client.status()
                                client.close()
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }
}
