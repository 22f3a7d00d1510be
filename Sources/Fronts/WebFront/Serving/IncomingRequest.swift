/// A request as it came in, whatever server it came to: what its head says.
package struct IncomingRequest {
    package let method: String
    /// As it was written.
    package let target: String
    /// The value of a field, whatever the case of its name; where it has several lines, of all
    /// (RFC 9110 §5.3).
    package let field: (String) -> String?

    package init(_ method: String, _ target: String, field: @escaping (String) -> String?) {
        (self.method, self.target, self.field) = (method, target, field)
    }

    /// Bytes of the body, where their count is said.
    var bodyBytes: Int? { field("Content-Length").flatMap { Int($0) } }
}
