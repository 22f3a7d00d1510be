public import ImageModel

/// A URL of a prefetch that could not be loaded, and why.
public struct PrefetchFailure: Hashable, Sendable {
    /// Its first bytes.
    public var url: String
    /// In short.
    public var error: ImageError

    /// Cuts both to what a report has room for.
    public init(url: String, error: ImageError) {
        self.url = Self.cut(url, to: Self.urlBytesMax)
        self.error = ImageError(
            error.code, Self.cut(error.message, to: Self.messageBytesMax),
            details: error.details.filter { $0.key == "httpStatus" })
    }

    /// Failures of one report: so many fit into a frame.
    public static let countMax = 16
    /// Bytes of a URL in a report.
    public static let urlBytesMax = 1_024
    private static let messageBytesMax = 512

    /// No more than so many bytes, and whole characters.
    private static func cut(_ text: String, to limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: limit)
        while end.samePosition(in: text) == nil { end = text.utf8.index(before: end) }
        return String(text[..<end])
    }
}
