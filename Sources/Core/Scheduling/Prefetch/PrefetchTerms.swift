public import ImageModel

/// On what terms the URLs of a prefetch, or of a part of one, are loaded (DESIGN §3, keys).
public struct PrefetchTerms: Hashable, Sendable {
    /// For URLs that are loaded as the template says. Its refusal is that of the whole prefetch.
    public var terms: LoadTerms
    /// By URL as the client wrote it, those that are loaded otherwise.
    public var members: [String: PrefetchMember]

    /// All are loaded as the template says, unless some are named.
    public init(_ terms: LoadTerms = LoadTerms(), members: [String: PrefetchMember] = [:]) {
        self.terms = terms
        self.members = members
    }
}

/// One URL of a prefetch as it was resolved by itself. An object, since a list of URLs that need
/// none pays for a reference only.
public final class PrefetchMember: Hashable, Sendable {
    /// The request, with its URL.
    public let image: ImageRequest
    /// On what terms it is made.
    public let terms: LoadTerms

    /// A request of its own.
    public init(_ image: ImageRequest, _ terms: LoadTerms) {
        self.image = image
        self.terms = terms
    }

    /// Whether both are loaded the same way.
    public static func == (left: PrefetchMember, right: PrefetchMember) -> Bool {
        left.image == right.image && left.terms == right.terms
    }

    /// By the request.
    public func hash(into hasher: inout Hasher) { hasher.combine(image) }
}
