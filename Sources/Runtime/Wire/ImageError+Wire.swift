import CMessages
import ImageModel
import Messages

extension ImageError {
    init(_ wire: Imagebus__V1__Error, _ read: FieldReader) throws(WireError) {
        let pairs = try read.list(
            wire.n_details, wire.details, "Error.details", limit: MessageLimits.detailsMax
        ) { part throws(WireError) in try Self.detail(part, read) }
        let details = Dictionary(pairs) { first, _ in first }
        guard details.count == pairs.count else { throw .field("Error.details", .duplicate) }
        self.init(
            try read.known(wire.code.rawValue, "Error.code"),
            try read.text(wire.message, "Error.message", limit: MessageLimits.textBytesMax),
            details: details)
    }

    /// An error always gets out: what is too long is cut, NULs become spaces, details beyond the
    /// limit are left out, the last names first.
    func wire(_ write: FieldWriter) throws(WireError) -> UnsafeMutablePointer<Imagebus__V1__Error> {
        let limit = MessageLimits.textBytesMax
        let wire = try write.make(imagebus__v1__error__init)
        wire.pointee.code = .init(rawValue: .init(code.rawValue))
        wire.pointee.message = try write.text(
            Self.cut(message, to: limit), "Error.message", limit: limit)
        let details = Self.kept(of: details)
        wire.pointee.n_details = details.count
        wire.pointee.details = try write.list(
            details, "Error.details", limit: MessageLimits.detailsMax
        ) { part throws(WireError) in try Self.wire(part.key, part.value, write) }
        return wire
    }

    private static func kept(of details: [String: String]) -> [(key: String, value: String)] {
        guard !details.isEmpty else { return [] }
        let named = details.map { (cut($0, to: MessageLimits.textBytesMax), $1) }
        let unique = Dictionary(named) { first, _ in first }.sorted { $0.key < $1.key }
        return Array(unique.prefix(MessageLimits.detailsMax))
    }

    private static func detail(_ wire: Imagebus__V1__Detail, _ read: FieldReader)
        throws(WireError) -> (String, String)
    {
        let limit = MessageLimits.textBytesMax
        let name = try read.text(wire.name, "Detail.name", limit: limit)
        let rest = limit - name.utf8.count
        return (name, try read.text(wire.value, "Detail.value", limit: rest))
    }

    private static func wire(_ name: String, _ value: String, _ write: FieldWriter)
        throws(WireError) -> UnsafeMutablePointer<Imagebus__V1__Detail>
    {
        let limit = MessageLimits.textBytesMax
        let wire = try write.make(imagebus__v1__detail__init)
        wire.pointee.name = try write.text(name, "Detail.name", limit: limit)
        let rest = limit - name.utf8.count
        wire.pointee.value = try write.text(cut(value, to: rest), "Detail.value", limit: rest)
        return wire
    }

    /// The text without NULs, up to the last whole character within `limit` bytes.
    private static func cut(_ text: String, to limit: Int) -> String {
        if text.utf8.count <= limit && !text.utf8.contains(0) { return text }
        var end =
            text.utf8.index(
                text.startIndex, offsetBy: limit, limitedBy: text.endIndex) ?? text.endIndex
        while end > text.startIndex, end.samePosition(in: text.unicodeScalars) == nil {
            end = text.utf8.index(before: end)
        }
        let scalars = text[..<end].unicodeScalars.map { $0.value == 0 ? " " : $0 }
        return String(String.UnicodeScalarView(scalars))
    }
}
