import CMessages
import ImageModel
import Messages

/// Name and value together have the limit of a text.
private enum ErrorDetailLimits: DetailLimits {
    static var nameMax: Int { MessageLimits.textBytesMax }
    static func valueMax(beside name: String) -> Int { nameMax - name.utf8.count }
}

extension ImageError: WireMessage {
    typealias Form = Imagebus__V1__Error
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__error__init }
    static var blank: Self { Self(.internalError, "") }

    /// An error always gets out: what is too long is cut, NULs become spaces, details beyond the
    /// limit are left out, the last names first.
    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        var (message, details) = (
            Self.cut(self.message, to: MessageLimits.textBytesMax), travellingDetails
        )
        try map.details(
            &details, ErrorDetailLimits.self, &wire.pointee.n_details, &wire.pointee.details,
            "Error.details", limit: MessageLimits.detailsMax)
        try map.word(&code, &wire.pointee.code, "Error.code")
        try map.text(
            &message, &wire.pointee.message, "Error.message", limit: MessageLimits.textBytesMax)
        var foreign = self.foreign.map { failure in
            var failure = failure
            failure.domain = Self.cut(failure.domain, to: ForeignFailure.domainBytesMax)
            return failure
        }
        try map.maybe(&foreign, &wire.pointee.foreign, "Error.foreign")
        (self.message, self.details, self.foreign) = (message, details, foreign)
    }

    private var travellingDetails: [String: String] {
        guard !details.isEmpty else { return [:] }
        let named = details.map { (Self.cut($0, to: ErrorDetailLimits.nameMax), $1) }
        let unique = Dictionary(named) { first, _ in first }.sorted { $0.key < $1.key }
        let kept = unique.prefix(MessageLimits.detailsMax).map { name, value in
            (name, Self.cut(value, to: ErrorDetailLimits.valueMax(beside: name)))
        }
        return Dictionary(uniqueKeysWithValues: kept)
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

extension ForeignFailure: WireMessage {
    typealias Form = Imagebus__V1__ForeignFailure
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__foreign_failure__init }
    static var blank: Self { Self(domain: "", code: 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.text(
            &domain, &wire.pointee.domain, "ForeignFailure.domain", limit: Self.domainBytesMax)
        try map.number(&code, &wire.pointee.code, "ForeignFailure.code")
        map.flag(&blocks, &wire.pointee.blocks, "ForeignFailure.blocks")
    }
}
