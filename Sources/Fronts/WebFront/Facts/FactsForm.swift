package import ImageModel
import WebGrammar

/// In whose words a listener says what is known of an image.
package enum FactsForm: Hashable, Sendable, CaseIterable {
    /// Our own: behind `/info`, in place of imgproxy's.
    case plain
    /// thumbor's `meta`, with imagor's names beside it.
    case thumbor
    /// The `info.json` of the IIIF Image API 3.0.
    case iiif

    /// What is asked of the stack besides what every image has. Colours and hashes need its pixels;
    /// who wants a size alone is not made to wait for them.
    package var wanted: WantedFacts {
        switch self {
        case .plain: WantedFacts([.header, .colours, .thumbHash])
        case .thumbor: WantedFacts([.header])
        case .iiif: WantedFacts()
        }
    }

    /// Fields of the request on which the answer depends.
    package var varies: [String] { self == .iiif ? ["Accept"] : [] }

    /// The type of the document for who accepts that. JSON-LD is the form of the IIIF Image API;
    /// plain JSON is for those who name it and not the other (section 5.2).
    package func contentType(_ accept: String?) -> String {
        guard self == .iiif else { return "application/json" }
        let ranges = (accept ?? "").lowercased().split(separator: ",").map {
            $0.split(separator: ";", omittingEmptySubsequences: false)[0].trimmedOfBlanks
        }
        guard ranges.contains("application/json"), !ranges.contains("application/ld+json") else {
            return "application/ld+json;profile=\"\(IIIFFacts.context)\""
        }
        return "application/json"
    }
}

/// How facts are answered.
package struct FactsSettings: Sendable {
    package var form = FactsForm.plain
    /// The URL under which clients see this listener, without a slash at its end; `nil`: as they
    /// say in `Host`, by http.
    package var publicURL: String?

    package init(_ form: FactsForm = .plain) { self.form = form }
}
