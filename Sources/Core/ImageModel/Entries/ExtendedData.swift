/// Bytes of a caller's own beside an image, kept with its entry and never looked at
/// (`sd_extendedObject`, SEMANTICS §5.21).
public struct ExtendedData: Hashable, Sendable {
    /// What they are, as a media type such as `application/json`.
    public var mediaType: String
    /// The bytes: 1 to `bytesMax`.
    public var bytes: [UInt8]

    /// Bytes at most.
    public static let bytesMax = 4_096
    /// Bytes of the media type at most (RFC 6838 §4.2: two names of 127).
    public static let mediaTypeBytesMax = 255
    /// The type of bytes of which nothing is said.
    public static let unknownType = "application/octet-stream"

    /// Some bytes.
    public init(_ bytes: [UInt8], mediaType: String = ExtendedData.unknownType) {
        (self.bytes, self.mediaType) = (bytes, mediaType)
    }

    /// Throws `invalidRequest` where there are too many bytes or none, or the type is none.
    public func check() throws(ImageError) {
        guard (1...Self.bytesMax).contains(bytes.count) else {
            throw ImageError(
                .invalidRequest, "extended data has 1 to \(Self.bytesMax) bytes, not \(bytes.count)"
            )
        }
        guard Self.isMediaType(mediaType) else {
            throw ImageError(
                .invalidRequest, "the media type of extended data is none: say one as image/jpeg is"
            )
        }
    }

    /// Whether a text may be one: visible ASCII of 255 bytes at most with a slash inside.
    public static func isMediaType(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count <= mediaTypeBytesMax, bytes.allSatisfy({ (0x21...0x7E).contains($0) }),
            let slash = bytes.firstIndex(of: UInt8(ascii: "/"))
        else { return false }
        return slash > 0 && slash < bytes.count - 1
    }
}

extension ImageError {
    /// Nothing is put, and extended data comes along.
    package static let extendedDataOfNothing = ImageError(
        .invalidRequest,
        "extended data is of an image that is put into a cache, and of no other load")
}
