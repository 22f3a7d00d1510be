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

/// The object that an `s3://BUCKET/KEY` URL names.
public struct S3Object: Hashable, Sendable {
    /// Small letters, digits, `.` and `-`; no address.
    public let bucket: String
    /// Decoded, without the slash that separates it from the bucket.
    public let key: String

    /// Throws `invalidURL` for user info, a port, what can be no bucket, and what `PlacePath` does
    /// not take: a query would ask S3 for something else than an object.
    public init(_ url: SourceURL) throws(ImageError) {
        let bucket = url.authorityText
        guard url.userInfo == nil, Self.isBucket(bucket) else {
            throw ImageError(
                .invalidURL,
                "an S3 URL is s3://BUCKET/KEY, a bucket 3 to 63 of small letters, digits, '.' and "
                    + "'-', without user info and port")
        }
        self.bucket = bucket
        key = try PlacePath(url.afterAuthority).text
    }

    /// The rules of Amazon: begin and end are a letter or digit, no two dots follow one another,
    /// and it does not look like an IPv4 address.
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

    /// In one of the ways in which resolvers read the parts of an address.
    private static func isNumber(_ label: ArraySlice<UInt8>) -> Bool {
        let digits = label.starts(with: "0x".utf8) ? label.dropFirst(2) : label
        let isHex = digits.startIndex != label.startIndex
        return digits.allSatisfy {
            (0x30...0x39).contains($0) || isHex && (0x61...0x66).contains($0)
        }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte)
    }
}

/// Who asks an S3 server. No description shows it.
public struct S3Credentials: Hashable, Sendable {
    /// The name of the key; it travels with every request.
    public var accessKeyID: String
    /// The key itself; it never travels to the server.
    public var secretAccessKey: String
    /// Of keys for a time; empty: none.
    public var sessionToken: String

    /// Bytes of an access key id.
    public static let idBytesMax = 128
    /// Bytes of a secret access key.
    public static let secretBytesMax = 256
    /// Bytes of a session token.
    public static let tokenBytesMax = 4_096

    /// Describes who asks.
    public init(accessKeyID: String, secretAccessKey: String, sessionToken: String = "") {
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.sessionToken = sessionToken
    }

    /// The profile `default` of a file of Amazon's tools; `nil` where it has no id and secret:
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

    /// Whether all of it can be sent and signed.
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

extension S3Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Nothing of what it holds.
    public var description: String { "S3Credentials" }
    /// Nothing of what it holds.
    public var debugDescription: String { description }
    /// Nothing of what it holds.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
