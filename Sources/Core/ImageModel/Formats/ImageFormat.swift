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

extension ImageFormat {
    /// Bytes from the start of a file that `sniff` looks at, at most.
    public static let sniffedBytes = 4_096

    /// As many of them have signatures. The others are for what stands in front of the first
    /// element of a document.
    static let signatureBytes = 64

    /// Bytes from the end of a file that `sniff` looks at, at most.
    static let sniffedTailBytes = 100

    /// The format by the first bytes (SEMANTICS §11.1), never by a name; `tail` is the end of the
    /// file (100 bytes are enough), by which SVG is known where its start does not say so.
    ///
    /// Camera RAW that is a TIFF file is told apart by `init(file:)` alone.
    public static func sniff(_ head: some Collection<UInt8>, tail: some Collection<UInt8>) -> Self {
        let format = bySignature(Array(head.prefix(signatureBytes)), tail: tail)
        return format == .undefined ? byRoot(Array(head.prefix(sniffedBytes))) : format
    }

    /// The format of a whole file: by its signature, and where formats share one by what stands
    /// behind it.
    package init(file: Span<UInt8>) {
        let reader = HeaderBytes(file)
        var format = Self.bySignature(
            reader.start(Self.signatureBytes), tail: reader.end(Self.sniffedTailBytes))
        if format == .undefined { format = Self.byRoot(reader.start(Self.sniffedBytes)) }
        self = format.traits.guest?(reader) ?? format
    }

    private static func bySignature(_ head: [UInt8], tail: some Collection<UInt8>) -> Self {
        let row = FormatTraits.rows.first { row in
            row.signatures.contains { $0.matches(head, tail: tail) }
        }
        return row?.format ?? .undefined
    }

    /// What a document with this start is.
    private static func byRoot(_ head: [UInt8]) -> Self {
        guard let root = MarkupStart.root(of: head) else { return .undefined }
        return FormatTraits.rows.first { $0.root == root }?.format ?? .undefined
    }

    /// Pages of a file of this format, counted up to `most`, where no decoder should count them;
    /// else nil.
    package func pages(of file: Span<UInt8>, upTo most: Int) -> Int? {
        traits.pageCount?(HeaderBytes(file), most)
    }
}

/// What the first bytes of a file are, and in some cases the last ones.
package struct FormatSignature: Sendable {
    private struct Part {
        let bytes: [UInt8]
        let offset: Int
    }

    private let parts: [Part]
    /// What stands somewhere in the bytes that are looked at; empty: nothing need to.
    private var within: [UInt8] = []
    /// What stands somewhere in the last 100 bytes; empty: nothing need to.
    private var end: [UInt8] = []

    /// A file that begins so.
    static func bytes(_ bytes: [UInt8]) -> FormatSignature {
        FormatSignature(parts: [Part(bytes: bytes, offset: 0)])
    }

    /// An EBML file (RFC 8794) with a document type of that name.
    static func ebml(_ type: String) -> FormatSignature {
        FormatSignature(
            parts: [Part(bytes: [0x1A, 0x45, 0xDF, 0xA3], offset: 0)], within: Array(type.utf8))
    }

    /// A file that begins so, has the second text at its offset, and the last one at its end.
    static func text(
        _ start: String, then text: String = "", at offset: Int = 0, end: String = ""
    ) -> FormatSignature {
        let parts = [(start, 0), (text, offset)].map { Part(bytes: Array($0.utf8), offset: $1) }
        return FormatSignature(parts: parts, end: Array(end.utf8))
    }

    /// A box file (ISO/IEC 14496-12, 4.3) of that major brand; its first box is no larger than
    /// three bytes say.
    fileprivate static func brand(_ brand: String) -> FormatSignature {
        let parts = [
            Part(bytes: [0], offset: 0), Part(bytes: Array("ftyp\(brand)".utf8), offset: 4),
        ]
        return FormatSignature(parts: parts)
    }

    /// Whether a file with this start and this end has the signature.
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
    /// An image of a format that is known and not decoded.
    package static func notDecoded(_ format: ImageFormat) -> ImageError {
        let (title, isVideo) = (format.traits.title ?? format.name, format.traits.isVideo)
        let remedy = isVideo ? "take one of its frames as an image" : "convert it to one"
        let names = ImageFormat.decodable(.raster).map(\.name).joined(separator: ", ")
        return ImageError(
            .unsupportedFormat,
            "this version does not decode \(title): \(remedy) of a format that it decodes: "
                + names,
            details: ["format": format.name])
    }

    /// An image that other workers decode, where an operator wants that.
    package static func decodedApart(_ format: ImageFormat) -> ImageError {
        ImageError(
            .unsupportedFormat,
            "\(format.traits.title ?? format.name) are decoded by workers of the pool 'vector', "
                + "which is off by default: an operator starts one with 'serve --vector 1'",
            details: ["format": format.name])
    }

    /// An image is wanted in a format that is known and that our own workers do not encode.
    package static func notEncoded(_ format: ImageFormat) -> ImageError {
        encodedNowhere(format, "this version does not encode \(format.name), but \(encodedNames)")
    }

    /// The same where workers of somebody else could encode it, and none is granted that.
    package static func encodedByNobody(_ format: ImageFormat) -> ImageError {
        encodedNowhere(
            format,
            "no worker here encodes \(format.name), but \(encodedNames): an operator may add one "
                + "that does")
    }

    private static var encodedNames: String {
        ImageFormat.encodable.map(\.name).joined(separator: ", ")
    }

    private static func encodedNowhere(_ format: ImageFormat, _ sentence: String) -> ImageError {
        ImageError(.unsupportedFormat, sentence, details: ["format": format.name])
    }
}
