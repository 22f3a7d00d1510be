import Configuration
import ImageModel
import YAML

// What rules change in requests and in answers (SEMANTICS §10.13, §10.14).

extension KeyTable where Target == TransferRule {
    static let request = KeyTable([
        Row("rewrite", .map(.rewrite, URLRewrite.init), \.rewrite),
        Row("remove-headers", .headerNames, \.removedHeaders),
        Row("require-headers", .headerNames, \.requiredHeaders),
    ])
}

extension KeyTable where Target == URLRewrite {
    static let rewrite = KeyTable([
        Row("scheme", .word([("http", "http"), ("https", "https")]), \.scheme),
        Row("host", .host, \.host),
        Row("path-prefix", .pathPrefix, \.pathPrefix),
        Row("query", .query, \.query),
    ])
}

extension KeyTable where Target == ResponseChange {
    static let response = KeyTable([
        Row("status", .statusChanges) { ($0.statuses, $0.everyStatus) = ($1.some, $1.every) },
        Row("headers", .answerHeaders, \.headers),
        Row("remove-headers", .answerHeaderNames, \.removedHeaders),
    ])
}

/// Statuses, and what is put in their place.
struct StatusChanges {
    var some: [Int: Int] = [:]
    var every: Int?
}

extension ValueReader where Value == StatusChanges {
    /// `{404: 200}`; `any` stands for every status of which nothing else is said.
    static let statusChanges = ValueReader { node, name, reading in
        guard case .map(let entries) = node.content, entries.count < TransferTerms.countMax else {
            reading.object(
                node.line,
                "\(name): expected fewer than \(TransferTerms.countMax) statuses, such as "
                    + "{404: 200}")
            return nil
        }
        var changes = StatusChanges()
        for entry in entries {
            let status = ValueReader<Int>.status.read(entry.value, entry.key, &reading)
            if entry.key == "any" {
                changes.every = status
            } else if let from = PlainNumber.integer(entry.key), (200...599).contains(from) {
                changes.some[from] = status
            } else {
                reading.object(entry.line, "\(name): '\(entry.key.prefix(64))' is no status")
            }
        }
        return changes
    }
}

extension ValueReader where Value == Int {
    fileprivate static let status = scalar("a status from 200 to 599") {
        PlainNumber.integer($0).flatMap { (200...599).contains($0) ? $0 : nil }
    }
}

extension ValueReader where Value == String {
    /// Printable ASCII from a `/` on, without a query.
    fileprivate static let pathPrefix = scalar("a path such as /images", isShown: false) { text in
        let isPath = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"?#".utf8.contains($0) }
        return text.hasPrefix("/") && isPath && text.utf8.count <= 512 ? text : nil
    }

    fileprivate static let query = scalar("a query without its '?'", isShown: false) { text in
        let isQuery = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }
        return isQuery && text.utf8.count <= 512 ? text : nil
    }

    /// The name of a header that requests may have.
    fileprivate static let headerName = scalar("the name of a header that the loader leaves to you")
    { text in
        let header = HTTPHeader(name: text, value: "")
        return header.isValid && header.refusal == nil && isShort(text) ? text : nil
    }

    /// The name of a header of answers that does not say where the body ends and what it is of.
    fileprivate static let answerHeaderName = scalar(
        "the name of a header that does not say how the body is sent"
    ) { isOfAnswer($0) ? $0 : nil }

    fileprivate static func isOfAnswer(_ text: String) -> Bool {
        HTTPHeader(name: text, value: "").isValid && isShort(text)
            && !framing.contains(text.lowercased())
    }

    private static func isShort(_ text: String) -> Bool {
        text.utf8.count <= RequestLimits.nameBytesMax
    }

    private static let framing: Set<String> = [
        "accept-ranges", "connection", "content-encoding", "content-length", "content-range",
        "location", "set-cookie", "transfer-encoding", "www-authenticate",
    ]
}

extension ValueReader where Value == [String] {
    static let headerNames = names(.headerName)
    fileprivate static let answerHeaderNames = names(.answerHeaderName)

    private static func names(_ name: ValueReader<String>) -> ValueReader {
        ValueReader { node, key, reading in
            guard let names = list(of: name).read(node, key, &reading) else { return nil }
            guard names.count <= TransferTerms.countMax else {
                reading.object(node.line, "\(key): at most \(TransferTerms.countMax) names")
                return nil
            }
            return names
        }
    }
}

extension ValueReader where Value == [HTTPHeader] {
    /// Names with texts.
    fileprivate static let answerHeaders = ValueReader { node, name, reading in
        guard case .map(let entries) = node.content, entries.count <= TransferTerms.countMax else {
            reading.object(
                node.line, "\(name): expected at most \(TransferTerms.countMax) names with values")
            return nil
        }
        let text = ValueReader<String>.scalar("a text of one line", isShown: false) {
            HTTPHeader(name: "a", value: $0).isValid
                && $0.utf8.count <= TransferTerms.textBytesMax ? $0 : nil
        }
        return entries.compactMap { entry in
            guard ValueReader<String>.isOfAnswer(entry.key) else {
                reading.object(
                    entry.line, "\(name): '\(entry.key.prefix(64))' cannot be set in answers")
                return nil
            }
            return text.read(entry.value, entry.key, &reading)
                .map { HTTPHeader(name: entry.key, value: $0) }
        }
    }
}
