import ImageModel
import Vips

/// What stays of the metadata of a file that is delivered without being decoded: how it is turned,
/// and who made it and whose it is where the request keeps that.
struct PassedMetadata {
    /// A block of EXIF without a prefix; empty: none.
    private(set) var exif: [UInt8] = []
    private(set) var xmp: [UInt8] = []
    private(set) var iptc: [UInt8] = []

    /// Nothing.
    init() {}

    /// - Throws: what reading the header throws.
    init(of source: SourceImage, _ choice: MetadataChoice) throws(ImageError) {
        let image = try source.openHeader()
        let keepsRights = choice == .copyright
        let orientation = source.orientation.exif
        exif =
            image.withEXIF {
                ExifBlock.made(orientation, rightsOf: keepsRights ? ExifBlock($0) : nil)
            } ?? ExifBlock.made(orientation, rightsOf: nil)
        guard keepsRights else { return }
        xmp = Self.fitting(image.withXMP { XMPRights.read($0) } ?? nil)
        iptc = Self.fitting(image.withIPTC { IPTCRecords($0)?.rights } ?? nil)
    }

    private static func fitting(_ bytes: [UInt8]?) -> [UInt8] {
        guard let bytes, bytes.count <= bytesMax else { return [] }
        return bytes
    }

    /// Bytes of a block, as of one beside pixels (SEMANTICS §11.22).
    private static let bytesMax = 65_500
}
