import ImageModel
import Messages

/// Why a transfer waits, and for when.
struct RetryDelay: Equatable, Sendable {
    let until: Instant
    /// What those who wait are told if none of them can wait that long.
    let error: ImageError
}
