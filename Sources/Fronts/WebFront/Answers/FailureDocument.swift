import JSON

/// An error as a JSON object.
struct FailureDocument: Encodable {
    let status: Int
    /// The name of the error.
    let error: String
    /// A sentence for people.
    let message: String

    private enum Names: String, CodingKey { case status, error, message }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Names.self)
        try members.encode(status, forKey: .status)
        try members.encode(error, forKey: .error)
        try members.encode(message, forKey: .message)
    }

    /// Its bytes; `nil` where it cannot be written.
    var text: [UInt8]? { (try? JSONWriter.text(self)).map { Array(($0 + "\n").utf8) } }
}
