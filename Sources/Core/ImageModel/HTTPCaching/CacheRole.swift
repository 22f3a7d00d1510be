/// As what sort of cache entries are kept (RFC 9111 §1).
public enum CacheRole: Hashable, Sendable {
    /// For everybody who asks for the same.
    case shared
    /// For those alone who show the same credentials.
    case personal
    /// For whom they would be anyway; what origins say of that is not looked at.
    case heedless

    /// Whether an answer of which its origin says that may be kept.
    public func mayKeep(_ control: CacheControl) -> Bool {
        switch self {
        case .shared: !control.forbidsStoring && !control.isPrivate
        case .personal: !control.forbidsStoring
        case .heedless: true
        }
    }
}
