import ImageModel

/// The bytes that were put beside an image, in `get --json` (SEMANTICS §15.3).
struct ExtendedDataAnswer: Encodable, Sendable {
    let mediaType: String
    /// Bytes.
    let length: Int
    let base64: String

    init(_ data: ExtendedData) {
        (mediaType, length) = (data.mediaType, data.bytes.count)
        base64 = Base64Text.text(data.bytes)
    }
}
