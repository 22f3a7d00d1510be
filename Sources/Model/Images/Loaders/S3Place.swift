/// The location of the objects of S3 URLs, and the credentials for them.
public struct S3Place: Hashable, Sendable {
    /// `https://host` or `https://host:port`, without a path.
    public var endpoint: String
    /// The region of the signature, such as `eu-central-1`.
    public var region: String
    /// Whether the bucket is the first label of the host; otherwise it is the first path segment.
    public var hasBucketInHost: Bool
    /// The credentials; `nil` for anonymous access.
    public var credentials: S3Credentials?
    /// `IP:PORT` addresses that only this loader may connect to, whatever their scope.
    public var allowedAddresses: [String]

    /// The maximum number of bytes of an endpoint.
    public static let endpointBytesMax = 512
    /// The maximum number of bytes of a region.
    public static let regionBytesMax = 64
    /// The maximum number of addresses per loader.
    public static let addressesMax = 16
    /// The maximum number of bytes of an address: an IPv6 address in brackets with its port.
    public static let addressBytesMax = 64

    /// Creates a location.
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

    /// Returns the HTTP URL of an object. The endpoint is set by the operator; the client controls
    /// only the bucket, which can't escape its position, and the key, in which all bytes except
    /// unreserved ones and `/` are percent-encoded.
    public func url(of object: S3Object) -> String {
        let key = PercentCoding.encode(path: object.key.utf8)
        guard hasBucketInHost, let mark = endpoint.firstRange(of: "://") else {
            return "\(endpoint)/\(object.bucket)/\(key)"
        }
        return endpoint[..<mark.upperBound] + object.bucket + "." + endpoint[mark.upperBound...]
            + "/" + key
    }

    /// Returns whether a text is a valid endpoint: http or https, a host, an optional port, and
    /// nothing else.
    public static func isEndpoint(_ text: String) -> Bool {
        guard text.utf8.count <= endpointBytesMax, let url = try? SourceURL(text),
            ["http", "https"].contains(url.scheme), text.hasPrefix("\(url.scheme)://"),
            url.userInfo == nil, url.afterAuthority.isEmpty
        else { return false }
        return text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "%") }
    }

    /// Returns whether a text is a valid region; it is delimited in the signed string, so its
    /// characters are restricted.
    public static func isRegion(_ text: String) -> Bool {
        (1...regionBytesMax).contains(text.utf8.count)
            && text.utf8.allSatisfy { isAlphanumeric($0) || $0 == 0x2D }
    }
}

/// The object of an `s3://BUCKET/KEY` URL.
public struct S3Object: Hashable, Sendable {
    /// Lower-case letters, digits, `.` and `-`; not an IP address.
    public let bucket: String
    /// The decoded key, without the slash between bucket and key.
    public let key: String

    /// Throws `invalidURL` for user info, a port, an invalid bucket, and anything `PlacePath`
    /// rejects: a query would request something other than an object from S3.
    public init(_ url: SourceURL) throws(ImageError) {
        let bucket = url.authorityText
        guard url.userInfo == nil, Self.isBucket(bucket) else {
            throw ImageError(
                .invalidURL,
                "an S3 URL must be s3://BUCKET/KEY, without user info or port; a bucket has 3 to "
                    + "63 lowercase letters, digits, '.' and '-'")
        }
        self.bucket = bucket
        key = try PlacePath(url.afterAuthority).text
    }

    /// Amazon's rules: the first and last characters are letters or digits, there are no two
    /// consecutive dots, and the name doesn't look like an IPv4 address.
    static func isBucket(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard (3...63).contains(bytes.count),
            let first = bytes.first, let last = bytes.last, isAlphanumeric(first),
            isAlphanumeric(last),
            bytes.allSatisfy({ isAlphanumeric($0) || $0 == 0x2D || $0 == 0x2E })
        else { return false }
        let labels = bytes.split(separator: 0x2E, omittingEmptySubsequences: false)
        return labels.allSatisfy { !$0.isEmpty && $0.first != 0x2D && $0.last != 0x2D }
            && (labels.count == 1 || !labels.allSatisfy(isNumber))
    }

    /// Returns whether a label is a number in one of the notations that resolvers accept in
    /// addresses.
    private static func isNumber(_ label: ArraySlice<UInt8>) -> Bool {
        let digits = label.starts(with: "0x".utf8) ? label.dropFirst(2) : label
        let isHex = digits.startIndex != label.startIndex
        return digits.allSatisfy { $0.isDigit || isHex && (0x61...0x66).contains($0) }
    }
}

private func isAlphanumeric(_ byte: UInt8) -> Bool { byte.isDigit || byte.isLowercaseLetter }

/// The credentials for an S3 server. Descriptions never include them.
public struct S3Credentials: Hashable, Sendable {
    /// The key ID, which is sent with every request.
    public var accessKeyID: String
    /// The secret key, which is never sent to the server.
    public var secretAccessKey: String
    /// The session token of temporary credentials; empty for none.
    public var sessionToken: String

    /// The maximum number of bytes of an access key ID.
    public static let idBytesMax = 128
    /// The maximum number of bytes of a secret access key.
    public static let secretBytesMax = 256
    /// The maximum number of bytes of a session token.
    public static let tokenBytesMax = 4_096

    /// Creates credentials.
    public init(accessKeyID: String, secretAccessKey: String, sessionToken: String = "") {
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.sessionToken = sessionToken
    }

    /// Reads the profile `default` of an AWS credentials file; returns `nil` if it lacks the ID or
    /// secret:
    ///
    ///     [default]
    ///     aws_access_key_id = AKIA…
    ///     aws_secret_access_key = …
    ///     aws_session_token = …
    ///
    /// Lines that begin with `#` or `;`, other profiles and other keys are ignored.
    public init?(profileFile text: String) {
        var found: [String: String] = [:]
        var isDefault = false
        for line in text.utf8.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            let line = Self.trimmed(line)
            if line.first == UInt8(ascii: "[") {
                isDefault = Self.text(line) == "[default]"
            } else if isDefault, let equals = line.firstIndex(of: UInt8(ascii: "=")) {
                let value = Self.text(Self.trimmed(line[equals...].dropFirst()))
                found[Self.text(Self.trimmed(line[..<equals]))] = value
            }
        }
        self.init(
            accessKeyID: found["aws_access_key_id"] ?? "",
            secretAccessKey: found["aws_secret_access_key"] ?? "",
            sessionToken: found["aws_session_token"] ?? "")
        guard isValid else { return nil }
    }

    /// Whether all parts can be sent and signed.
    public var isValid: Bool {
        let isWhole = !accessKeyID.isEmpty && !secretAccessKey.isEmpty
        let fits =
            accessKeyID.utf8.count <= Self.idBytesMax
            && secretAccessKey.utf8.count <= Self.secretBytesMax
            && sessionToken.utf8.count <= Self.tokenBytesMax
        let all = [accessKeyID, secretAccessKey, sessionToken]
        return isWhole && fits && !accessKeyID.utf8.contains(UInt8(ascii: ":"))
            && all.allSatisfy { $0.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } }
    }

    private static func trimmed(_ bytes: Substring.UTF8View) -> Substring.UTF8View {
        let front = bytes.drop { $0 == 0x20 || $0 == 0x09 }
        let count = front.reversed().prefix { $0 == 0x20 || $0 == 0x09 }.count
        return front.dropLast(count)
    }

    private static func text(_ bytes: Substring.UTF8View) -> String {
        String(decoding: bytes, as: UTF8.self)
    }
}

extension S3Credentials: CustomStringConvertible, CustomReflectable {
    /// The type name only, to keep secrets out of logs.
    public var description: String { "S3Credentials" }
    /// An empty mirror, to keep secrets out of dumps.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
