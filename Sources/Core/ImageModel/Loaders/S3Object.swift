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
