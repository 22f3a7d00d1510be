/// An image format. Raw values up to 10 are SDWebImage's (SEMANTICS §1.2), ours start at 100.
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

    /// The word for it on the command line and in JSON.
    public var name: String {
        switch self {
        case .undefined: "undefined"
        case .jpeg: "jpeg"
        case .png: "png"
        case .gif: "gif"
        case .tiff: "tiff"
        case .webp: "webp"
        case .heic: "heic"
        case .heif: "heif"
        case .pdf: "pdf"
        case .svg: "svg"
        case .bmp: "bmp"
        case .raw: "raw"
        case .avif: "avif"
        case .jxl: "jxl"
        }
    }

    /// The format of that name; `jpg` is `jpeg`. `nil` for other words.
    public init?(name: String) {
        let wanted = name.lowercased() == "jpg" ? "jpeg" : name.lowercased()
        guard let found = Self.allCases.first(where: { $0 != .undefined && $0.name == wanted })
        else { return nil }
        self = found
    }

    /// Whether this version decodes it.
    public var isDecodable: Bool {
        switch self {
        case .jpeg, .png, .webp, .gif: true
        default: false
        }
    }

    /// Whether this version encodes it.
    public var isEncodable: Bool {
        switch self {
        case .jpeg, .png, .webp: true
        default: false
        }
    }

    /// Whether the format can carry transparency.
    public var carriesAlpha: Bool { self != .jpeg }
}
