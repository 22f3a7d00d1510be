import ImageModel

/// Why loads of a source are refused.
struct Refusal: Hashable, Sendable {
    let error: ErrorCode
    /// Only loads that need its pixels are refused: its header was good.
    let isOfPixels: Bool

    init(_ error: ErrorCode, isOfPixels: Bool = false) {
        self.error = error
        self.isOfPixels = isOfPixels
    }
}
