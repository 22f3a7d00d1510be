import ImageModel
import Imagebus
import Linux
import Reporting

/// Keeps very many cold loads queued for as long as something is measured.
struct Flood: Sendable {
    /// Loads that have no answer, all the time.
    static let loads = 10_000
    /// Of one connection: it may have 4,096 at a time.
    private static let loadsPerClient = 2_500
    /// Until so many are queued, and until none is any more.
    private static let settleMilliseconds = 60_000

    private let setting: BenchSetting
    private let url: String
    private let clients: [ImagebusClient]

    init(_ setting: BenchSetting, url: String) throws(ImageError) {
        (self.setting, self.url) = (setting, url)
        var clients: [ImagebusClient] = []
        for _ in stride(from: 0, to: Self.loads, by: Self.loadsPerClient) {
            clients.append(try setting.connect())
        }
        self.clients = clients
    }

    /// What `measure` found, and how many requests of the stack had no answer at its end.
    func during<Value: Sendable>(
        _ measure: () async throws(ImageError) -> Value
    ) async throws(ImageError) -> (value: Value, queued: Int) {
        let flooding = Task {
            await withDiscardingTaskGroup { group in
                for number in 0..<Self.loads {
                    group.addTask { await keepLoading(clients[number % clients.count]) }
                }
            }
        }
        let outcome: Result<(value: Value, queued: Int), ImageError>
        do throws(ImageError) {
            try await settle { $0 >= Self.loads * 95 / 100 }
            let value = try await measure()
            outcome = .success((value, try await liveRequests()))
        } catch {
            outcome = .failure(error)
        }
        flooding.cancel()
        await flooding.value
        let found = try outcome.get()
        try await settle { $0 == 0 }
        return found
    }

    /// One load after the other; who cancels the task cancels the load.
    private func keepLoading(_ client: ImagebusClient) async {
        while !Task.isCancelled, !setting.hasStopped {
            var request = ImageRequest(url: BenchURL.numbered(url, setting.next()))
            request.choosePreview()
            request.timeoutMilliseconds = RequestLimits.timeoutMillisecondsMax
            _ = try? await client.load(request.unkept).response
        }
    }

    private func settle(_ isThere: (Int) -> Bool) async throws(ImageError) {
        let deadline = MonotonicClock.now() + UInt64(Self.settleMilliseconds) * 1_000_000
        while !setting.hasStopped {
            let live = try await liveRequests()
            if isThere(live) { return }
            guard MonotonicClock.now() < deadline else {
                throw ImageError(.busy, "the stack has \(live) requests and stays there")
            }
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    private func liveRequests() async throws(ImageError) -> Int {
        Int(try await setting.watcher.status().count("liveRequests"))
    }
}
