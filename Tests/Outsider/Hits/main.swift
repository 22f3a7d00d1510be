// The calls that `imagebus bench hit` measures, in a program that only depends on the product
// `Imagebus`. It is built with WarmImages.swift and SeededNumbers.swift of `imagebus-bench`; this
// file replaces the options, clock and stack of that program.
//
//     hits RUNTIME-DIRECTORY URL
import Imagebus

/// The counts of a run.
struct LoadMetrics: Sendable {
    var requests = 0
}

/// A few loads, one after another.
struct LoadFlight: Sendable {
    typealias Load = @Sendable () async -> Int?
    static let loads = 100
    let concurrency: Int

    func run(on executor: (any TaskExecutor)? = nil, _ load: @escaping Load) async -> LoadMetrics {
        await withTaskExecutorPreference(executor) {
            var metrics = LoadMetrics()
            for _ in 0..<Self.loads where await load() != nil { metrics.requests += 1 }
            return metrics
        }
    }

    typealias CallbackLoad = @Sendable (@escaping @Sendable (Int?) -> Void) -> Void

    func runCallbacks(
        on executor: (any TaskExecutor)? = nil, _ load: @escaping CallbackLoad
    ) async -> LoadMetrics {
        await run(on: executor) {
            await withCheckedContinuation { continuation in
                load { continuation.resume(returning: $0) }
            }
        }
    }

    func runBlocking(_ load: @escaping @Sendable () -> Int?) async -> LoadMetrics {
        LoadMetrics(requests: (0..<Self.loads).count { _ in load() != nil })
    }
}

let client = try ImagebusClient(ClientConfiguration(runtimeDirectory: CommandLine.arguments[1]))
let url = CommandLine.arguments[2]
var warm = try await client.load(url).response
while !warm.isMemoryHit {
    try await Task.sleep(for: .milliseconds(1))
    warm = try await client.load(url).response
}
let images = WarmImages(client, [ImageRequest(url: url)], [warm.bytes?.count ?? 0])
let several = await images.hits(in: LoadFlight(concurrency: 2)).requests
let oneAtATime = await images.hits(in: LoadFlight(concurrency: 1)).requests
print("\(several) \(oneAtATime)")
