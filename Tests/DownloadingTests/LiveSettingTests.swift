import Downloading
import Model
import TestKit
import Testing

/// Settings that change while a worker runs.
@Suite struct LiveSettingTests {
    private func settings(_ texts: [String: String]) throws -> DownloadSettings {
        try #require(DownloadSettings(texts: texts))
    }

    @Test func transfersThatBeginLaterAreMadeAnew() async throws {
        let bench = try DownloadBench()
        bench.origin.route("/a", .bytes([1]))
        func agent(_ id: UInt64) async throws -> String? {
            bench.start("/a", id: id)
            _ = try #require(await bench.outcomes.wait(count: Int(id)))
            return bench.origin.newestRequest("/a")?.header("user-agent")
        }
        #expect(try await agent(1) == "Imagebus/test")
        bench.downloader.adopt(try settings(["user-agent": "shop/3"]))
        #expect(try await agent(2) == "shop/3")
        bench.downloader.adopt(DownloadSettings())
        #expect(try await agent(3) == "Imagebus/test", "an unset option has its default")
    }

    /// A running transfer keeps the settings with which it started.
    @Test func aRunningTransferStaysAsItWasBegun() async throws {
        let bench = try DownloadBench()
        let gate = Gate()
        bench.origin.route("/held", .hang(until: gate, then: [1]))
        bench.origin.route("/a", .bytes([1]))
        bench.start("/held")
        #expect(await bench.origin.waitForRequest("/held"))
        bench.downloader.adopt(try settings(["accept-status": "201"]))
        bench.start("/a", id: 2)
        #expect(await bench.outcomes.wait()?.first?.failure?.code == .invalidDownloadStatusCode)
        gate.open()
        #expect(await bench.outcomes.wait(count: 2)?.last?.body != nil)
    }

    @Test func noOtherValueIsASetting() {
        #expect(DownloadSettings(texts: ["redirect-limit": "many"]) == nil)
        #expect(DownloadSettings(texts: ["redirects": "1"]) == nil)
    }
}
