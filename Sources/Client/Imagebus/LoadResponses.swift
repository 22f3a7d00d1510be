public import ImageModel

/// The images of one load in the order in which they come: one, or under `refreshCached` the cached
/// one and the one that takes its place.
public struct LoadResponses: AsyncSequence, Sendable {
    /// An image, or a miss.
    public typealias Element = ImageResponse
    /// How loads fail.
    public typealias Failure = ImageError

    let task: LoadTask

    /// Begins with the first image, however late it is asked for.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(task: task) }

    /// Goes from image to image.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private enum Phase {
            case first, cachedWasTold, ended
        }

        private let task: LoadTask
        private var phase = Phase.first

        init(task: LoadTask) { self.task = task }

        /// The next image; `nil` once the load has ended. Throws its error, once.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(ImageError) -> ImageResponse? {
            if phase == .first, let cached = await task.firstResponse() {
                phase = .cachedWasTold
                return cached
            }
            guard phase != .ended else { return nil }
            let wasTold = phase == .cachedWasTold
            phase = .ended
            let response = try await task.response
            return wasTold && !response.isRefreshed ? nil : response
        }
    }
}

extension ImageResponse {
    /// Whether another response brings the same bytes, or the same facts where there are none.
    func isSameImage(as other: ImageResponse) -> Bool {
        guard let bytes, let others = other.bytes else {
            return info == other.info && bytes == nil && other.bytes == nil
        }
        return bytes.count == others.count
            && bytes.withUnsafeBytes { bytes in
                others.withUnsafeBytes { bytes.elementsEqual($0) }
            }
    }
}
