import ImageModel
import Imagebus

/// What became of loads that were to be cancelled.
struct CancelTally: Hashable, Sendable {
    var requests = 0
    /// Loads that ended with another error than `cancelled`.
    var errors = 0
    /// Of loads that came to their end before.
    var bytes = 0

    mutating func count(_ result: Result<ImageResponse, ImageError>) {
        requests += 1
        switch result {
        case .success(let image): bytes += image.bytes?.count ?? 0
        case .failure(let error): if error.code != .cancelled { errors += 1 }
        }
    }

    mutating func add(_ other: CancelTally) {
        requests += other.requests
        errors += other.errors
        bytes += other.bytes
    }
}
