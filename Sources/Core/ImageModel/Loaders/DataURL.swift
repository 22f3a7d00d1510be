/// A `data:` URL taken apart (RFC 2397): `data:image/png;base64,iVBORw0…`.
public struct DataURL: Hashable, Sendable {
    /// With its parameters; `text/plain;charset=US-ASCII` where the URL says none.
    public let mediaType: String
    private let isBase64: Bool
    private let body: [UInt8]

    /// Bytes of a media type.
    static let typeBytesMax = 256

    /// Throws `invalidURL` where there is no comma, no media type that can be one, or a fragment.
    public init(_ url: SourceURL) throws(ImageError) {
        let text = url.withoutUserInfo.utf8.dropFirst(url.scheme.utf8.count + 1)
        guard url.userInfo == nil, let comma = text.firstIndex(of: UInt8(ascii: ",")) else {
            throw Self.fault("it is data:TYPE;base64,BYTES, or data:TYPE,TEXT")
        }
        guard !text.contains(UInt8(ascii: "#")) else {
            throw Self.fault("it has no fragment; # is written %23")
        }
        let (type, isBase64) = Self.takingMark(String(decoding: text[..<comma], as: UTF8.self))
        guard type.utf8.count <= Self.typeBytesMax, Self.isType(type) else {
            throw Self.fault("before the comma stands a media type such as image/png")
        }
        mediaType = type.isEmpty ? "text/plain;charset=US-ASCII" : type
        self.isBase64 = isBase64
        body = Array(text[comma...].dropFirst())
    }

    /// The bytes. Throws `invalidURL` where they are not written as the URL says.
    public func bytes() throws(ImageError) -> [UInt8] {
        guard let decoded = PercentCoding.decode(body) else {
            throw Self.fault("a % is followed by two hexadecimal digits")
        }
        guard isBase64 else { return decoded }
        guard let bytes = Base64.decode(decoded) else {
            throw Self.fault("its bytes are Base64 with its padding, without spaces (RFC 4648 §4)")
        }
        return bytes
    }

    private static func takingMark(_ text: String) -> (type: String, isBase64: Bool) {
        let mark = ";base64"
        guard text.utf8.count >= mark.utf8.count, text.suffix(mark.count).lowercased() == mark
        else { return (text, false) }
        return (String(text.dropLast(mark.count)), true)
    }

    /// Nothing, parameters alone, or a type of two parts with parameters.
    private static func isType(_ text: String) -> Bool {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return false }
        let name = text.prefix { $0 != ";" }
        guard !name.isEmpty else { return true }
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { HTTPHeader.isToken($0) }
    }

    private static func fault(_ reason: String) -> ImageError {
        ImageError(.invalidURL, "the data URL cannot be read: \(reason)")
    }
}
