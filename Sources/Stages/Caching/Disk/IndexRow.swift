internal import ImageModel
internal import Messages
internal import SQLite

/// One entry of the index, without its bytes.
struct IndexRow: Hashable, Sendable {
    /// Names the entry, and its file.
    var number: Int64
    var bodyLength: Int
    var checksum: UInt64
    /// Where the body begins in its file; `nil` where it lies in the index itself.
    var fileOffset: Int?
    var created: UnixTime
    var stored: UnixTime
    var accessed: UnixTime
    var metadata: StoredMetadata

    /// The date that counts.
    func date(_ type: ExpireType) -> UnixTime {
        switch type {
        case .access: accessed
        case .modification, .change: stored
        case .creation: created
        }
    }
}

/// An entry that is to go: what must be known to remove it.
struct IndexVictim: Hashable, Sendable {
    var number: Int64
    var hasFile: Bool
    /// What its removal gives back, bytes.
    var charge: Int
}

/// What the disk tier takes.
public struct DiskUsage: Hashable, Sendable {
    /// Entries.
    public var entries: Int
    /// Bytes: bodies and headers rounded up to blocks, and rows of the index.
    public var bytes: Int
    /// Bytes of what is beside the entries: the log of the index, and indexes that were set aside.
    public var overhead = 0

    /// All of it, bytes.
    public var total: Int { bytes + overhead }
}

/// What the index has under a key.
enum IndexFinding {
    case nothing
    case entry(IndexRow)
    /// A row that says what cannot be; it is of this number.
    case damaged(Int64)
}

extension IndexRow {
    /// The columns of `entries` that `init` reads, in its order; those of `partNames` and the
    /// number come behind them.
    static let columnNames = [
        "body_length", "checksum", "file_offset", "created", "stored", "accessed", "format",
        "width", "height", "pages", "has_alpha", "content_type", "etag", "last_modified",
        "cache_control", "still_of", "samples", "expiry",
    ]
    static let columns = columnNames.joined(separator: ", ")
    /// What else it reads, in its order: of `extras`, and of `tags`.
    static let partNames = ["digest", "media_type", "extended", "tags"]
    /// The tags of an entry in one text.
    static let tagsColumn =
        "(SELECT group_concat(tag, ' ') FROM tags WHERE tags.number = entries.number) AS tags"
    /// How many columns come before the number.
    static let columnCount = columnNames.count + partNames.count

    /// Numbers of entries, and so names of files, end here; far from where adding one overflows.
    static let numberMax: Int64 = 1 << 62
    /// An index, or a file, whose numbers have come further than this is not gone on with: so many
    /// entries nobody stores.
    static let foundNumberMax: Int64 = 1 << 61
    /// No body is longer: sums of lengths do not overflow.
    static let bodyBytesMax: Int64 = 1 << 48

    /// Reads a row; `nil` where a column has what this program never writes there.
    init?(_ row: borrowing Row) {
        guard let number = row.storedInt64(Self.columnCount), (1...Self.numberMax).contains(number),
            let bodyLength = row.storedInt64(0), (0...Self.bodyBytesMax).contains(bodyLength),
            let checksum = row.storedInt64(1), let metadata = Self.metadata(row),
            let created = Self.time(row, 3), let stored = Self.time(row, 4),
            let accessed = Self.time(row, 5)
        else { return nil }
        var fileOffset: Int?
        if !row.isNull(2) {
            guard let offset = row.storedInt64(2).flatMap({ Int(exactly: $0) }),
                (BodyHeader.fixedLength...BodyHeader.lengthMax).contains(offset)
            else { return nil }
            fileOffset = offset
        }
        guard fileOffset != nil || bodyLength <= DiskTier.inlineBytesMax else { return nil }
        self.init(
            number: number, bodyLength: Int(bodyLength), checksum: UInt64(bitPattern: checksum),
            fileOffset: fileOffset, created: created, stored: stored, accessed: accessed,
            metadata: metadata)
    }

    private static func time(_ row: borrowing Row, _ column: Int) -> UnixTime? {
        row.storedInt64(column).flatMap { UnixTime(plausibleMilliseconds: $0) }
    }

    private static func metadata(_ row: borrowing Row) -> StoredMetadata? {
        guard let format = row.storedInt64(6).flatMap({ Int16(exactly: $0) }),
            let format = ImageFormat(rawValue: format),
            let width = row.storedInt64(7), let height = row.storedInt64(8),
            let pages = row.storedInt64(9), let alpha = row.storedInt64(10),
            let stillOf = row.storedInt64(15),
            let (samples, revision) = row.storedInt64(16).flatMap({ StoredSamples.parts(of: $0) }),
            let info = ImageInfo(
                format: format, storedWidth: width, height: height, pages: pages, alpha: alpha,
                stillOf: stillOf, samples: samples),
            let type = text(row, 11), let etag = text(row, 12), let modified = text(row, 13),
            let control = text(row, 14),
            let caching = caching(row, 17, control: control.value),
            let digest = digest(row, 18), let extended = extended(row, 19), let tags = tags(row, 21)
        else { return nil }
        var metadata = StoredMetadata(
            info: info, contentType: type.value, etag: etag.value, lastModified: modified.value,
            caching: caching.value)
        metadata.digest = digest.value
        metadata.extendedData = extended.value
        metadata.tags = tags
        metadata.revision = revision
        return metadata
    }

    /// The digest of the bytes, or that it is not known; `nil` for what is neither.
    private static func digest(
        _ row: borrowing Row, _ column: Int
    ) -> (value: ContentDigest?, Void)? {
        if row.isNull(column) { return (nil, ()) }
        guard row.isBlob(column) else { return nil }
        return ContentDigest(bytes(row, column)).map { ($0, ()) }
    }

    /// A media type and bytes, or neither; `nil` for anything else.
    private static func extended(
        _ row: borrowing Row, _ column: Int
    ) -> (value: ExtendedData?, Void)? {
        if row.isNull(column), row.isNull(column + 1) { return (nil, ()) }
        guard let type = row.storedText(column), ExtendedData.isMediaType(type),
            row.isBlob(column + 1), (1...ExtendedData.bytesMax).contains(row.blobLength(column + 1))
        else { return nil }
        return (ExtendedData(bytes(row, column + 1), mediaType: type), ())
    }

    /// `nil` for what are no tags.
    private static func tags(_ row: borrowing Row, _ column: Int) -> [String]? {
        if row.isNull(column) { return [] }
        return row.storedText(column).flatMap { StoredMetadata.tags(inText: $0) }
    }

    private static func bytes(_ row: borrowing Row, _ column: Int) -> [UInt8] {
        row.blob(column).withUnsafeBytes { Array($0) }
    }

    /// What the origin says of caching, or that it is not known; `nil` for what is neither.
    private static func caching(
        _ row: borrowing Row, _ column: Int, control: String?
    ) -> (value: OriginCaching?, Void)? {
        if row.isNull(column) { return (nil, ()) }
        guard let text = row.storedText(column),
            let caching = OriginCaching(storedText: text, control: control)
        else { return nil }
        return (caching, ())
    }

    /// A text of the origin, or that there is none; `nil` for what is neither.
    private static func text(_ row: borrowing Row, _ column: Int) -> (value: String?, Void)? {
        if row.isNull(column) { return (nil, ()) }
        guard let text = row.storedText(column), StoredMetadata.mayBeHeader(text) else {
            return nil
        }
        return (text, ())
    }
}

extension ImageInfo {
    /// What was stored of an image; `nil` for what no image is. `stillOf` is 0 for no still.
    init?(
        format: ImageFormat, storedWidth: Int64, height: Int64, pages: Int64, alpha: Int64,
        stillOf: Int64, samples: Int64
    ) {
        guard UInt32(exactly: storedWidth) != nil, UInt32(exactly: height) != nil,
            let pages = UInt32(exactly: pages), pages > 0, (0...1).contains(alpha),
            let frames = UInt32(exactly: stillOf), frames != 1,
            let samples = StoredSamples(samples)
        else { return nil }
        self.init(
            format: format, size: PixelSize(width: Int(storedWidth), height: Int(height)),
            pages: Int(pages), hasAlpha: alpha == 1, stillOf: frames == 0 ? nil : Int(frames),
            bits: samples.bits, isHDR: samples.isHDR)
    }
}

extension StoredMetadata {
    /// Whether a message may carry this text as a header of the origin.
    static func mayBeHeader(_ text: String) -> Bool {
        text.utf8.count <= MessageLimits.originHeaderBytesMax && !text.utf8.contains(0)
    }
}

extension StoredMetadata {
    /// The tags as they are stored, in one text; `nil` for none.
    var tagsText: String? { tags.isEmpty ? nil : tags.joined(separator: " ") }

    /// Reads such a text; `nil` for what are no tags, or too many.
    static func tags(inText text: String) -> [String]? {
        guard text.utf8.count <= tagsBytesMax else { return nil }
        let tags = text.split(separator: " ", omittingEmptySubsequences: false).map { String($0) }
        guard tags.count <= CacheTag.entryMax, tags.allSatisfy({ CacheTag.isTag($0) }) else {
            return nil
        }
        return tags
    }

    /// No such text is longer.
    static let tagsBytesMax = CacheTag.entryMax * (CacheTag.bytesMax + 1)

    /// What tags and extended data take beside the rest of an entry, about: bytes. A tag stands in
    /// two orders of the index.
    var partBytes: Int {
        let tagBytes = tags.reduce(0) { $0 + 2 * ($1.utf8.count + 16) }
        return tagBytes + (extendedData.map { $0.bytes.count + $0.mediaType.utf8.count } ?? 0)
    }
}

extension IndexVictim {
    /// More no entry takes, bytes: sums of charges do not overflow.
    private static let chargeMax: Int64 = 1 << 50

    /// Reads number, whether there is a file, and charge; `nil` for what cannot be.
    init?(_ row: borrowing Row) {
        guard let charge = row.storedInt64(2), (0...Self.chargeMax).contains(charge) else {
            return nil
        }
        self.init(number: row.int64(0), hasFile: row.int64(1) != 0, charge: Int(charge))
    }
}

extension ScannedRow {
    /// The columns that it reads, in its order.
    static let columns = [
        "entries.number", "file_offset IS NOT NULL", "charge", "key", "body_length", "stored",
        "accessed", "format", "width", "height",
    ].joined(separator: ", ")

    /// Reads a row of a scan; `nil` where a column has what this program never writes there.
    init?(_ row: borrowing Row) {
        guard let victim = IndexVictim(row), let key = row.storedText(3),
            let length = row.storedInt64(4).flatMap({ UInt64(exactly: $0) }),
            let stored = row.storedInt64(5).flatMap({ UnixTime(plausibleMilliseconds: $0) }),
            let accessed = row.storedInt64(6).flatMap({ UnixTime(plausibleMilliseconds: $0) }),
            let number = row.storedInt64(7).flatMap({ Int16(exactly: $0) }),
            let format = ImageFormat(rawValue: number),
            let width = row.storedInt64(8).flatMap({ UInt32(exactly: $0) }),
            let height = row.storedInt64(9).flatMap({ UInt32(exactly: $0) })
        else { return nil }
        self.init(
            victim: victim, key: key, stored: stored,
            description: EntryDescription(
                key: key, tier: .disk, bytes: length, format: format,
                size: PixelSize(width: Int(width), height: Int(height)),
                storedMilliseconds: UInt64(stored.milliseconds),
                accessedMilliseconds: UInt64(accessed.milliseconds)))
    }
}

extension DiskUsage {
    /// Takes an account; `nil` for what cannot be.
    init?(entries: Int64?, bytes: Int64?) {
        guard let entries, let bytes, (0...IndexRow.numberMax).contains(entries),
            (0...(1 << 60)).contains(bytes), entries <= bytes / Int64(DiskTier.rowCharge)
        else { return nil }
        self.init(entries: Int(entries), bytes: Int(bytes))
    }
}

/// The samples of an image as a number of a byte: their bits, 0 for the usual 8, and the highest
/// bit for a high dynamic range.
struct StoredSamples {
    let bits: Int
    let isHDR: Bool

    private static let highRange = 0x80

    init(_ info: ImageInfo) { (bits, isHDR) = (info.bits, info.isHDR) }

    /// `nil` for what is none.
    init?(_ number: Int64) {
        guard (0...0xFF).contains(number) else { return nil }
        let bits = Int(number) & ~Self.highRange
        guard bits == 0 || ImageInfo.bitsRange.contains(bits) else { return nil }
        self.bits = bits == 0 ? 8 : bits
        isHDR = Int(number) & Self.highRange != 0
    }

    /// What a column of both says: the samples in its lowest byte, above them the revision of the
    /// pipeline. `nil` for what this program never writes.
    static func parts(of column: Int64) -> (samples: Int64, revision: UInt16)? {
        guard column >= 0, let revision = UInt16(exactly: column >> 8),
            PipelineRevision.range.contains(revision)
        else { return nil }
        return (column & 0xFF, revision)
    }

    /// The column of both.
    func column(_ revision: UInt16) -> Int64 { Int64(number) | Int64(revision) << 8 }

    var number: UInt8 {
        UInt8((bits == 8 ? 0 : bits) | (isHDR ? Self.highRange : 0))
    }
}

/// What is stored of an origin's words beside its `Cache-Control`: when the age of its response was
/// 0, in milliseconds since 1970, the seconds that `Expires` lets it live, and a star for
/// `Vary: *`, as in `1700000000000 60` and `1700000000000 - *`.
extension OriginCaching {
    var storedText: String {
        let lifetime = age.expiresInSeconds.map { String($0) } ?? "-"
        return "\(age.bornMilliseconds) \(lifetime)" + (variesOnEverything ? " *" : "")
    }

    /// Reads what was stored beside this `Cache-Control`; `nil` for what no version ever wrote.
    init?(storedText text: String, control field: String?) {
        guard text.utf8.count <= Self.storedBytesMax else { return nil }
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        if words.count == 4 {
            self.init(times: words.compactMap { Int64($0) }, field)
            return
        }
        guard words.count == 2 || (words.count == 3 && words[2] == "*"),
            let born = Int64(words[0]), HTTPExpiry.bornRange.contains(born)
        else { return nil }
        let lifetime = Int64(words[1])
        guard lifetime.map((0...DeltaSeconds.most).contains) ?? (words[1] == "-") else {
            return nil
        }
        self.init(
            CacheControl(field),
            ResponseAge(bornMilliseconds: born, expiresInSeconds: lifetime),
            variesOnEverything: words.count == 3)
        guard storedText == text else { return nil }
    }

    /// Earlier versions stored times that were computed for one cache: when its age was 0, for how
    /// long it was fresh, and how long after that it might be served while its origin was asked and
    /// where that failed, in milliseconds.
    private init?(times: [Int64], _ field: String?) {
        guard times.count == 4, HTTPExpiry.bornRange.contains(times[0]),
            times[1...].allSatisfy(HTTPExpiry.timeRange.contains)
        else { return nil }
        var control = CacheControl(field)
        if control.field == nil, times[1...].contains(where: { $0 > 0 }) {
            control.maxAge = times[1] / 1_000
            control.staleWhileRevalidate = times[2] / 1_000
            control.staleIfError = times[3] / 1_000
        }
        self.init(control, ResponseAge(bornMilliseconds: times[0]))
    }

    /// No stored text is longer.
    static let storedBytesMax = 80
}
