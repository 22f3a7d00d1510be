/// Why a request target is refused.
public struct GrammarError: Error, Hashable, Sendable {
    /// Which kind of reason it is.
    public enum Kind: Hashable, Sendable, CaseIterable {
        /// It says nothing that the grammar knows.
        case malformed
        /// It is not signed, or not by a key that is known.
        case signature
        /// It names a source that the operator does not allow.
        case forbidden
        /// Nothing can be there: it has not the form of any path of the grammar.
        case nowhere
        /// Its time is over.
        case expired
        /// It is longer than any may be.
        case tooLong
        /// It says something that the grammar knows and this server does not do.
        case notOffered

        /// What programs know it by.
        public var name: String {
            switch self {
            case .malformed: "malformedURL"
            case .signature: "notSigned"
            case .forbidden: "sourceForbidden"
            case .nowhere: "notFound"
            case .expired: "expired"
            case .tooLong: "urlTooLong"
            case .notOffered: "notOffered"
            }
        }
    }

    /// Which kind of reason it is.
    public let kind: Kind
    /// The option that is at fault, as it was written; `nil` where that is the target as a whole.
    public let option: String?
    /// One sentence for people, with the name of the option: what is wrong, and what to do.
    public let message: String

    /// Names the reason; the option stands before the sentence.
    public init(_ kind: Kind, _ message: String, option: String? = nil) {
        (self.kind, self.option) = (kind, option)
        self.message = option.map { "\($0): \(message)" } ?? message
    }

    /// The status of the answer (RFC 9110): 404 for what has expired, as imgproxy answers, and for
    /// what is no path of the IIIF Image API, as that asks for; 501 for what is not offered.
    public var status: Int {
        switch kind {
        case .malformed: 400
        case .signature, .forbidden: 403
        case .nowhere, .expired: 404
        case .tooLong: 414
        case .notOffered: 501
        }
    }
}

extension GrammarError: CustomStringConvertible {
    /// `400: width: …`
    public var description: String { "\(status): \(message)" }
}

extension GrammarError {
    static func malformed(_ option: String, _ message: String) -> GrammarError {
        GrammarError(.malformed, message, option: option)
    }

    static func notOffered(_ option: String, _ message: String) -> GrammarError {
        GrammarError(.notOffered, message, option: option)
    }

    /// Without keys no signature helps.
    static func notSigned(_ signature: PathSignature) -> GrammarError {
        GrammarError(
            .signature,
            signature.keys.isEmpty
                ? "this server knows no key and takes no path without a signature: its operator "
                    + "names keys, or permits unsigned paths"
                : "the signature is not that of this path: sign it with a key of this server")
    }
}
