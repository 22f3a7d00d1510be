import WebGrammar

/// Which pages of other origins may read answers (Fetch standard, section 3.2).
package struct CrossOriginAccess: Hashable, Sendable {
    private let origins: [String]

    /// Nobody's pages.
    package init() { origins = [] }

    /// `*`, or one origin or several with commas between, such as `https://example.com`; `nil` for
    /// other texts.
    package init?(_ text: String) {
        let origins = text.split(separator: ",", omittingEmptySubsequences: false)
            .map { String($0.trimmedOfBlanks) }
        guard origins == ["*"] || origins.allSatisfy(Self.isOrigin) else { return nil }
        self.origins = origins
    }

    private static func isOrigin(_ text: String) -> Bool {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 3 && parts[0].count > 1 && parts[0].hasSuffix(":")
            && parts[1].isEmpty && !parts[2].isEmpty
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// Whether nobody's pages may.
    package var isNone: Bool { origins.isEmpty }

    /// Whether it depends on the field `Origin` of a request.
    package var varies: Bool { origins.count > 1 }

    /// What a page of that origin is told; the origin counts only where there are several.
    package func granted(to origin: String?) -> String? {
        varies ? origins.first { $0 == origin } : origins.first
    }

    /// The head with the fields that tell browsers.
    package func added(to head: AnswerHead, origin: String?) -> AnswerHead {
        guard !isNone else { return head }
        var head = head
        if varies { head.vary(on: "Origin") }
        guard let granted = granted(to: origin) else { return head }
        head.fields += [
            AnswerHead.Field("Access-Control-Allow-Origin", granted),
            AnswerHead.Field("Timing-Allow-Origin", granted),
            AnswerHead.Field(
                "Access-Control-Expose-Headers",
                "Content-Length, ETag, Retry-After, Server-Timing, traceparent, X-Cache, "
                    + "X-Imagebus-Damaged, X-Imagebus-Error, X-Imagebus-Fallback, "
                    + "X-Imagebus-Still-Of, X-Request-Id"),
        ]
        return head
    }
}

extension AnswerHead {
    /// The answer depends on one more field of the request.
    fileprivate mutating func vary(on name: String) {
        guard let place = fields.firstIndex(where: { $0.name == "Vary" }) else {
            fields.append(Field("Vary", name))
            return
        }
        guard fields[place].value != "*" else { return }
        fields[place] = Field("Vary", "\(fields[place].value), \(name)")
    }
}
