import ConfigurationFile
import Model
import TestKit
import Testing

@testable import Coordinator

/// Pools own listeners and directories, so a reload doesn't change them.
@Suite struct PoolReloadTests {
    private let folder = TemporaryDirectory()

    private func write(_ text: String) -> String {
        folder.write(Array(text.utf8), to: "imagebus.yaml")
    }

    @Test func aReloadWithOtherPoolsIsRefused() throws {
        let one = "pools: {a: {kind: decode, formats-in: [gif]}}\n"
        var store = try ConfigurationStore(path: write(one))
        #expect(store.pools.further.map(\.name.text) == ["a"])
        _ = write(one + "caches: [x]\n")
        #expect(try store.reload(at: Instant(nanoseconds: 1)) == "caches")
        for other in ["pools: {a: {kind: decode}}", "", "pools: {b: {kind: decode}}"] {
            _ = write(other + "\ncaches: [y]\n")
            #expect(store.fault?.contains("'pools' differs from what") == true)
            let error = #expect(throws: ConfigurationFileError.self) {
                _ = try store.reload(at: Instant(nanoseconds: 1))
            }
            #expect(error?.description.contains("restart the stack") == true)
            #expect(store.pools.further.map(\.name.text) == ["a"])
        }
        _ = write(one)
        #expect(store.fault == nil)
    }
}
