/// What the head of a request says.
package struct RequestHead {
    package let method: String
    /// As it was written.
    package let target: String
    /// The value of a field, whatever the case of its name.
    package let field: (String) -> String?

    package init(_ method: String, _ target: String, field: @escaping (String) -> String?) {
        (self.method, self.target, self.field) = (method, target, field)
    }

    /// Bytes of the body, where their count is said.
    var bodyBytes: Int? { field("Content-Length").flatMap { Int($0) } }
}
