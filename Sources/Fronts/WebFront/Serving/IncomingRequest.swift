/// A request as it came in, whatever server it came to: what its head says.
package struct IncomingRequest {
    package let method: String
    /// Path and query as they were written.
    package let target: String
    /// The value of a field, whatever the case of its name; where it has several lines, of all
    /// (RFC 9110 §5.3).
    package let field: (String) -> String?

    /// Takes a request whose target may be in absolute form (RFC 9112 §3.2.2): the host that it
    /// names takes the place of the field `Host`.
    package init(_ method: String, _ target: String, field: @escaping (String) -> String?) {
        self.method = method
        guard let (host, rest) = Self.parts(ofAbsolute: target) else {
            (self.target, self.field) = (target, field)
            return
        }
        self.target = rest.hasPrefix("/") ? rest : "/\(rest)"
        self.field = { name in name.lowercased() == "host" ? host : field(name) }
    }

    private static func parts(ofAbsolute target: String) -> (host: String, rest: String)? {
        guard !target.hasPrefix("/"), let mark = target.firstRange(of: "://"),
            ["http", "https"].contains(target[..<mark.lowerBound].lowercased())
        else { return nil }
        let rest = target[mark.upperBound...]
        let host = rest.prefix { $0 != "/" && $0 != "?" }
        guard !host.isEmpty else { return nil }
        return (String(host), String(rest[host.endIndex...]))
    }

    /// The target without its query.
    package var path: Substring { target.prefix { $0 != "?" } }

    /// Bytes of the body, where their count is said.
    var bodyBytes: Int? { field("Content-Length").flatMap { Int($0) } }
}
