package import Messages

extension Instant? {
    /// The earlier one of two moments, of which either may be missing.
    package func orEarlier(_ other: Instant?) -> Instant? {
        guard let self else { return other }
        return other.map { Swift.min(self, $0) } ?? self
    }
}
