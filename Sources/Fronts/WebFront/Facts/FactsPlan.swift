package import ImageModel
package import JSON

/// How the facts of one request are said.
package struct FactsPlan: Hashable, Sendable {
    let form: FactsForm
    package let contentType: String
    /// The URI of what is asked about: IIIF's `id`.
    let id: String

    /// - Parameters:
    ///   - path: of the request, without its query.
    ///   - host: the field `Host`; one that is none counts as `localhost`.
    init(_ settings: FactsSettings, path: String, host: String?, accept: String?) {
        form = settings.form
        contentType = settings.form.contentType(accept)
        let place = settings.publicURL ?? "http://\(Self.authority(host))"
        let end = "/info.json"
        id = place + (path.hasSuffix(end) ? String(path.dropLast(end.utf8.count)) : path)
    }

    /// What may stand in `Host` (RFC 9110 §7.2), which anybody may write anything into.
    private static func authority(_ host: String?) -> String {
        guard let host, (1...255).contains(host.utf8.count), host.utf8.allSatisfy(isOfHost) else {
            return "localhost"
        }
        return host
    }

    private static func isOfHost(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "-._~:[]".utf8.contains(byte)
        }
    }

    /// The document; throws where it cannot be written.
    package func document(
        _ info: ImageInfo, _ facts: ImageFacts?, url: String
    ) throws(JSONError) -> [UInt8] {
        switch form {
        case .plain: try Self.text(PlainFacts(info, facts))
        case .thumbor: try Self.text(ThumborFacts(info, facts, url: url))
        case .iiif: try Self.text(IIIFFacts(info, id: id))
        }
    }

    private static func text(_ document: some Encodable) throws(JSONError) -> [UInt8] {
        Array(try JSONWriter.text(document).utf8)
    }
}
