import ImageModel
import StackAccess
import Synchronization

/// Loads of images that differ, and how long each was in each stage.
final class ColdLoads: Sendable {
    private let client: StackClient
    private let nextRequest: @Sendable () -> ImageRequest
    private let recorded = Mutex(StageFigures())

    init(_ client: StackClient, _ nextRequest: @escaping @Sendable () -> ImageRequest) {
        (self.client, self.nextRequest) = (client, nextRequest)
    }

    /// One load; its bytes, nil where it failed or came from a cache.
    var load: LoadFlight.Load {
        { [self] in
            guard case .success(let image) = await client.load(nextRequest()),
                image.cacheType == .none, let count = image.byteCount
            else { return nil }
            recorded.withLock { $0.record(image.timings) }
            return count
        }
    }

    var stages: StageFigures { recorded.withLock { $0 } }
}
