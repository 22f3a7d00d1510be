/// A request header for the origin.
public struct HTTPHeader: Hashable, Sendable {
    /// Case-insensitive; kept as given.
    public var name: String
    /// Without line breaks; admission refuses them.
    public var value: String

    /// Takes the text as it is; `isValid` says whether it may be sent.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// A token of RFC 9110 §5.6.2 as name, no control characters in the value.
    public var isValid: Bool {
        Self.isToken(name)
            && value.utf8.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }
    }

    /// Whether it may say who asks: then entries are shared with nobody who says something else,
    /// and it does not go along where a redirect leads to another host. Only what is known to say
    /// nothing of who asks is no credential; applications name theirs as they like.
    public var isCredential: Bool { !Self.anonymous.contains(name.lowercased()) }

    /// The two conditions are the loader's own.
    private static let anonymous: Set<String> = [
        "accept", "accept-language", "cache-control", "dnt", "dpr", "if-modified-since",
        "if-none-match", "pragma", "priority", "save-data", "traceparent", "tracestate",
        "user-agent", "viewport-width", "width", "x-request-id",
    ]

    /// Why neither clients nor operators may say it; `nil` for all that they may.
    ///
    /// `Host` would name another site than the URL, for which `sources` and the address policy were
    /// asked. Some say where a message ends, or what becomes of a connection that transfers share
    /// (RFC 9110 §7.6.1, RFC 9112 §11.2). Others ask for something else than the image, such as a
    /// part of it, which would then be stored as the image.
    public var refusal: String? {
        let name = name.lowercased()
        if name == "host" { return "the host is that of the URL" }
        if name == "accept-encoding" { return "the loader says which codings it undoes" }
        if Self.conditions.contains(name) {
            return "the loader asks for the whole image, and under its own conditions"
        }
        guard Self.framing.contains(name) || name.hasPrefix("proxy-") else { return nil }
        return "how messages and connections end is said by the loader"
    }

    /// RFC 9110 §13.1 and §14.2.
    private static let conditions: Set<String> = [
        "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since",
        "range",
    ]

    private static let framing: Set<String> = [
        "connection", "content-length", "expect", "http2-settings", "keep-alive", "te", "trailer",
        "transfer-encoding", "upgrade",
    ]

    /// The same bytes: Swift's texts are equal by meaning, and credentials must not be.
    public static func == (left: HTTPHeader, right: HTTPHeader) -> Bool {
        left.name.utf8.elementsEqual(right.name.utf8)
            && left.value.utf8.elementsEqual(right.value.utf8)
    }

    /// Whether a text is a token (RFC 9110 §5.6.2).
    package static func isToken(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(isTokenByte)
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: true
        default: false
        }
    }
}
