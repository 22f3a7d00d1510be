/// An image format. Raw values up to 10 are SDWebImage's (SEMANTICS §1.2); our own start at 100.
///
/// The properties of each format are its row in `FormatTraits.rows`.
public enum ImageFormat: Int16, Hashable, Sendable, CaseIterable {
    /// Unrecognized.
    case undefined = -1
    /// JPEG.
    case jpeg = 0
    /// PNG, including APNG.
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
    /// Photoshop document.
    case psd = 103
    /// OpenEXR.
    case exr = 104
    /// Windows icon or cursor.
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
    /// Raw pixels as a Netpbm PAM, for programs that draw them.
    case pam = 111

    /// The name on the command line and in JSON.
    public var name: String { row.traits.name }

    /// The registered media type; `nil` if there is none.
    public var mimeType: String? { row.traits.mimeType }

    /// Looks up a format by its name or a file name extension, ignoring case: `jpg` is `jpeg`.
    /// Returns `nil` for any other word. All format names are parsed by this initializer.
    public init?(name: String) {
        let wanted = name.lowercased()
        guard let row = FormatTraits.rows.first(where: { $0.isCalled(wanted) }) else { return nil }
        self = row.format
    }

    /// Looks up a format by a file name extension without the dot, ignoring case; returns `nil` for
    /// any other extension.
    public init?(fileExtension: String) {
        let wanted = fileExtension.lowercased()
        guard let row = FormatTraits.rows.first(where: { $0.extensions.contains(wanted) }) else {
            return nil
        }
        self = row.format
    }

    /// Whether this version decodes the format.
    public var isDecodable: Bool { row.traits.isDecodable }

    /// Whether this version encodes the format.
    public var isEncodable: Bool { row.traits.isEncodable }

    /// Whether the format supports transparency.
    public var carriesAlpha: Bool { row.traits.carriesAlpha }

    /// The supported bits per sample when encoding; empty if the format is not encoded.
    package var depths: [Int] { row.traits.output?.depths ?? [] }

    /// Whether the format can be encoded with a high dynamic range.
    package var holdsHDR: Bool { row.traits.output?.holdsHDR == true }

    /// Whether the format is encoded by this version, or may be by a plug-in that the configuration
    /// permits. Videos never are.
    package var mayBeEncoded: Bool {
        isEncodable || (self != .undefined && !row.traits.isVideo)
    }

    /// The formats for which `mayBeEncoded` is true.
    package static let possiblyEncoded = allCases.filter(\.mayBeEncoded)

    /// The formats that this version decodes.
    public static let decodable = allCases.filter(\.isDecodable)

    /// Returns the formats of a family that this version decodes.
    public static func decodable(_ family: FormatFamily) -> [ImageFormat] {
        decodable.filter { $0.row.traits.input?.family == family }
    }

    /// The formats that this version encodes.
    public static let encodable = allCases.filter(\.isEncodable)
}

extension ImageFormat {
    package var row: FormatRow { FormatTraits.byFormat[self] ?? .undefined }

    /// The static properties of the format.
    package var traits: FormatTraits { row.traits }
}

extension ImageFormat {
    /// The maximum number of bytes that `sniff` reads from the start of a file.
    public static let sniffedBytes = 4_096

    /// How many of these can hold a signature. The others are for the prolog of a markup document.
    static let signatureBytes = 64

    /// The maximum number of bytes that `sniff` reads from the end of a file.
    static let sniffedTailBytes = 100

    /// Detects the format from the first bytes (SEMANTICS §11.1), never from a name. `tail` is the
    /// end of the file (100 bytes are enough), which identifies an SVG that its start doesn't.
    ///
    /// Camera raw files that are TIFF files are recognized only by `init(file:)`.
    public static func sniff(_ head: some Collection<UInt8>, tail: some Collection<UInt8>) -> Self {
        let format = bySignature(Array(head.prefix(signatureBytes)), tail: tail)
        return format == .undefined ? byRoot(Array(head.prefix(sniffedBytes))) : format
    }

    /// Detects the format of a complete file by its signature, and for formats that share one by
    /// the bytes that follow.
    package init(file: Span<UInt8>) {
        let reader = HeaderBytes(file)
        var format = Self.bySignature(
            reader.start(Self.signatureBytes), tail: reader.end(Self.sniffedTailBytes))
        if format == .undefined { format = Self.byRoot(reader.start(Self.sniffedBytes)) }
        self = format.traits.reclassify?(reader) ?? format
    }

    private static func bySignature(_ head: [UInt8], tail: some Collection<UInt8>) -> Self {
        let row = FormatTraits.rows.first { row in
            row.signatures.contains { $0.matches(head, tail: tail) }
        }
        return row?.format ?? .undefined
    }

    /// Detects the format of a markup document by its root element.
    private static func byRoot(_ head: [UInt8]) -> Self {
        guard let root = MarkupStart.root(of: head) else { return .undefined }
        return FormatTraits.rows.first { $0.root == root }?.format ?? .undefined
    }

    /// Returns the number of pages of a file, counted up to `most`, for formats whose pages must
    /// not be counted by a decoder; otherwise nil.
    package func pages(of file: Span<UInt8>, upTo most: Int) -> Int? {
        traits.pageCount?(HeaderBytes(file), most)
    }
}

/// A signature in the first and, for some formats, in the last bytes of a file.
package struct FormatSignature: Sendable {
    private struct Part {
        let bytes: [UInt8]
        let offset: Int
    }

    private let parts: [Part]
    /// Bytes that must occur anywhere in the examined start; empty for none.
    private var within: [UInt8] = []
    /// Bytes that must occur anywhere in the last 100 bytes; empty for none.
    private var end: [UInt8] = []

    /// A file that begins with these bytes.
    static func bytes(_ bytes: [UInt8]) -> FormatSignature {
        FormatSignature(parts: [Part(bytes: bytes, offset: 0)])
    }

    /// An EBML file (RFC 8794) with this document type.
    static func ebml(_ type: String) -> FormatSignature {
        FormatSignature(
            parts: [Part(bytes: [0x1A, 0x45, 0xDF, 0xA3], offset: 0)], within: Array(type.utf8))
    }

    /// A file that begins with `start`, has `text` at `offset`, and contains `end` near its end.
    static func text(
        _ start: String, then text: String = "", at offset: Int = 0, end: String = ""
    ) -> FormatSignature {
        let parts = [(start, 0), (text, offset)].map { Part(bytes: Array($0.utf8), offset: $1) }
        return FormatSignature(parts: parts, end: Array(end.utf8))
    }

    /// A box file (ISO/IEC 14496-12, 4.3) with this major brand; the size of its first box fits
    /// into three bytes.
    fileprivate static func brand(_ brand: String) -> FormatSignature {
        let parts = [
            Part(bytes: [0], offset: 0), Part(bytes: Array("ftyp\(brand)".utf8), offset: 4),
        ]
        return FormatSignature(parts: parts)
    }

    /// Returns whether a file with this start and this end matches the signature.
    func matches(_ head: [UInt8], tail: some Collection<UInt8>) -> Bool {
        for part in parts where !head.dropFirst(part.offset).starts(with: part.bytes) {
            return false
        }
        return Self.stands(within, in: head)
            && (end.isEmpty
                || Self.stands(end, in: Array(tail.suffix(ImageFormat.sniffedTailBytes))))
    }

    private static func stands(_ part: [UInt8], in bytes: [UInt8]) -> Bool {
        guard bytes.count >= part.count else { return part.isEmpty }
        return (0...(bytes.count - part.count)).contains { bytes[$0...].starts(with: part) }
    }
}

extension [FormatSignature] {
    /// Box files of any of these brands.
    static func brands(_ brands: String...) -> [FormatSignature] {
        brands.map { .brand($0) }
    }
}

extension ImageError {
    /// The error for an image of a known format that is not decoded.
    package static func notDecoded(_ format: ImageFormat) -> ImageError {
        let (title, isVideo) = (format.traits.title ?? format.name, format.traits.isVideo)
        let remedy = isVideo ? "extract a frame and save it as" : "convert it to"
        let names = ImageFormat.decodable(.raster).map(\.name).joined(separator: ", ")
        return ImageError(
            .unsupportedFormat,
            "this version does not decode \(title): \(remedy) a supported format: "
                + names
        ) { $0.format = format.name }
    }

    /// The error for an image that is decoded by a worker pool that is off by default.
    package static func decodedApart(_ format: ImageFormat) -> ImageError {
        ImageError(
            .unsupportedFormat,
            "\(format.traits.title ?? format.name) are decoded by the pool 'vector', which is "
                + "disabled by default: enable it with 'serve --vector 1'"
        ) { $0.format = format.name }
    }

    /// The error for a requested format that is known but not encoded by the built-in workers.
    package static func notEncoded(_ format: ImageFormat) -> ImageError {
        encodedNowhere(format, "this version does not encode \(format.name); use \(encodedNames)")
    }

    /// The same if plug-ins could encode it but none is permitted to.
    package static func encodedByNobody(_ format: ImageFormat) -> ImageError {
        encodedNowhere(
            format,
            "no worker encodes \(format.name): use \(encodedNames), or add a plug-in with "
                + "'formats-out: [\(format.name)]'")
    }

    private static var encodedNames: String {
        ImageFormat.encodable.map(\.name).joined(separator: ", ")
    }

    private static func encodedNowhere(_ format: ImageFormat, _ sentence: String) -> ImageError {
        ImageError(.unsupportedFormat, sentence) { $0.format = format.name }
    }
}
