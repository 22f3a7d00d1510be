import ImageModel
import Imagebus
import Synchronization

/// Loads of images that differ, and how long each was in each stage.
final class ColdLoads: Sendable {
    private let client: ImagebusClient
    private let nextRequest: @Sendable () -> ImageRequest
    private let recorded = Mutex(StageFigures())

    init(_ client: ImagebusClient, _ nextRequest: @escaping @Sendable () -> ImageRequest) {
        (self.client, self.nextRequest) = (client, nextRequest)
    }

    /// One load; its bytes, nil where it failed or came from a cache.
    var load: LoadFlight.Load {
        { [self] in
            guard let image = try? await client.load(nextRequest()).response,
                image.cacheType == .none, let count = image.bytes?.count
            else { return nil }
            recorded.withLock { $0.record(image.timings) }
            return count
        }
    }

    var stages: StageFigures { recorded.withLock { $0 } }
}
