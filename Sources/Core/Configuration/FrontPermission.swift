/// What front ends that speak for strangers may ask for besides images by URL (SEMANTICS §14.11).
public struct FrontPermission: Hashable, Sendable {
    /// Names of header fields, in lower case, that loads may bring for the origin.
    public var headers: [String] = []
    /// Bytes that a load may bring along, such as those of a fallback.
    public var uploadBytesMax = 1 << 20
    /// What tags have to begin with that loads give to what is stored; `nil`: they give none.
    public var tagPrefix: String?
    /// Whether loads may have the origin asked about an image that is fresh.
    public var refreshes = false
    /// Whether entries may be removed from the caches by URL, by the beginning of their keys or by
    /// tag.
    public var removes = false

    /// What the file does not say.
    public init() {}

    /// The same with what a gateway of this stack needs.
    public func adding(_ grant: GatewayGrant) -> FrontPermission {
        var permission = self
        permission.refreshes = refreshes || grant.refreshes
        permission.removes = removes || grant.removes
        permission.headers += grant.headers
        return permission
    }
}
