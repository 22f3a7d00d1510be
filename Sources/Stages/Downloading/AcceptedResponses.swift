import Curl

/// Which responses bring an image.
public struct AcceptedResponses: Hashable, Sendable {
    /// Their statuses. A 206 and a 304 are none of them unless they were asked for.
    public var statuses = [200...299]
    /// Their content types in lower case, `image/*` for all that begin so; empty: all. What says
    /// no type is accepted, as upstream.
    public var types: [String] = []

    /// Any type with a status of success.
    public init() {}

    func take(_ head: ResponseHead) throws(DownloadFailure) {
        guard head.status != 206, head.status != 304,
            statuses.contains(where: { $0.contains(head.status) })
        else { throw .status(head) }
        if let field = head.value("content-type") { try take(type: field) }
    }

    /// What is said to be of this type, with its parameters.
    func take(type field: String) throws(DownloadFailure) {
        guard !types.isEmpty else { return }
        let type = String(field.prefix { $0 != ";" && $0 != " " }).lowercased()
        guard type.isEmpty || types.contains(where: { Self.matches($0, type) }) else {
            throw .contentType(type)
        }
    }

    private static func matches(_ pattern: String, _ type: String) -> Bool {
        pattern.hasSuffix("/*") ? type.hasPrefix(pattern.dropLast()) : type == pattern
    }
}
