public import FoundationEssentials
public import ImageModel
public import Messages

extension Date {
    /// Milliseconds since 1970.
    fileprivate init(milliseconds: some BinaryInteger) {
        self.init(timeIntervalSince1970: TimeInterval(milliseconds) / 1_000)
    }
}

extension HTTPExpiry {
    /// When its age was 0.
    public var bornDate: Date { Date(milliseconds: born) }
    /// It is fresh until then.
    public var freshUntilDate: Date { Date(milliseconds: freshUntil) }
    /// Until then it may be served while the origin is asked.
    public var staleUntilDate: Date { Date(milliseconds: staleUntil) }
    /// Until then it may be served where the origin fails.
    public var errorUntilDate: Date { Date(milliseconds: errorUntil) }
}

extension Validity {
    /// When the origin last changed the source; `nil` where it did not say, or not in the form of
    /// HTTP (RFC 9110 §5.6.7).
    public var lastModifiedDate: Date? {
        let now = Int64(clamping: Int(Date().timeIntervalSince1970))
        return lastModified.flatMap { HTTPDate.seconds($0, now: now) }
            .map { Date(milliseconds: $0 * 1_000) }
    }
}

extension EntryDescription {
    /// When its bytes were stored; `nil` where the tier does not say.
    public var storedDate: Date? {
        storedMilliseconds == 0 ? nil : Date(milliseconds: storedMilliseconds)
    }
    /// When they were last used, as far as the disk knows; `nil` where the tier does not say.
    public var accessedDate: Date? {
        accessedMilliseconds == 0 ? nil : Date(milliseconds: accessedMilliseconds)
    }
}
