import ImageModel

/// What thumbor says of an image behind `meta`, and beside it the names by which imagor says it.
struct ThumborFacts: Encodable {
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
        /// None: facts are those of the source.
        let operations: [String] = []
        let target: Side
    }

    let thumbor: Account
    let format: String
    let contentType: String?
    let width, height: Int
    let pages: Int
    /// As the file says it; 1 where it does not.
    let orientation: Int

    private enum CodingKeys: String, CodingKey {
        case thumbor, format, width, height, pages, orientation
        case contentType = "content_type"
    }

    init(_ info: ImageInfo, _ facts: ImageFacts?, url: String) {
        (width, height, pages) = (info.size.width, info.size.height, info.pages)
        thumbor = Account(
            source: Source(url: url, width: width, height: height, frameCount: pages),
            target: Side(width: width, height: height))
        (format, contentType) = (info.format.name, info.format.mimeType)
        orientation = facts?.orientation ?? 1
    }
}
