package import JSON
package import Model
import WebGrammar

/// How the image properties for one request are formatted.
package struct PropertiesPlan: Hashable, Sendable {
    let form: PropertiesForm
    package let contentType: String
    /// The URI of the image: IIIF's `id`.
    let id: String

    /// - Parameters:
    ///   - path: The path of the request, without its query.
    ///   - host: The field `Host`; an invalid one counts as `localhost`.
    init(_ settings: PropertiesSettings, path: String, host: String?, accept: String?) {
        form = settings.form
        contentType = settings.form.contentType(accept)
        let place = settings.publicURL ?? "http://\(Self.authority(host))"
        let end = "/info.json"
        id = place + (path.hasSuffix(end) ? String(path.dropLast(end.utf8.count)) : path)
    }

    /// Returns the validated `Host` (RFC 9110 §7.2), which is untrusted.
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

    /// Returns the document; throws if it can't be encoded.
    package func document(
        _ info: ImageInfo, _ properties: ImageProperties?, url: String
    ) throws(JSONError) -> [UInt8] {
        switch form {
        case .plain: try Self.text(PlainProperties(info, properties))
        case .thumbor: try Self.text(ThumborProperties(info, properties, url: url))
        case .iiif: try Self.text(IIIFProperties(info, id: id))
        }
    }

    private static func text(_ document: some Encodable) throws(JSONError) -> [UInt8] {
        Array(try JSONWriter.text(document).utf8)
    }
}

/// The format in which a listener returns image properties.
package enum PropertiesForm: Hashable, Sendable, CaseIterable {
    /// Our own format, returned for `/info` in place of imgproxy's.
    case plain
    /// thumbor's `meta`, with imagor's property names in addition.
    case thumbor
    /// The `info.json` of the IIIF Image API 3.0.
    case iiif

    /// The properties to request from the stack besides the basic ones. Colors and hashes require
    /// decoding the pixels, so they are omitted where clients typically need only the size.
    package var wanted: RequestedProperties {
        switch self {
        case .plain: RequestedProperties([.header, .colors, .thumbHash])
        case .thumbor: RequestedProperties([.header])
        case .iiif: RequestedProperties()
        }
    }

    /// The request fields on which the response depends.
    package var varies: [String] { self == .iiif ? ["Accept"] : [] }

    /// Returns the content type for an `Accept` field. JSON-LD is the format of the IIIF Image API;
    /// plain JSON is for clients that accept it and not JSON-LD (section 5.2).
    package func contentType(_ accept: String?) -> String {
        guard self == .iiif else { return "application/json" }
        let ranges = (accept ?? "").lowercased().split(separator: ",").map {
            $0.split(separator: ";", omittingEmptySubsequences: false)[0].trimmedOfBlanks
        }
        guard ranges.contains("application/json"), !ranges.contains("application/ld+json") else {
            return "application/ld+json;profile=\"\(IIIFProperties.context)\""
        }
        return "application/json"
    }
}

/// How image properties are returned.
package struct PropertiesSettings: Sendable {
    package var form = PropertiesForm.plain
    /// The URL of this listener as seen by clients, without a trailing slash; `nil` derives it from
    /// `Host`, with http.
    package var publicURL: String?

    package init(_ form: PropertiesForm = .plain) { self.form = form }
}

/// The response to `/info`: every member is always present, and null if unknown.
struct PlainProperties: Encodable {
    let format: String
    let mimeType: String?
    /// As displayed.
    let width, height: Int
    let pages: Int
    let hasAlpha: Bool
    let bits: Int
    let isHDR: Bool
    /// The value in the file, 1 to 8.
    let orientation: Int?
    /// The name of the ICC profile.
    let profile: String?
    /// In CSS notation: `#rrggbb`, or `#rrggbbaa` with alpha.
    let averageColour, dominantColour: String?
    /// Base64-encoded.
    let thumbHash: String?

    init(_ info: ImageInfo, _ properties: ImageProperties?) {
        format = info.format.name
        mimeType = info.format.mimeType
        (width, height) = (info.size.width, info.size.height)
        (pages, hasAlpha) = (info.pages, info.hasAlpha)
        (bits, isHDR) = (info.bits, info.isHDR)
        (orientation, profile) = (properties?.orientation, properties?.profile)
        averageColour = properties?.average.map { Self.css($0) }
        dominantColour = properties?.dominant.map { Self.css($0) }
        thumbHash = properties?.thumbHash
    }

    private enum Names: String, CodingKey {
        case format, mimeType, width, height, pages, hasAlpha, bits, isHDR, orientation, profile
        case averageColour, dominantColour, thumbHash
    }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Names.self)
        try members.encode(format, forKey: .format)
        try members.encode(mimeType, forKey: .mimeType)
        try members.encode(width, forKey: .width)
        try members.encode(height, forKey: .height)
        try members.encode(pages, forKey: .pages)
        try members.encode(hasAlpha, forKey: .hasAlpha)
        try members.encode(bits, forKey: .bits)
        try members.encode(isHDR, forKey: .isHDR)
        try members.encode(orientation, forKey: .orientation)
        try members.encode(profile, forKey: .profile)
        try members.encode(averageColour, forKey: .averageColour)
        try members.encode(dominantColour, forKey: .dominantColour)
        try members.encode(thumbHash, forKey: .thumbHash)
    }

    static func css(_ color: Color) -> String {
        let parts = [color.red, color.green, color.blue]
        let all = color.alpha == 255 ? parts : parts + [color.alpha]
        return "#"
            + all.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

/// thumbor's `meta` document, with imagor's names for the same properties.
struct ThumborProperties: Encodable {
    struct Side: Encodable {
        let width, height: Int
    }

    struct Source: Encodable {
        let url: String
        let width, height: Int
        let frameCount: Int
    }

    struct Account: Encodable {
        let source: Source
        /// Always empty, because the properties are those of the source.
        let operations: [String] = []
        let target: Side
    }

    let thumbor: Account
    let format: String
    let contentType: String?
    let width, height: Int
    let pages: Int
    /// The value in the file; 1 if there is none.
    let orientation: Int

    private enum CodingKeys: String, CodingKey {
        case thumbor, format, width, height, pages, orientation
        case contentType = "content_type"
    }

    init(_ info: ImageInfo, _ properties: ImageProperties?, url: String) {
        (width, height, pages) = (info.size.width, info.size.height, info.pages)
        thumbor = Account(
            source: Source(url: url, width: width, height: height, frameCount: pages),
            target: Side(width: width, height: height))
        (format, contentType) = (info.format.name, info.format.mimeType)
        orientation = properties?.orientation ?? 1
    }
}

/// The `info.json` of an image (IIIF Image API 3.0, section 5). Features beyond Level 2 that
/// `Proto/WEB.md` documents are listed as extra, except for enlarging with `^`: a service that
/// lists it must also state the maximum size, which `^max` would then select (sections 4.2 and
/// 5.7).
struct IIIFProperties: Encodable {
    static let context = "http://iiif.io/api/image/3/context.json"

    /// The base URI of the image.
    let id: String
    let width, height: Int

    private enum Names: String, CodingKey {
        case context = "@context"
        case id, type, `protocol`, profile, width, height
        case extraFormats, extraQualities, extraFeatures
    }

    init(_ info: ImageInfo, id: String) {
        self.id = id
        (width, height) = (info.size.width, info.size.height)
    }

    private static let formats = ["webp", "gif", "tif"]
    private static let qualities = ["color", "gray"]
    private static let features = ["mirroring", "rotationArbitrary"]

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Names.self)
        try members.encode(Self.context, forKey: .context)
        try members.encode(id, forKey: .id)
        try members.encode("ImageService3", forKey: .type)
        try members.encode("http://iiif.io/api/image", forKey: .protocol)
        try members.encode("level2", forKey: .profile)
        try members.encode(width, forKey: .width)
        try members.encode(height, forKey: .height)
        try members.encode(Self.formats, forKey: .extraFormats)
        try members.encode(Self.qualities, forKey: .extraQualities)
        try members.encode(Self.features, forKey: .extraFeatures)
    }
}
