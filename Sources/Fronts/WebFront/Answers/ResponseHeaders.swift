import ImageModel
package import WebGrammar

/// Fields that the operator adds to all answers (imgproxy's `IMGPROXY_CUSTOM_RESPONSE_HEADERS`).
package struct ResponseHeaders: Hashable, Sendable {
    private let fields: [AnswerHead.Field]

    /// Fields of one listener.
    package static let countMax = 32
    /// Bytes of all of them.
    package static let bytesMax = 4_096

    /// None.
    package init() { fields = [] }

    /// `NAME=VALUE`, several with line ends or imgproxy's `\;` between. Throws for what is no field
    /// and for fields that the gateway makes for each answer.
    package init(_ text: String) throws(GrammarError) {
        let lines = text.replacing("\\;", with: "\n").split(whereSeparator: \.isNewline)
        var fields: [AnswerHead.Field] = []
        for line in lines { fields.append(try Self.field(line)) }
        guard !fields.isEmpty, fields.count <= Self.countMax, text.utf8.count <= Self.bytesMax
        else {
            throw GrammarError(
                .malformed,
                "from 1 to \(Self.countMax) headers of \(Self.bytesMax) bytes in all are accepted")
        }
        self.fields = fields
    }

    private static func field(_ line: Substring) throws(GrammarError) -> AnswerHead.Field {
        let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let (name, value) = (
            String(parts[0].trimmedOfBlanks), String((parts.last ?? "").trimmedOfBlanks)
        )
        guard parts.count == 2, !value.isEmpty, HTTPHeader(name: name, value: value).isValid else {
            throw GrammarError(
                .malformed,
                "'\(line.prefix(60))' is not a header: write NAME=VALUE, and \\; between several")
        }
        guard !own.contains(name.lowercased()) else {
            throw GrammarError(
                .malformed, "\(name) is made for each answer and cannot be set: leave it out")
        }
        return AnswerHead.Field(name, value)
    }

    /// What says which bytes follow, how long they may be kept and what a browser may do with them.
    private static let own: Set<String> = [
        "accept-ranges", "access-control-allow-origin", "age", "allow", "cache-control",
        "connection", "content-disposition", "content-encoding", "content-length", "content-range",
        "content-security-policy", "content-type", "date", "etag", "expires", "keep-alive",
        "last-modified", "location", "repr-digest", "retry-after", "trailer", "transfer-encoding",
        "upgrade", "vary", "www-authenticate", "x-content-type-options",
    ]

    /// The head with these fields; those of the same name give way.
    func added(to head: AnswerHead) -> AnswerHead {
        guard !fields.isEmpty else { return head }
        var head = head
        let names = Set(fields.map { $0.name.lowercased() })
        head.fields.removeAll { names.contains($0.name.lowercased()) }
        head.fields += fields
        return head
    }
}
