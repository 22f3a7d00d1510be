/// The path of a URL that names a place which only this stack looks up: a file or an object.
///
/// It means one place only: no query, no fragment, no `.` or `..` in whatever spelling, and no
/// slash or zero byte that is percent-encoded.
struct PlacePath {
    /// Decoded, without the slash at its begin; never empty.
    let text: String

    /// Bytes of the path once it is decoded, as S3 has it and Linux nearly.
    static let bytesMax = 1_024

    /// Of what follows the authority of a URL. Throws `invalidURL`.
    init(_ rest: some Collection<UInt8>) throws(ImageError) {
        guard rest.first == UInt8(ascii: "/") else { throw Self.fault("it has no path") }
        guard !rest.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) else {
            throw Self.fault("it has no query and no fragment; ? is written %3F, and # %23")
        }
        guard let bytes = PercentCoding.decode(rest.dropFirst()) else {
            throw Self.fault("a % is followed by two hexadecimal digits; % itself is written %25")
        }
        guard !bytes.isEmpty, bytes.count <= Self.bytesMax else {
            throw Self.fault("its path has 1 to \(Self.bytesMax) bytes")
        }
        let slashes = rest.count { $0 == UInt8(ascii: "/") } - 1
        guard bytes.count(where: { $0 == UInt8(ascii: "/") }) == slashes else {
            throw Self.fault("a slash is not percent-encoded")
        }
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw Self.fault("its path has control characters")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Self.fault("its path is UTF-8")
        }
        let segments = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard
            !segments.contains(where: { $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) })
        else { throw Self.fault("its path has no . and no ..") }
        self.text = text
    }

    private static func fault(_ reason: String) -> ImageError {
        ImageError(.invalidURL, "the URL cannot name a file or an object: \(reason)")
    }
}
