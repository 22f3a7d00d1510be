/// An image format. Raw values up to 10 are SDWebImage's (SEMANTICS §1.2), ours start at 100.
///
/// What is known of each is its row in `FormatTraits.rows`.
public enum ImageFormat: Int16, Hashable, Sendable, CaseIterable {
    /// Not recognised.
    case undefined = -1
    /// JPEG.
    case jpeg = 0
    /// PNG, APNG included.
    case png = 1
    /// GIF.
    case gif = 2
    /// TIFF.
    case tiff = 3
    /// WebP.
    case webp = 4
    /// HEIF with HEVC.
    case heic = 5
    /// Other HEIF.
    case heif = 6
    /// PDF.
    case pdf = 7
    /// SVG.
    case svg = 8
    /// BMP.
    case bmp = 9
    /// Camera raw.
    case raw = 10
    /// AVIF.
    case avif = 100
    /// JPEG XL.
    case jxl = 101
    /// JPEG 2000.
    case jpeg2000 = 102
    /// Photoshop's documents.
    case psd = 103
    /// OpenEXR.
    case exr = 104
    /// Icons of Windows.
    case ico = 105
    /// MP4 video.
    case mp4 = 106
    /// QuickTime video.
    case mov = 107
    /// WebM video.
    case webm = 108
    /// Matroska video.
    case mkv = 109
    /// QOI.
    case qoi = 110
    /// Pixels as they are, in PAM of Netpbm: for programs that draw them.
    case pam = 111

    /// The word for it on the command line and in JSON.
    public var name: String { row.traits.name }

    /// Its registered media type; `nil` where there is none.
    public var mimeType: String? { row.traits.mimeType }

    /// The format of that name or of files that end so: `jpg` is `jpeg`. `nil` for other words.
    /// Whoever reads the name of a format reads it with this.
    public init?(name: String) {
        let wanted = name.lowercased()
        guard let row = FormatTraits.rows.first(where: { $0.isCalled(wanted) }) else { return nil }
        self = row.format
    }

    /// The format of files whose name ends so, without the dot; `nil` for other endings.
    public init?(fileExtension: String) {
        let wanted = fileExtension.lowercased()
        guard let row = FormatTraits.rows.first(where: { $0.extensions.contains(wanted) }) else {
            return nil
        }
        self = row.format
    }

    /// Whether this version decodes it.
    public var isDecodable: Bool { row.traits.isDecodable }

    /// Whether this version encodes it.
    public var isEncodable: Bool { row.traits.isEncodable }

    /// Whether the format can carry transparency.
    public var carriesAlpha: Bool { row.traits.carriesAlpha }

    /// The bits of a sample that it is encoded with; none where it is not encoded.
    package var depths: [Int] { row.traits.output?.depths ?? [] }

    /// Whether a high dynamic range is encoded in it.
    package var holdsHDR: Bool { row.traits.output?.holdsHDR == true }

    /// Whether it is encoded by this version, or may be by a program of somebody else which the
    /// configuration grants that. Videos never are.
    package var mayBeEncoded: Bool {
        isEncodable || (self != .undefined && !row.traits.isVideo)
    }

    /// Those that it is true of.
    package static let possiblyEncoded = allCases.filter(\.mayBeEncoded)

    /// The formats that this version decodes.
    public static let decodable = allCases.filter(\.isDecodable)

    /// Those of a family.
    public static func decodable(_ family: FormatFamily) -> [ImageFormat] {
        decodable.filter { $0.row.traits.input?.family == family }
    }

    /// The formats that this version encodes.
    public static let encodable = allCases.filter(\.isEncodable)
}

extension ImageFormat {
    /// Its row.
    package var row: FormatRow { FormatTraits.byFormat[self] ?? .undefined }

    /// All that is known of it.
    package var traits: FormatTraits { row.traits }
}
