package import JSON
package import Model
import Reporting
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
    init(_ settings: WebFrontSettings, path: String, host: String?, accept: String?) {
        form = settings.propertiesForm
        contentType = form.contentType(accept)
        let place = settings.publicURL ?? "http://\(Self.authority(host))"
        let end = "/info.json"
        id = place + (path.hasSuffix(end) ? String(path.dropLast(end.utf8.count)) : path)
    }

    /// Returns the validated `Host` (RFC 9110 §7.2), which is untrusted.
    private static func authority(_ host: String?) -> String {
        guard let host, (1...255).contains(host.utf8.count),
            host.utf8.allSatisfy({
                $0.isUnreserved || ":[]".utf8.contains($0)
            })
        else { return "localhost" }
        return host
    }

    /// Returns the document; throws if it can't be encoded.
    package func document(
        _ info: ImageInfo, _ properties: ImageProperties?, url: String
    ) throws(JSONError) -> [UInt8] {
        let document =
            switch form {
            case .plain: JSONObject.plain(info, properties)
            case .thumbor: JSONObject.thumbor(info, properties, url: url)
            case .iiif: JSONObject.iiif(info, id: id)
            case .weserv: JSONObject.weserv(info, properties)
            }
        return Array(try JSONWriter.text(document).utf8)
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
    /// weserv's `output=json`.
    case weserv

    /// The properties to request from the stack besides the basic ones and those that the path
    /// names. Colors and hashes require decoding the pixels, so they are omitted where clients
    /// typically need only the size.
    package var wanted: RequestedProperties {
        switch self {
        case .plain: RequestedProperties([.header, .colors, .thumbHash])
        case .thumbor, .weserv: RequestedProperties([.header])
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
            return "application/ld+json;profile=\"\(JSONObject.iiifContext)\""
        }
        return "application/json"
    }
}

extension JSONObject {
    /// Returns the response to `/info`: every member is always present, and null if unknown.
    fileprivate static func plain(_ info: ImageInfo, _ properties: ImageProperties?) -> JSONObject {
        [
            "format": info.format.name, "mimeType": info.format.mimeType,
            // As displayed.
            "width": info.size.width, "height": info.size.height, "pages": info.pages,
            "hasAlpha": info.hasAlpha, "bits": info.bits, "isHDR": info.isHDR,
            // The value in the file, 1 to 8.
            "orientation": properties?.orientation,
            // The name of the ICC profile.
            "profile": properties?.profile,
            "averageColour": properties?.average.map(css),
            "dominantColour": properties?.dominant.map(css),
            // Base64-encoded.
            "thumbHash": properties?.thumbHash,
        ]
    }

    /// Returns a color in CSS notation: `#rrggbb`, or `#rrggbbaa` with alpha.
    private static func css(_ color: Color) -> String {
        let parts = [color.red, color.green, color.blue]
        let all = color.alpha == 255 ? parts : parts + [color.alpha]
        return "#"
            + all.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Returns thumbor's `meta` document, with imagor's names for the same properties.
    fileprivate static func thumbor(
        _ info: ImageInfo, _ properties: ImageProperties?, url: String
    ) -> JSONObject {
        let (width, height, pages) = (info.size.width, info.size.height, info.pages)
        let source: JSONObject = [
            "url": url, "width": width, "height": height, "frameCount": pages,
        ]
        let target: JSONObject = ["width": width, "height": height]
        // There are never operations, because the properties are those of the source.
        let account: JSONObject = [
            "source": source, "operations": [String](), "target": target,
        ]
        var document: JSONObject = [
            "thumbor": account, "format": info.format.name, "width": width, "height": height,
            // The orientation is the value in the file; 1 if there is none.
            "pages": pages, "orientation": properties?.orientation ?? 1,
        ]
        if let type = info.format.mimeType { document["content_type"] = type }
        // What the filters avgcolor, blurhash and thumbhash of imagor request.
        if let color = properties?.average {
            let parts: JSONObject = [
                "r": Int(color.red), "g": Int(color.green), "b": Int(color.blue),
            ]
            document["average_color"] = parts
        }
        if let hash = properties?.blurHash { document["blurhash"] = hash }
        if let hash = properties?.thumbHash { document["thumbhash"] = hash }
        return document
    }

    /// Returns weserv's document, without the members that are not known here.
    fileprivate static func weserv(
        _ info: ImageInfo, _ properties: ImageProperties?
    ) -> JSONObject {
        [
            "format": info.format.name, "width": info.size.width, "height": info.size.height,
            "depth": info.bits > 8 ? "ushort" : "uchar", "pages": info.pages,
            "hasProfile": properties?.profile != nil, "hasAlpha": info.hasAlpha,
        ]
    }

    fileprivate static let iiifContext = "http://iiif.io/api/image/3/context.json"

    /// Returns the `info.json` of an image (IIIF Image API 3.0, section 5). Features beyond Level 2
    /// that `Proto/WEB.md` documents are listed as extra, except for enlarging with `^`: a service
    /// that lists it must also state the maximum size, which `^max` would then select (sections 4.2
    /// and 5.7).
    ///
    /// - Parameter id: The base URI of the image.
    fileprivate static func iiif(_ info: ImageInfo, id: String) -> JSONObject {
        [
            "@context": iiifContext, "id": id, "type": "ImageService3",
            "protocol": "http://iiif.io/api/image", "profile": "level2",
            "width": info.size.width, "height": info.size.height,
            "extraFormats": ["webp", "gif", "tif"],
            "extraQualities": ["color", "gray"],
            "extraFeatures": ["mirroring", "rotationArbitrary"],
        ]
    }
}
