import ImageModel

/// The `info.json` of an image (IIIF Image API 3.0, section 5). What Level 2 does not ask for, and
/// `Proto/WEB.md` has, is named as extra; but not that sizes with `^` enlarge: who says so has to
/// say up to which size, and `^max` would be that size (sections 4.2 and 5.7).
struct IIIFFacts: Encodable {
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
