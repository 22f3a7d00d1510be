internal import CMicroHTTPD

/// The lines of one field in a head. They are one value: whoever sends a list may say each of its
/// members in a line of its own, and proxies do (RFC 9110 §5.3). What is no list is none of several
/// lines either: with commas in it, it says nothing.
struct FieldLines {
    private let name: String
    /// All of them, commas between, semicolons between cookies (RFC 6265 §4.2.1); `nil`: there is
    /// none.
    private(set) var value: String?

    /// None yet.
    init(of name: String) { self.name = name }

    /// Takes the next line of a head if it is one of the field.
    mutating func take(
        _ name: UnsafeBufferPointer<CChar>, _ value: UnsafeBufferPointer<CChar>
    ) {
        guard name.count == self.name.utf8.count, isName(name) else { return }
        let text = String(decoding: UnsafeRawBufferPointer(value), as: UTF8.self)
        self.value = self.value.map { "\($0)\(separator) \(text)" } ?? text
    }

    private var separator: String { name.lowercased() == "cookie" ? ";" : "," }

    private func isName(_ bytes: UnsafeBufferPointer<CChar>) -> Bool {
        zip(name.utf8, bytes).allSatisfy {
            HeadCharacters.lowercased($0) == HeadCharacters.lowercased(UInt8(bitPattern: $1))
        }
    }
}

extension FieldLines {
    /// The value of a field of a request that is not over.
    static func value(of name: String, on connection: OpaquePointer) -> String? {
        // Most fields that are asked for are not there, and the library is quick to say so.
        guard MHD_lookup_connection_value(connection, .HEADER_KIND, name) != nil else {
            return nil
        }
        var lines = FieldLines(of: name)
        withUnsafeMutablePointer(to: &lines) { lines in
            _ = MHD_get_connection_values_n(
                connection, .HEADER_KIND, takeLine, UnsafeMutableRawPointer(lines))
        }
        return lines.value
    }
}

/// What the library calls for each field, in the order of their lines.
private func takeLine(
    _ lines: UnsafeMutableRawPointer?, _: MHD_ValueKind, _ name: UnsafePointer<CChar>?,
    _ nameCount: Int, _ value: UnsafePointer<CChar>?, _ valueCount: Int
) -> MHD_Result {
    guard let lines = lines?.assumingMemoryBound(to: FieldLines.self), let name, let value
    else { return .NO }
    lines.pointee.take(
        UnsafeBufferPointer(start: name, count: nameCount),
        UnsafeBufferPointer(start: value, count: valueCount))
    return .YES
}
