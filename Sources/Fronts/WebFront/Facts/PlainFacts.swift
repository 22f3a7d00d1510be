import ImageModel

/// What `/info` says: every name is always there, null where nothing is known.
struct PlainFacts: Encodable {
    let format: String
    let mimeType: String?
    /// As displayed.
    let width, height: Int
    let pages: Int
    let hasAlpha: Bool
    let bits: Int
    let isHDR: Bool
    /// As the file says it, 1 to 8.
    let orientation: Int?
    /// What its ICC profile calls itself.
    let profile: String?
    /// As CSS writes them: `#rrggbb`, with alpha `#rrggbbaa`.
    let averageColour, dominantColour: String?
    /// In Base64.
    let thumbHash: String?

    init(_ info: ImageInfo, _ facts: ImageFacts?) {
        format = info.format.name
        mimeType = info.format.mimeType
        (width, height) = (info.size.width, info.size.height)
        (pages, hasAlpha) = (info.pages, info.hasAlpha)
        (bits, isHDR) = (info.bits, info.isHDR)
        (orientation, profile) = (facts?.orientation, facts?.profile)
        averageColour = facts?.average.map { Self.css($0) }
        dominantColour = facts?.dominant.map { Self.css($0) }
        thumbHash = facts?.thumbHash
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

    static func css(_ colour: Colour) -> String {
        let parts = [colour.red, colour.green, colour.blue]
        let all = colour.alpha == 255 ? parts : parts + [colour.alpha]
        return "#"
            + all.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
