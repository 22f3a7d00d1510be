/// Where a loader finds the objects of S3 URLs, and as whom it asks.
public struct S3Place: Hashable, Sendable {
    /// `https://host` or `https://host:port`: nothing behind it.
    public var endpoint: String
    /// The region of the signature, such as `eu-central-1`.
    public var region: String
    /// Whether the bucket is the first label of the host; else it is the first part of the path.
    public var hasBucketInHost: Bool
    /// As whom it asks; `nil`: as nobody.
    public var credentials: S3Credentials?
    /// `IP:PORT` that this loader alone may connect to, whatever their scope.
    public var allowedAddresses: [String]

    /// Bytes of an endpoint.
    public static let endpointBytesMax = 512
    /// Bytes of a region.
    public static let regionBytesMax = 64
    /// Addresses of one loader.
    public static let addressesMax = 16
    /// Bytes of each: an IPv6 address in brackets with its port.
    public static let addressBytesMax = 64

    /// Describes a place.
    public init(
        endpoint: String, region: String, hasBucketInHost: Bool = false,
        credentials: S3Credentials? = nil, allowedAddresses: [String] = []
    ) {
        self.endpoint = endpoint
        self.region = region
        self.hasBucketInHost = hasBucketInHost
        self.credentials = credentials
        self.allowedAddresses = allowedAddresses
    }

    /// The URL that is asked. The endpoint is the operator's; of the client are only a bucket,
    /// which cannot leave its place, and a key, of which every other byte is percent-encoded.
    public func url(of object: S3Object) -> String {
        let key = PercentCoding.encode(path: object.key.utf8)
        guard hasBucketInHost, let mark = endpoint.firstRange(of: "://") else {
            return "\(endpoint)/\(object.bucket)/\(key)"
        }
        return endpoint[..<mark.upperBound] + object.bucket + "." + endpoint[mark.upperBound...]
            + "/" + key
    }

    /// Whether a text can be an endpoint: http or https, a host, perhaps a port, and nothing else.
    public static func isEndpoint(_ text: String) -> Bool {
        guard text.utf8.count <= endpointBytesMax, let url = try? SourceURL(text),
            ["http", "https"].contains(url.scheme), text.hasPrefix("\(url.scheme)://"),
            url.userInfo == nil, url.afterAuthority.isEmpty
        else { return false }
        return text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "%") }
    }

    /// Whether a text can be a region: it stands between colons in what is signed.
    public static func isRegion(_ text: String) -> Bool {
        (1...regionBytesMax).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x61...0x7A, 0x2D: true
                default: false
                }
            }
    }
}
