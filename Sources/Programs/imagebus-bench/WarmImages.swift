import ImageModel
import Imagebus
import Synchronization

/// Images that the memory tier has, drawn at random: one after the other, each would be what the
/// caches of the processor gave up before all others, as no traffic has it.
final class WarmImages: Sendable {
    private let client: ImagebusClient
    private let requests: [ImageRequest]
    private let sizes: [Int]
    private let turn = Atomic(0)

    init(_ client: ImagebusClient, _ requests: [ImageRequest], _ sizes: [Int]) {
        (self.client, self.requests, self.sizes) = (client, requests, sizes)
    }

    /// Hits for as long as a flight lasts, by the call that costs the least: one at a time through
    /// the one that blocks, several through callbacks on the client's own thread.
    func hits(in flight: LoadFlight) async throws(ImageError) -> LoadFigures {
        flight.concurrency == 1
            ? try await flight.runBlocking(loadAndWait)
            : await flight.runCallbacks(on: client.executor, loadAndCallBack)
    }

    /// Hits through tasks on the client's own executor.
    func hitsOnExecutor(in flight: LoadFlight) async -> LoadFigures {
        await flight.run(on: client.executor, load)
    }

    /// One load through a task; its bytes, nil unless it was a memory hit of the right size.
    var load: LoadFlight.Load {
        { [self] in
            let place = next()
            guard let image = try? await client.load(requests[place]).response else { return nil }
            return check(image, place)
        }
    }

    /// The same through a callback on the client's own thread.
    private var loadAndCallBack: LoadFlight.CallbackLoad {
        { [self] end in
            let place = next()
            client.load(requests[place], on: .inline) { [self] result in
                guard case .success(let image) = result else { return end(nil) }
                end(check(image, place))
            }
        }
    }

    /// The same through the blocking call.
    var loadAndWait: @Sendable () -> Int? {
        { [self] in
            let place = next()
            guard let image = try? client.loadAndWait(requests[place]) else { return nil }
            return check(image, place)
        }
    }

    private func next() -> Int {
        guard requests.count > 1 else { return 0 }
        var numbers = SeededNumbers(turn.add(1, ordering: .relaxed).oldValue)
        return Int(numbers.next() % UInt64(requests.count))
    }

    private func check(_ image: ImageResponse, _ place: Int) -> Int? {
        // Facts come without bytes.
        image.isMemoryHit && image.bytes?.count ?? 0 == sizes[place] ? sizes[place] : nil
    }
}

extension ImageResponse {
    /// Whether the memory tier had it.
    var isMemoryHit: Bool { cacheType == .memory && status == .ok }
}
