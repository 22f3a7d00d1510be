import Model
import Vips

/// The metadata embedded in a result besides its pixels. Untrusted; only its first bytes are parsed
/// here.
struct EmbeddedParts {
    private(set) var profile: [UInt8] = []
    private(set) var exif: [UInt8] = []
    private(set) var xmp: [UInt8] = []
    private(set) var iptc: [UInt8] = []
    /// The color space of the profile; `nil` without one.
    private(set) var space: ProfileSpace?

    /// Creates an empty set.
    init() {}

    /// Copies the metadata after the pixels, because its writer may still change the original.
    ///
    /// - Throws: `internalError` for parts that are outside of the block, too large, or not of the
    ///   declared kind.
    init(_ layout: PixelLayout, in bytes: UnsafeRawBufferPointer) throws {
        guard let count = layout.byteCount, count <= bytes.count else { throw Self.unfit }
        for embedded in layout.embeddedMetadata {
            guard let end = embedded.end else { throw Self.unfit }
            let part = Array(bytes[embedded.offset..<end])
            switch embedded.kind {
            case .profile: profile = part
            case .exif: exif = part
            case .xmp: xmp = part
            case .iptc: iptc = part
            }
        }
        try check()
    }

    var isEmpty: Bool { profile.isEmpty && exif.isEmpty && xmp.isEmpty && iptc.isEmpty }

    /// Returns the parts that fit pixels of that sort: a gray profile doesn't apply to colors.
    func beside(isGray: Bool) -> EmbeddedParts {
        guard space == .gray, !isGray else { return self }
        var parts = self
        (parts.profile, parts.space) = ([], nil)
        return parts
    }

    /// Adds a small JPEG to EXIF.
    ///
    /// - Throws: `limitExceeded` if both don't fit into a segment; `internalError` for EXIF without
    ///   a first directory.
    func with(thumbnail: [UInt8]) throws -> EmbeddedParts {
        var parts = self
        guard let block = ExifThumbnail.added(thumbnail, to: exif) else { throw Self.unfit }
        guard block.count <= MetadataSegments.exifBytesMax else {
            throw ImageError.over(
                OutputSetting.embedThumbnail.name, "encode",
                "the kept EXIF data leaves no space for a thumbnail: leave out "
                    + "embed-thumbnail, or keep less metadata")
        }
        parts.exif = block
        return parts
    }

    private mutating func check() throws {
        if !profile.isEmpty {
            space = ProfileSpace(profile)
            guard space == .rgb || space == .gray else { throw Self.unfit }
        }
        let marks: [[UInt8]] = [[0x49, 0x49, 42, 0], [0x4D, 0x4D, 0, 42]]
        guard exif.isEmpty || marks.contains(where: { exif.starts(with: $0) }) else {
            throw Self.unfit
        }
    }

    private static var unfit: ImageError {
        ImageError(.internalError, "the embedded metadata does not match its declared type")
    }
}

/// The thumbnail of a result, a small JPEG in its EXIF (SEMANTICS §11.27).
enum EmbeddedThumbnail {
    /// The maximum side lengths, as in cameras (EXIF 2.32, DCF 2.0).
    private static let box = PixelSize(width: 160, height: 160)
    private static let quality = 75

    /// Returns the thumbnail's size for an image of this size.
    static func size(of image: PixelSize) -> PixelSize {
        ResizeGeometry(source: image, box: box, mode: .fit, enlarges: false).output
    }

    /// Encodes pixels without alpha as baseline JPEG without metadata.
    static func jpeg(of image: VipsImage) throws(VipsError) -> [UInt8] {
        JPEGSegments.bare(try image.encoded(.jpeg(quality: quality, subsampling: .quarter)))
    }
}

/// Adds a thumbnail in the second directory of EXIF (EXIF 2.32, 4.5.5 and 4.6.3).
struct ExifThumbnail {
    private var block: TIFFBytes

    /// Returns the block with the thumbnail, which replaces an existing one. An empty block is
    /// replaced by a new one. Returns nil if the block has no first directory.
    static func added(_ jpeg: [UInt8], to block: [UInt8]) -> [UInt8]? {
        var exif = ExifThumbnail(block)
        if block.isEmpty { exif.appendMain() }
        guard let link = exif.link else { return nil }
        if exif.count % 2 == 1 { exif.block.bytes.append(0) }
        exif.block.set(link, exif.count, 4)
        exif.append(jpeg)
        return exif.block.bytes
    }

    private enum Kind: Int {
        case short = 3
        case long = 4
        case fraction = 5
    }

    private static let head: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0]

    private init(_ block: [UInt8]) {
        let bytes = block.isEmpty ? Self.head : block
        self.block = TIFFBytes(bytes, isBigEndian: bytes.starts(with: [0x4D, 0x4D]))
    }

    private var count: Int { block.bytes.count }

    /// The position of the first directory's link to the next one.
    private var link: Int? {
        guard count >= 8 else { return nil }
        let start = block.number(4, 4)
        return block.entryCount(ofDirectory: start).map { start + 2 + TIFFBytes.entryBytes * $0 }
    }

    /// Appends the mandatory entries of EXIF: upright, 72 pixels per inch, centered chroma.
    private mutating func appendMain() {
        let data = count + 2 + 5 * TIFFBytes.entryBytes + 4
        append(5, 2)
        appendEntry(0x0112, .short, 1)
        appendResolution(data)
        appendEntry(0x0213, .short, 1)
        append(0, 4)
        appendInches()
    }

    private mutating func append(_ jpeg: [UInt8]) {
        let data = count + 2 + 6 * TIFFBytes.entryBytes + 4
        append(6, 2)
        // JPEG compression.
        appendEntry(0x0103, .short, 6)
        appendResolution(data)
        appendEntry(0x0201, .long, data + 8)
        appendEntry(0x0202, .long, jpeg.count)
        append(0, 4)
        appendInches()
        block.bytes += jpeg
    }

    private mutating func appendResolution(_ place: Int) {
        appendEntry(0x011A, .fraction, place)
        appendEntry(0x011B, .fraction, place)
        appendEntry(0x0128, .short, 2)
    }

    private mutating func appendInches() {
        append(72, 4)
        append(1, 4)
    }

    /// Appends an entry with one value, or with its offset.
    private mutating func appendEntry(_ tag: Int, _ kind: Kind, _ value: Int) {
        append(tag, 2)
        append(kind.rawValue, 2)
        append(1, 4)
        let isShort = kind == .short
        append(value, isShort ? 2 : 4)
        if isShort { append(0, 2) }
    }

    private mutating func append(_ value: Int, _ count: Int) {
        block.bytes += block.encoded(value, count)
    }
}
