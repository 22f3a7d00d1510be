import Imagebus
import Model
import Synchronization

/// Images in the memory tier, loaded in random order. In sequential order, each image would be the
/// one evicted first from the processor's caches, which no real traffic does.
final class WarmImages: Sendable {
    private let client: ImagebusClient
    private let requests: [ImageRequest]
    private let sizes: [Int]
    private let turn = Atomic(0)

    init(_ client: ImagebusClient, _ requests: [ImageRequest], _ sizes: [Int]) {
        (self.client, self.requests, self.sizes) = (client, requests, sizes)
    }

    /// Measures hits with the cheapest call: the blocking one for a single load at a time,
    /// callbacks on the client's own thread for several.
    func hits(in flight: LoadFlight) async -> LoadMetrics {
        flight.concurrency == 1
            ? await flight.runBlocking(loadAndWait)
            : await flight.runCallbacks(on: client.executor, loadAndCallBack)
    }

    /// Performs one load in a task; returns its size in bytes, or `nil` unless it was a memory hit
    /// of the right size.
    @Sendable func load() async -> Int? {
        let place = next()
        guard let image = try? await client.load(requests[place]).response else { return nil }
        return check(image, place)
    }

    /// Performs one load with a callback on the client's own thread.
    @Sendable private func loadAndCallBack(_ end: @escaping @Sendable (Int?) -> Void) {
        let place = next()
        client.load(requests[place], on: .inline) { [self] result in
            guard case .success(let image) = result else { return end(nil) }
            end(check(image, place))
        }
    }

    /// Performs one load with the blocking call.
    @Sendable func loadAndWait() -> Int? {
        let place = next()
        guard let image = try? client.loadAndWait(requests[place]) else { return nil }
        return check(image, place)
    }

    private func next() -> Int {
        guard requests.count > 1 else { return 0 }
        var numbers = SeededNumbers(turn.add(1, ordering: .relaxed).oldValue)
        return Int(numbers.next() % UInt64(requests.count))
    }

    private func check(_ image: ImageResponse, _ place: Int) -> Int? {
        // Image properties come without bytes.
        image.isMemoryHit && image.bytes?.count ?? 0 == sizes[place] ? sizes[place] : nil
    }
}

extension ImageResponse {
    /// Whether it came from the memory tier.
    var isMemoryHit: Bool { cacheType == .memory && status == .ok }
}
